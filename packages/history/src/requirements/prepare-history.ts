import { runner } from 'node-pg-migrate';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ClientBase } from 'pg';
import { findRefusal, HistoryRefusal } from '../errors/history-errors.ts';
import { dayOf, listDayTables } from '../partitions/partitions.ts';
import { inTransaction, withClient, type HistoryPool } from '../pool/create-history-pool.ts';
import * as SQL from '../sql/history-sql.ts';

type HistoryCheckDeps = {
  readonly pool: HistoryPool;
  readonly use: 'read' | 'write';
  readonly readUser: () => Promise<HistoryUser>;
  /** Notes which history the data has, unless that is known. Returns which one it has. Absent: nothing is noted. */
  readonly note?: (historyId: string) => Promise<string>;
  readonly onMigrated?: (migrations: readonly string[]) => void;
  /** Hears of a schema that could not be brought up to date, each time. */
  readonly onMigrationFailed?: () => void;
};

/** After an answer it is taken for usable for so long, in ms. */
const CHECK_EVERY_MS = 5_000;
const LIMITS = { statementMs: 5_000 };

/**
 * Whether the history is there, and is that of this data. It asks PostgreSQL again and again, also while nothing moves: the
 * server may be replaced by another while this process runs.
 */
export function createHistoryCheck({ pool, use, readUser, note, onMigrated, onMigrationFailed }: HistoryCheckDeps) {
  let usableId: string | undefined;
  let checkedAt = -Infinity;
  let checking: Promise<void> | undefined;

  const check = async (): Promise<void> => {
    const user = await readUser();
    if (usableId !== undefined && usableId === (user.historyId ?? usableId)) {
      const { rows } = await inTransaction(pool, LIMITS, (client) =>
        client.query<{ id: string }>(SQL.READ_INSTALLATION),
      );
      if (rows[0]?.id === usableId) return;
    }
    usableId = undefined;
    const { ran, historyId } = await prepareHistory(pool, use, user, onMigrationFailed);
    if (ran.length > 0) onMigrated?.(ran);
    // Two workers may have begun with two histories.
    if (note && (await note(historyId)) !== historyId) throw new HistoryRefusal(OTHER_HISTORY);
    usableId = historyId;
  };

  return {
    /** @throws HistoryRefusal with what to change, or the error of a server that is away */
    demandUsable: async (): Promise<void> => {
      if (performance.now() - checkedAt < CHECK_EVERY_MS) return;
      checking ??= check().finally(() => {
        checking = undefined;
      });
      await checking;
      checkedAt = performance.now();
    },
    /** Something wasn't as it should be: nothing is taken for granted any more. */
    lookAgain: (): void => {
      usableId = undefined;
      checkedAt = -Infinity;
    },
  };
}

/** Everything of the history lies in this schema. */
const SCHEMA = 'herald';
const MIGRATIONS_TABLE = 'migrations';
/** Found by the name of the package: the programs are bundled. */
const FOLDER = join(dirname(createRequire(import.meta.url).resolve('@herald/history/package.json')), 'migrations');
/** DETACH PARTITION … CONCURRENTLY began with it. */
const OLDEST_VERSION = 14;
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Which data uses the history. */
export type HistoryUser = {
  /** The id of the data in Redis. */
  readonly dataId: string;
  /** The history that this data is known to have; undefined: none yet. */
  readonly historyId?: string | undefined;
};

type HistoryState = {
  readonly serverVersion: string;
  /** Names of the migrations that this release has and the database lacks. */
  readonly missing: readonly string[];
  readonly ran: readonly string[];
};

/** `deliveries`: as PostgreSQL estimates them, after it has analyzed the day. */
type HistoryDay = { readonly day: string; readonly deliveries: number; readonly bytes: number };

/** `ran`: names of the migrations that it ran. `historyId`: which history it is. */
type PreparedHistory = { readonly ran: readonly string[]; readonly historyId: string };

