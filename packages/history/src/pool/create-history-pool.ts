import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { HistoryRefusal } from '../errors/history-errors.ts';
import { READ_SERVER_KIND } from '../sql/history-sql.ts';

type HistoryPoolOptions = {
  /** `HISTORY_URL`. Several hosts are tried one after the other. */
  readonly url: string;
  /** By this name PostgreSQL lists its connections. */
  readonly name: string;
  readonly connections: number;
  /** The longest that a statement may take, in ms. */
  readonly statementLimitMs: number;
  /** The longest that anybody waits for a connection, one that is to be opened or one in use, in ms. */
  readonly connectLimitMs?: number;
  /** An idle connection was lost; the next statement opens another. */
  readonly onError: (error: Error) => void;
  /** Ends every connection, and with it the statement under way, whether or not the server answers. */
  readonly cutOff?: AbortSignal;
};

const CONNECT_LIMIT_MS = 5_000;
/** A transaction of a process that stands still ends, and with it its locks, in ms. */
const IDLE_TRANSACTION_LIMIT_MS = 30_000;

/** Times are epoch ms, which a number holds. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === pg.types.builtins.INT8 ? Number : (pg.types.getTypeParser(id, format) as (text: string) => unknown),
};

/**
 * Connections to PostgreSQL, to the first of the hosts that will do. None is opened before the first statement. They ask
 * for no setting when they are opened: a pooler in front of PostgreSQL refuses that. Transactions set their limits
 * themselves.
 * @throws HistoryRefusal when the url can't be understood
 */
export function createHistoryPool(options: HistoryPoolOptions) {
  const { hosts, wishes } = readHistoryUrl(options.url);
  const pools = hosts.map((host) => openPool(host, options));
  const kinds = new WeakMap<pg.PoolClient, ServerKind>();
  /** The host that served last: one that is gone may take long to say so. */
  let current = 0;

  const connectTo = async (pool: pg.Pool, wish: Wish | undefined): Promise<pg.PoolClient> => {
    const client = await pool.connect();
    if (!wish) return client;
    try {
      const kind = kinds.get(client) ?? (await readKind(client));
      kinds.set(client, kind);
      if (wish(kind)) return client;
      throw new Error(`it is ${describeKind(kind)}, and target_session_attrs asks for another`);
    } catch (error) {
      client.release(true);
      throw error;
    }
  };
  const connect = async (): Promise<pg.PoolClient> => {
    const failures: unknown[] = [];
    const tried: string[] = [];
    for (const wish of wishes ?? [undefined]) {
      const all = [...pools.entries()];
      for (const [index, pool] of [...all.slice(current), ...all.slice(0, current)]) {
        try {
          return await connectTo(pool, wish);
        } catch (error) {
          // None of its connections was free: another host would get more than its share.
          if (pools.length === 1 || pool.totalCount >= options.connections) throw error;
          failures.push(error);
          tried.push(new URL(hosts[index] ?? '').host);
        }
        if (current === index) current = (index + 1) % pools.length;
      }
    }
    throw findTold(failures, tried);
  };
  return {
    connect,
    query: <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      withClient({ connect }, true, (client) => client.query<Row>(text, values)),
    end: async () => {
      await Promise.all(pools.map((pool) => pool.end()));
    },
    /** Connections that are open. */
    countOpen: () => pools.reduce((sum, pool) => sum + pool.totalCount, 0),
  };
}
export type HistoryPool = ReturnType<typeof createHistoryPool>;

function openPool(host: string, options: HistoryPoolOptions): pg.Pool {
  const { name, connections, statementLimitMs, connectLimitMs = CONNECT_LIMIT_MS, onError, cutOff } = options;
  const pool = new pg.Pool({
    application_name: name,
    max: connections,
    connectionTimeoutMillis: connectLimitMs,
    // A server that is silent, or gone without a word, ends no statement itself.
    query_timeout: statementLimitMs + 1_000,
    keepAlive: true,
    types,
    // Read anew for each connection: passwords and certificates change while this process runs.
    Client: class extends pg.Client {
      constructor(given?: pg.ClientConfig) {
        super({ ...given, ...readClientConfig(host) });
      }
    },
  });
  pool.on('error', onError);
  // The statement under way fails with a lost connection; between two statements, the next one does. The pool listens only
  // while a connection is idle, and one may be lost in the same packet that opens it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  if (cutOff) endWith(pool, cutOff);
  return pool;
}

const describeKind = ({ isStandby, isReadOnly }: ServerKind) =>
  isStandby ? 'a standby' : `a primary${isReadOnly ? ' that takes no writes' : ''}`;

async function readKind(client: pg.PoolClient): Promise<ServerKind> {
  type Row = { is_standby: boolean; is_read_only: boolean };
  const { rows } = await client.query<Row>(READ_SERVER_KIND);
  return { isStandby: rows[0]?.is_standby === true, isReadOnly: rows[0]?.is_read_only === true };
}

/**
 * What one of several hosts has answered; otherwise why none will do.
 * @param hosts their urls, in the order of the failures
 */
function findTold(failures: readonly unknown[], tried: readonly string[]): unknown {
  const answer = failures.find((error) => error instanceof pg.DatabaseError || error instanceof HistoryRefusal);
  if (answer !== undefined) return answer;
  const reasons = failures.map((error, index) => `${tried[index] ?? ''}: ${(error as Error).message}`);
  return new Error(`no host of HISTORY_URL will do: ${[...new Set(reasons)].join('; ')}`);
}

type Connecting = Pick<HistoryPool, 'connect'>;
/** A connection, or all of them. */
export type Asking = { query(text: string): Promise<{ rows: unknown[] }> };

