import { type AuditQuery, HistoryUnavailableError } from '@herald/core';
import { createAuditTable } from '@herald/history/writing/audit-table';
import { createHistoryReader } from '@herald/history/reading/create-history-reader';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import { createLogger } from '@herald/runtime/log';
import {
  createAuditFollower,
  createAuditTrail,
  type AuditEntry,
  type AuditTrail,
} from '@herald/store/access/audit-trail';
import { copyEntries, logEntries } from '../../../apps/worker/src/maintenance.ts';
import { startHistory, type History } from '../../support/start-history.ts';
import { startStores, type Stores } from '../../support/start-stores.ts';

const START = Date.UTC(2030, 0, 1);

let stores: Stores;
let history: History;
let now: number;
beforeAll(async () => {
  [stores, history] = await Promise.all([startStores(2), startHistory()]);
});
afterAll(async () => {
  await stores[Symbol.asyncDispose]();
  await history[Symbol.asyncDispose]();
});
beforeEach(async () => {
  now = START;
  for (const { audit, auditIds, auditOwners, auditFollowers } of stores.keyspace.shards) {
    await stores.redis.del(audit, auditIds, auditOwners, auditFollowers);
  }
  await history.pool.query('TRUNCATE herald.audit');
});

const readerOf = (pool = history.pool) => createHistoryReader({ pool, limitMs: 5_000, onUnavailable: () => undefined });
const trailOf = (reader: Pick<ReturnType<typeof readerOf>, 'listAudit'> | undefined = readerOf(), length = 10_000) =>
  createAuditTrail({ redis: stores.redis, keyspace: stores.keyspace, history: reader, length, now: () => now });
const followerOf = (keys = stores.keys, redis = stores.redis) => createAuditFollower({ redis, keys });

async function addMany(count: number, trail = trailOf()): Promise<AuditEntry[]> {
  const added: AuditEntry[] = [];
  for (let index = 0; index < count; index++) {
    now += 1_000;
    const by = ['key_a', 'cli', 'plk_b'][index % 3] ?? '';
    const workspaceId = ['ws_a', 'ws_b', undefined, 'ws_c'][index % 4];
    added.push(
      await trail.add({ by, action: 'changeReceiver', target: String(index), ...(workspaceId && { workspaceId }) }),
    );
  }
  return added;
}

async function copyAll(): Promise<number> {
  let copied = 0;
  for (const keys of stores.keyspace.shards)
    copied += await copyEntries(followerOf(keys), createAuditTable(history.pool));
  return copied;
}

const countRows = async () => Number((await history.rows('SELECT count(*) FROM herald.audit'))[0]?.count);

/** All entries, read in pages. */
async function walk(trail: AuditTrail, query: Omit<AuditQuery, 'before'>): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for (let before: string | undefined; ;) {
    const page = await trail.list({ ...query, before });
    found.push(...page.entries);
    if (page.next === undefined) return found;
    before = page.next;
  }
}

test('new entries are copied once, and are still in Redis', async () => {
  await addMany(10);
  expect([await copyAll(), await copyAll()]).toEqual([10, 0]);
  await addMany(3);
  expect([await copyAll(), await countRows()]).toEqual([3, 13]);
  expect((await trailOf(undefined).list({ limit: 100 })).entries).toHaveLength(13);
});

test('a worker that dies before it notes how far it is, and two that copy the same, double nothing', async () => {
  await addMany(6);
  const table = createAuditTable(history.pool);
  for (const keys of stores.keyspace.shards) await table.write((await followerOf(keys).next('history', 100)).entries);
  const table2 = {
    write: async (entries: readonly AuditEntry[]) => {
      await copyEntries(followerOf(stores.keys, stores.second.redis), table);
      await table.write(entries);
    },
  };
  await copyEntries(followerOf(), table2);
  await copyAll();
  expect(await countRows()).toBe(6);
});