/**
 * Makes sure that this process can use the history. `write` brings its schema up to date, and takes a history that is of no
 * data yet; `read` changes nothing.
 * @param user undefined: whoever it is
 * @param onMigrationFailed called before it throws, when it could not bring the schema up to date
 * @throws HistoryRefusal with what to change, or the error of a server that is away
 */
export const prepareHistory = (
  pool: HistoryPool,
  use: 'read' | 'write',
  user?: HistoryUser,
  onMigrationFailed?: () => void,
): Promise<PreparedHistory> =>
  // The migrations change settings of the connection.
  inClient(pool, false, async (client) => {
    const { missing, ran: known } = await lookAtHistory(client, use);
    if (known.length === 0 && user?.historyId !== undefined) throw new HistoryRefusal(EMPTY);
    if (missing.length > 0 && use === 'read') {
      throw new HistoryRefusal('the history lacks its schema; run "herald history migrate", or start a worker');
    }
    const migrate = () =>
      runMigrations(client).catch((error: unknown) => {
        onMigrationFailed?.();
        throw error;
      });
    const ran = missing.length > 0 ? await migrate() : [];
    await demandRights(client, use);
    if (use === 'write' && user) await client.query(SQL.CLAIM_INSTALLATION, [user.dataId]);
    return { ran, historyId: await identify(client, user) };
  });

/**
 * Whether the server takes what has settled, whoever asks. Changes nothing.
 * @throws HistoryRefusal with what to change, or the error of a server that is away
 */
export const demandWritable = (pool: HistoryPool) =>
  inClient(pool, false, async (client) => {
    await lookAtHistory(client, 'write');
  });

/**
 * Makes a history that is of other data, or of none, that of this data.
 * @returns its id
 */
export const adoptHistory = (pool: HistoryPool, dataId: string): Promise<string> =>
  inClient(pool, true, async (client) => {
    const { rows } = await client.query<{ id: string }>(SQL.ADOPT_INSTALLATION, [dataId]);
    return rows[0]?.id ?? '';
  });

/**
 * The schema of the history, its days, and tables of days that ended before `keptSince` (epoch ms). Changes nothing.
 * @throws HistoryRefusal, or the error of a server that is away
 */
export const readHistoryStatus = (pool: HistoryPool, keptSince: number) =>
  inClient(pool, true, async (client) => {
    const state = await lookAtHistory(client, 'read');
    const { rows } = await client.query<HistoryDay>(SQL.LIST_DAYS);
    const overdue = (await listDayTables(client)).filter(({ day }) => day < dayOf(keptSince)).map(({ name }) => name);
    return { ...state, days: rows, overdue };
  });
export type HistoryStatus = Awaited<ReturnType<typeof readHistoryStatus>>;

/**
 * What the database is, before anything is changed in it.
 * @throws HistoryRefusal when it is none that this release can use
 */
export async function lookAtHistory(client: Pick<ClientBase, 'query'>, use: 'read' | 'write'): Promise<HistoryState> {
  type Kind = { is_standby: boolean; is_read_only: boolean };
  type Server = Kind & { number: number; name: string; encoding: string; address: string | null };
  const server = (await client.query<Server>(SQL.READ_SERVER)).rows[0];
  if (!server || server.number < OLDEST_VERSION * 10_000) {
    throw new HistoryRefusal(
      `HISTORY_URL leads to PostgreSQL ${server?.name ?? ''}; Herald needs ${OLDEST_VERSION} or later`,
    );
  }
  if (use === 'write' && server.is_read_only) {
    const reason = server.is_standby ? STANDBY : READ_ONLY;
    throw new HistoryRefusal(`HISTORY_URL leads to ${server.address ?? 'a server'}, which ${reason}`);
  }
  const { rows } = await client.query<{ name: string }>(SQL.LIST_TABLES, [SCHEMA]);
  const tables = rows.map(({ name }) => name);
  const known = (await readdir(FOLDER)).map((file) => file.replace(/\.sql$/, '')).sort();
  if (tables.length === 0 && server.encoding !== 'UTF8') {
    throw new HistoryRefusal(`the database of HISTORY_URL has the encoding ${server.encoding}; create it with UTF8`);
  }
  if (tables.length === 0) return { serverVersion: server.name, missing: known, ran: [] };
  if (!tables.includes(MIGRATIONS_TABLE)) throw new HistoryRefusal(FOREIGN);
  const ran = (await client.query<{ name: string }>(SQL.LIST_MIGRATIONS)).rows.map(({ name }) => name);
  const ahead = ran.filter((name) => !known.includes(name));
  if (ran.length > 0 && ahead.length === ran.length) throw new HistoryRefusal(FOREIGN);
  if (ahead.length > 0) {
    throw new HistoryRefusal(
      `the history is ahead of this release, which doesn't know its migration ${ahead.join(', ')}; start the newer release`,
    );
  }
  return { serverVersion: server.name, missing: known.filter((name) => !ran.includes(name)), ran };
}

