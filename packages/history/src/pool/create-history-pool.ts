import pg from 'pg';

export type HistoryPoolOptions = {
  /** `HISTORY_URL` */
  readonly url: string;
  /** By this name PostgreSQL lists its connections. */
  readonly name: string;
  readonly connections: number;
  /** The longest that a statement may take, in ms. */
  readonly statementLimitMs: number;
  /** An idle connection was lost; the next statement opens another. */
  readonly onError: (error: Error) => void;
  /** Ends every connection, and with it the statement under way, whether or not the server answers. */
  readonly cutOff?: AbortSignal;
};

/** The longest that opening a connection may take, in ms. */
const CONNECT_LIMIT_MS = 5_000;
/** A transaction of a process that stands still ends, and with it its locks, in ms. */
const IDLE_TRANSACTION_LIMIT_MS = 30_000;

/** Times are epoch ms, which a number holds. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === pg.types.builtins.INT8 ? Number : (pg.types.getTypeParser(id, format) as (text: string) => unknown),
};

/** Connections to PostgreSQL. None is opened before the first statement. */
export function createHistoryPool(options: HistoryPoolOptions) {
  const { url, name, connections, statementLimitMs, onError, cutOff } = options;
  const pool = new pg.Pool({
    connectionString: url,
    application_name: name,
    max: connections,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    statement_timeout: statementLimitMs,
    // A server that is silent, or gone without a word, ends no statement itself.
    query_timeout: statementLimitMs + 1_000,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_LIMIT_MS,
    keepAlive: true,
    types,
  });
  pool.on('error', onError);
  // The statement under way fails with a lost connection; between two statements, the next one does. The pool listens only
  // while a connection is idle, and one may be lost in the same packet that opens it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  if (cutOff) endWith(pool, cutOff);
  return pool;
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
export type HistoryPool = ReturnType<typeof createHistoryPool>;