test.each([1, 3, 100])(
  'with pages of %i, what has left Redis is listed behind the rest, and nothing twice',
  async (limit) => {
    const trail = trailOf(readerOf(), 100);
    const added = (await addMany(30, trail)).toReversed();
    await copyAll();
    for (const { id } of added.slice(10))
      for (const keys of stores.keyspace.shards) await stores.redis.xdel(keys.audit, id);
    const newer = (await addMany(2, trail)).toReversed();
    const all = [...newer, ...added];
    expect(await walk(trail, { limit })).toEqual(all);
    expect(await walk(trail, { limit, by: 'cli' })).toEqual(all.filter(({ by }) => by === 'cli'));
    const ofOne = { limit, workspaceId: 'ws_b', since: START + 11_000 };
    const fits = ({ workspaceId, at }: AuditEntry) => workspaceId === 'ws_b' && at >= START + 11_000;
    expect(await walk(trail, ofOne)).toEqual(all.filter(fits));
  },
);

test.each([
  ['0000-01-01T00:00:00Z', 3],
  ['1969-12-31T23:59:59Z', 3],
  ['1970-01-01T00:00:00.001Z', 3],
  ['2001-09-09T01:46:39Z', 3],
  ['2286-11-20T17:46:40Z', 0],
  ['9999-12-31T23:59:59Z', 0],
])('since %s there are %i of three entries, in Redis as in the history', async (time, count) => {
  await addMany(3);
  await copyAll();
  const query = { since: Date.parse(time), limit: 10 };
  expect((await trailOf({ listAudit: () => Promise.resolve([]) }).list(query)).entries).toHaveLength(count);
  expect(await readerOf().listAudit(query)).toHaveLength(count);
});

test('without PostgreSQL a page says that it may lack entries, and one that would be empty is refused', async () => {
  const away = { listAudit: () => Promise.reject(new HistoryUnavailableError()) };
  const trail = trailOf(away);
  await expect(trail.list({ limit: 10 })).rejects.toThrow(HistoryUnavailableError);
  const [entry] = await addMany(1, trail);
  expect(await trail.list({ limit: 10 })).toEqual({ entries: [entry], isPartial: true });
});

test('entries are deleted by age', async () => {
  const [entry] = await addMany(1);
  const table = createAuditTable(history.pool);
  const timesOf = Array.from({ length: 2_500 }, (_, index) => START + index * 1_000);
  await table.write(timesOf.map((at) => ({ ...entry, by: 'cli', at, id: `${at}-100000000000000` })));
  const oldest = timesOf[2_100] ?? 0;
  expect(await table.deleteBefore(oldest)).toBe(2_100);
  expect(await countRows()).toBe(400);
  expect((await readerOf().listAudit({ limit: 1_000 })).at(-1)).toMatchObject({ at: oldest });
});

test('the log tells what commands have done, once among several workers, and nothing that the API tells itself', async () => {
  const lines: string[] = [];
  const logger = {
    ...createLogger({ level: 'error', process: 'test', readable: false }),
    info: (event: string, fields?: object) => lines.push(`${event} ${JSON.stringify(fields)}`),
  };
  const trail = trailOf(undefined);
  await trail.add({ by: 'key_a', action: 'changeReceiver', workspaceId: 'ws_b' });
  const entry = await trail.add({ by: 'cli', user: 'ann', action: 'reshard', fields: ['a', 'b'] });
  const followers = [followerOf(), followerOf(stores.keys, stores.second.redis)];
  const counts = await Promise.all(followers.map((follower) => logEntries(follower, logger)));
  expect(counts.sort()).toEqual([0, 1]);
  expect(await logEntries(followerOf(), logger)).toBe(0);
  expect(lines).toEqual([
    `audit.entry ${JSON.stringify({ id: entry.id, at: entry.at, by: 'cli', user: 'ann', action: 'reshard', fields: 'a,b' })}`,
  ]);
});

test('who may read the history may read what a later migration makes, too', async () => {
  const { pool } = history;
  await pool.query('CREATE ROLE only_reads LOGIN');
  await pool.query('GRANT SELECT ON herald.deliveries TO only_reads');
  await pool.query('DROP TABLE herald.audit, herald.installation');
  await pool.query('DROP INDEX herald.deliveries_undelivered');
  await pool.query("DELETE FROM herald.migrations WHERE name > '0002'");
  expect((await prepareHistory(pool, 'write')).ran).toEqual([
    '0002_create-audit',
    '0003_create-installation',
    '0004_index-undelivered',
    '0005_keep-to-owner',
  ]);
  for (const table of ['audit', 'installation']) {
    const { rows } = await pool.query(`SELECT has_table_privilege('only_reads', 'herald.${table}', 'SELECT') AS may`);
    expect(rows).toEqual([{ may: true }]);
  }
});
