import { createHistoryPool, type HistoryPool } from '@herald/history/pool/create-history-pool';
import {
  adoptHistory,
  createHistoryCheck,
  lookAtHistory,
  prepareHistory,
  readHistoryStatus,
} from '@herald/history/requirements/prepare-history';
import { startPostgres, type RunningPostgres } from '@herald/test-kit';

const MIGRATIONS = [
  '0001_create-history',
  '0002_create-audit',
  '0003_create-installation',
  '0004_index-undelivered',
  '0005_keep-to-owner',
];

let postgres: RunningPostgres;
let admin: HistoryPool;
const pools: HistoryPool[] = [];

const open = (url: string) => {
  const pool = createHistoryPool({ url, name: 't', connections: 2, statementLimitMs: 5_000, onError: () => undefined });
  pools.push(pool);
  return pool;
};
const urlOf = (database: string, user = 'postgres') => `postgres://${user}@127.0.0.1:${postgres.port}/${database}`;
/** A database of its own, in which these statements ran. */
async function createDatabase(name: string, ...statements: readonly string[]) {
  await admin.query(`CREATE DATABASE ${name}`);
  const pool = open(urlOf(name));
  for (const statement of statements) await pool.query(statement);
  return pool;
}

beforeAll(async () => {
  postgres = await startPostgres();
  admin = open(postgres.url);
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await postgres.close();
});

test('of two that migrate at once one waits for the other, and both find the schema', async () => {
  const pool = await createDatabase('twice');
  const ran = await Promise.all([prepareHistory(pool, 'write'), prepareHistory(open(urlOf('twice')), 'write')]);
  expect(ran.flatMap((each) => each.ran)).toEqual(MIGRATIONS);
  await expect(prepareHistory(pool, 'read')).resolves.toMatchObject({ ran: [] });
});

test('a reader of a database without a schema is told how to make it, and changes nothing', async () => {
  const pool = await createDatabase('empty');
  await expect(prepareHistory(pool, 'read')).rejects.toThrow(/herald history migrate/);
  await expect(pool.query("SELECT FROM pg_namespace WHERE nspname = 'herald'")).resolves.toMatchObject({ rowCount: 0 });
});

test.each<{ when: string; name: string; statements: string[]; sentence: RegExp }>([
  {
    when: 'a schema herald of somebody else',
    name: 'foreign_tables',
    statements: ['CREATE SCHEMA herald', 'CREATE TABLE herald.songs (id integer)'],
    sentence: /isn't a history of Herald; give it a database of its own/,
  },
  {
    when: 'migrations of somebody else',
    name: 'foreign_migrations',
    statements: [
      'CREATE SCHEMA herald',
      'CREATE TABLE herald.migrations (id serial, name text, run_on timestamp)',
      "INSERT INTO herald.migrations (name, run_on) VALUES ('songs', now())",
    ],
    sentence: /isn't a history of Herald/,
  },
  {
    when: 'a history that is ahead',
    name: 'ahead',
    statements: [
      'CREATE SCHEMA herald',
      'CREATE TABLE herald.migrations (id serial, name text, run_on timestamp)',
      "INSERT INTO herald.migrations (name, run_on) VALUES ('0001_create-history', now()), ('0099_later', now())",
    ],
    sentence: /ahead of this release.*0099_later.*start the newer release/,
  },
])('$when is refused, and nothing is changed in it', async ({ name, statements, sentence }) => {
  const pool = await createDatabase(name, ...statements);
  await expect(prepareHistory(pool, 'write')).rejects.toThrow(sentence);
  await expect(pool.query("SELECT to_regclass('herald.deliveries') AS found")).resolves.toMatchObject({
    rows: [{ found: null }],
  });
});

test.each<{ when: string; database: string; user?: string; sentence: RegExp }>([
  { when: 'a database that there is not', database: 'nowhere', sentence: /names a database that does not exist/ },
  { when: 'a user that there is not', database: 'postgres', user: 'nobody', sentence: /^HISTORY_URL has a/ },
])('$when is refused with a sentence', async ({ database, user, sentence }) => {
  await expect(prepareHistory(open(urlOf(database, user)), 'write')).rejects.toThrow(sentence);
});