const STANDBY =
  'is a standby and takes no writes; name the primary, or all servers with target_session_attrs=read-write';
const READ_ONLY = 'takes no writes, as its default_transaction_read_only says';
const FOREIGN = `the schema ${SCHEMA} of HISTORY_URL's database isn't a history of Herald; give it a database of its own`;
const EMPTY =
  'the database of HISTORY_URL is empty, and this data has a history; correct HISTORY_URL, or run "herald history adopt" to begin a new one';
const OTHER_DATA =
  'the history of HISTORY_URL is that of another installation; give this one a database of its own, or run "herald history adopt" if its Redis took the place of the other';
const OTHER_HISTORY =
  'HISTORY_URL leads to another history than the one that this data has; correct it, or run "herald history adopt" to use it from now on';

/** Which history it is. @throws HistoryRefusal when it is that of others, or another one */
async function identify(client: ClientBase, user: HistoryUser | undefined): Promise<string> {
  const { rows } = await client.query<{ id: string; data_id: string | null }>(SQL.READ_INSTALLATION);
  const id = rows[0]?.id ?? '';
  const dataId = rows[0]?.data_id ?? user?.dataId;
  if (user && dataId !== user.dataId) throw new HistoryRefusal(OTHER_DATA);
  if (user?.historyId !== undefined && user.historyId !== id) throw new HistoryRefusal(OTHER_HISTORY);
  return id;
}

/**
 * Brings the schema to that of this release, under an advisory lock: whoever comes second waits, and finds nothing to
 * do. All of it is one transaction: a lock of the connection would stay behind in a pooler.
 * @returns the names of the migrations that it ran
 */
async function runMigrations(client: ClientBase): Promise<readonly string[]> {
  await client.query(`BEGIN; ${SQL.LOCK_FOR_MIGRATING}`);
  const { rows } = await client.query(SQL.FIND_SCHEMA, [SCHEMA]);
  const ran = await runner({
    dbClient: client,
    dir: FOLDER,
    direction: 'up',
    schema: SCHEMA,
    // Whoever may use the schema needn't be allowed to make one.
    createSchema: rows.length === 0,
    migrationsTable: MIGRATIONS_TABLE,
    noLock: true,
    singleTransaction: true,
    logger: SILENT,
  });
  await client.query('COMMIT');
  return ran.map(({ name }) => name);
}

async function demandRights(client: ClientBase, use: 'read' | 'write'): Promise<void> {
  type Rights = { readonly reads: boolean; readonly writes: boolean; readonly makes_partitions: boolean };
  const rights = (await client.query<Rights>(SQL.READ_RIGHTS)).rows[0];
  const isEnough = use === 'read' ? rights?.reads : rights?.reads && rights.writes && rights.makes_partitions;
  if (isEnough) return;
  const lacks = use === 'read' ? 'read the tables of the schema herald' : 'write the schema herald, and must own it';
  throw new HistoryRefusal(`the user of HISTORY_URL may not ${lacks}`);
}

async function inClient<T>(pool: HistoryPool, isKept: boolean, work: (client: ClientBase) => Promise<T>): Promise<T> {
  try {
    return await withClient(pool, isKept, work);
  } catch (error) {
    throw findRefusal(error) ?? error;
  }
}