/**
 * Hands a connection to `work`, which alone uses it meanwhile.
 * @param isKept false: it is closed afterwards
 */
export async function withClient<T>(
  pool: Connecting,
  isKept: boolean,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isSound = false;
  try {
    const result = await work(client);
    isSound = true;
    return result;
  } finally {
    client.release(!(isKept && isSound));
  }
}

type TransactionLimits = {
  /** The longest that PostgreSQL works at one of its statements, in ms. */
  readonly statementMs: number;
  /** The longest that a statement waits for a lock. Default: as long as it may take. */
  readonly lockMs?: number;
  /** The longest that PostgreSQL waits for its next statement. */
  readonly idleMs?: number;
};

/**
 * Does it in a transaction of its own. After an error the connection is closed, which rolls back. The limits hold in
 * PostgreSQL itself: what nobody waits for any more ends there, also behind a pooler.
 */
export async function inTransaction<T>(
  pool: Connecting,
  limits: TransactionLimits,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const { statementMs, lockMs = 0, idleMs = IDLE_TRANSACTION_LIMIT_MS } = limits;
  return await withClient(pool, true, async (client) => {
    // One trip. Whatever is the default of the database, each statement sees what was committed before it.
    await client.query(
      `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${Math.ceil(statementMs)};
      SET LOCAL lock_timeout = ${lockMs}; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
    );
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  });
}

function endWith(pool: pg.Pool, cutOff: AbortSignal): void {
  const open = new Set<pg.PoolClient>();
  const end = () => {
    // It closes the connection at once when a statement is under way.
    for (const client of open) void (client as pg.Client).end();
  };
  pool.on('connect', (client) => {
    open.add(client);
    if (cutOff.aborted) end();
  });
  pool.on('remove', (client) => open.delete(client));
  cutOff.addEventListener('abort', end, { once: true });
}

/** What a server is. */
type ServerKind = { readonly isStandby: boolean; readonly isReadOnly: boolean };
type Wish = (kind: ServerKind) => boolean;

const isAny: Wish = () => true;
/** `target_session_attrs`, as libpq knows it: which servers are wanted, the best ones first. */
const WISHES: Readonly<Record<string, readonly Wish[]>> = {
  any: [isAny],
  'read-write': [({ isReadOnly }) => !isReadOnly],
  'read-only': [({ isReadOnly }) => isReadOnly],
  primary: [({ isStandby }) => !isStandby],
  standby: [({ isStandby }) => isStandby],
  'prefer-standby': [({ isStandby }) => isStandby, isAny],
};

/** `HISTORY_URL`. `hosts`: a url for each of its hosts. `wishes` is absent when any server will do. */
type HistoryUrl = { readonly hosts: readonly string[]; readonly wishes?: readonly Wish[] };

/** @throws HistoryRefusal */
function readHistoryUrl(text: string): HistoryUrl {
  const [, before = '', hosts = '', after = ''] = /^([^:]+:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/.exec(text) ?? [];
  const urls = hosts.split(',').map((host) => `${before}${host}${after}`);
  const wanted = URL.parse(urls[0] ?? '')?.searchParams.get('target_session_attrs') ?? 'any';
  const wishes = WISHES[wanted];
  if (wishes) return { hosts: urls, ...(wanted !== 'any' && { wishes }) };
  const known = Object.keys(WISHES).join(', ');
  throw new HistoryRefusal(`HISTORY_URL has a target_session_attrs that is none of ${known}`);
}

/** The driver takes these for verify-full, and warns of them each time. */
const AS_VERIFY_FULL = ['prefer', 'require', 'verify-ca'];

/** How to connect to one of the hosts. It reads the certificates that the url names. */
function readClientConfig(hostUrl: string): pg.ClientConfig {
  const url = new URL(hostUrl);
  const { searchParams: parameters } = url;
  if (AS_VERIFY_FULL.includes(parameters.get('sslmode') ?? '') && parameters.get('uselibpqcompat') !== 'true') {
    parameters.set('sslmode', 'verify-full');
  }
  const { password, ...config } = parseIntoClientConfig(url.href);
  const passfile = parameters.get('passfile');
  if (password !== undefined && password !== '') return { ...config, password };
  if (passfile === null) return config;
  return { ...config, password: async () => findPassword(await readFile(passfile, 'utf8'), url, passfile) };
}

/** A field of a line, which ends at a colon without a backslash before it. */
const FIELD = String.raw`((?:\\.|[^\\:])*)`;
const LINE = new RegExp(`^${FIELD}:${FIELD}:${FIELD}:${FIELD}:(.*)$`);

/**
 * The password in a file like ~/.pgpass of PostgreSQL: lines with host:port:database:user:password, of which the first that
 * fits counts. `*` stands for anything.
 * @throws HistoryRefusal when none fits
 */
function findPassword(text: string, { hostname, port, pathname, username }: URL, passfile: string): string {
  const place = [hostname.replace(/^\[(.*)\]$/, '$1'), port === '' ? '5432' : port, pathname.slice(1), username];
  const wanted = place.map(decodeURIComponent);
  for (const line of text.split(/\r?\n/)) {
    const fields = (LINE.exec(line)?.slice(1) ?? []).map((field) => field.replace(/\\(.)/g, '$1'));
    const password = fields[4];
    const fits = wanted.every((each, index) => fields[index] === '*' || fields[index] === each);
    if (password !== undefined && fits && !line.startsWith('#')) return password;
  }
  throw new HistoryRefusal(`the file ${passfile} of HISTORY_URL has no line for ${wanted.join(':')}`);
}