test('a user without rights is refused; one who may read can read, and not write', async () => {
  const pool = await createDatabase('rights', 'CREATE ROLE reader LOGIN');
  const reader = open(urlOf('rights', 'reader'));
  let failures = 0;
  const noteFailure = () => failures++;
  await expect(prepareHistory(reader, 'write', undefined, noteFailure)).rejects.toThrow(/lacks a right/);
  expect(failures).toBe(1);
  await prepareHistory(pool, 'write');
  await expect(prepareHistory(reader, 'read')).rejects.toThrow(/lacks a right/);
  await pool.query('GRANT USAGE ON SCHEMA herald TO reader');
  await pool.query('GRANT SELECT ON herald.migrations TO reader');
  await expect(prepareHistory(reader, 'read')).rejects.toThrow(/may not read/);
  await pool.query('GRANT SELECT ON ALL TABLES IN SCHEMA herald TO reader');
  await expect(prepareHistory(reader, 'read')).resolves.toMatchObject({ ran: [] });
  await expect(prepareHistory(reader, 'write')).rejects.toThrow(/may not write/);
});

describe('a history', () => {
  const of = (dataId: string, historyId?: string) => ({ dataId, historyId });

  test('is that of the data which took it first: no other data can read it or write into it, unless it adopts it', async () => {
    const pool = await createDatabase('taken');
    const { historyId } = await prepareHistory(pool, 'write', of('production'));
    await expect(prepareHistory(pool, 'write', of('production', historyId))).resolves.toMatchObject({ historyId });
    await expect(prepareHistory(pool, 'read', of('production'))).resolves.toMatchObject({ historyId });
    for (const use of ['read', 'write'] as const) {
      await expect(prepareHistory(pool, use, of('staging'))).rejects.toThrow(/that of another installation/);
    }
    await expect(adoptHistory(pool, 'staging')).resolves.toBe(historyId);
    await expect(prepareHistory(pool, 'write', of('staging'))).resolves.toMatchObject({ historyId });
  });

  test('that the data does not know is named, and so is one that has vanished', async () => {
    const pool = await createDatabase('vanished');
    const user = of('production');
    const check = createHistoryCheck({
      pool,
      use: 'write',
      readUser: () => Promise.resolve(user),
      note: (id) => Promise.resolve((user.historyId ??= id)),
    });
    await check.demandUsable();
    await pool.query('DROP SCHEMA herald CASCADE');
    // While it was found a moment ago it is taken for granted, until somebody meets the lack.
    await check.demandUsable();
    check.lookAgain();
    await expect(check.demandUsable()).rejects.toThrow(/is empty, and this data has a history/);
    await expect(pool.query("SELECT FROM pg_namespace WHERE nspname = 'herald'")).resolves.toMatchObject({
      rowCount: 0,
    });
    await prepareHistory(pool, 'write');
    await expect(check.demandUsable()).rejects.toThrow(/leads to another history/);
    user.historyId = await adoptHistory(pool, 'production');
    await expect(check.demandUsable()).resolves.toBeUndefined();
  });

  test('of another encoding, or that takes no writes, is refused with a sentence', async () => {
    await admin.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    await expect(prepareHistory(open(urlOf('latin')), 'write')).rejects.toThrow(/has the encoding LATIN1/);
    await createDatabase('standby', 'ALTER DATABASE standby SET default_transaction_read_only = on');
    await expect(prepareHistory(open(urlOf('standby')), 'write')).rejects.toThrow(/takes no writes/);
  });
});

test('PostgreSQL 13 is refused', async () => {
  const query = () => Promise.resolve({ rows: [{ number: 130_014, name: '13.14' }] });
  await expect(lookAtHistory({ query: query as never }, 'read')).rejects.toThrow(
    'leads to PostgreSQL 13.14; Herald needs 14',
  );
});

test('a server that is away is no refusal: it may come back', async () => {
  await expect(prepareHistory(open('postgres://postgres@127.0.0.1:1/postgres'), 'write')).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });
});

test('the status tells the days', async () => {
  const pool = await createDatabase('status');
  await expect(readHistoryStatus(pool, 0)).resolves.toMatchObject({
    missing: MIGRATIONS,
    days: [],
  });
});
