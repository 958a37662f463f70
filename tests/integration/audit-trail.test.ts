import { createAuditTrail, type AuditTrail, type NewAuditEntry } from '@herald/store/access/audit-trail';
import { newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

const LENGTH = 100;
const START = Date.UTC(2030, 0, 1);

let stores: Stores;
let now: number;
let trail: AuditTrail;

beforeAll(async () => {
  stores = await startStores(4);
});
afterAll(() => stores[Symbol.asyncDispose]());
beforeEach(async () => {
  await Promise.all(stores.keyspace.shards.map((keys) => stores.redis.del(keys.audit)));
  await Promise.all(
    stores.keyspace.shards.flatMap((keys) => [keys.auditOwners, keys.auditIds].map((key) => stores.redis.del(key))),
  );
  now = START;
  trail = trailOf(LENGTH);
});

const trailOf = (length: number) => createAuditTrail({ ...stores, length, now: () => now });
const bySomebody = (more: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  by: 'key_a',
  action: 'changeReceiver',
  ...more,
});

async function addMany(count: number, entry: Partial<NewAuditEntry>): Promise<void> {
  for (let index = 0; index < count; index++) {
    now += 1_000;
    await trail.add(bySomebody({ target: String(index), ...entry }));
  }
}

/** Ids of workspaces that all have one shard. */
function neighbours(count: number): string[] {
  const found: string[] = [];
  while (found.length < count) {
    const id = newWorkspaceId();
    if (stores.keyspace.of(id) === stores.keyspace.shards[1]) found.push(id);
  }
  return found.sort();
}

const targetsOf = async (workspaceId: string) =>
  (await trail.list({ workspaceId, limit: 1_000 })).entries.map(({ target }) => Number(target));

test('an entry is kept whole, and has its time from Redis', async () => {
  const entry: NewAuditEntry = {
    by: 'operator',
    user: 'ann',
    action: 'disableReceiver',
    target: 'wh_1',
    workspaceId: 'ws_a',
    address: '192.0.2.1',
    requestId: 'req_1',
    fields: ['enabled', 'lock'],
    reason: 'it floods us',
  };
  const added = await trail.add(entry);
  expect(added).toStrictEqual({ id: added.id, at: START, ...entry });
  expect(await trail.list({ limit: 10 })).toStrictEqual({ entries: [added] });
  const small = await trail.add({ by: 'cli', action: 'reshard' });
  expect(small).toStrictEqual({ id: small.id, at: START, by: 'cli', action: 'reshard' });
});

test('texts are plain and short, whatever is given', async () => {
  const long = `\u001b[31m\u202e${'\u{1F600}'.repeat(300)}`;
  const { fields, reason, user } = await trail.add(
    bySomebody({ user: 'a\nb\ud800', reason: long, fields: Array.from({ length: 30 }, (_, index) => `f${index}\0`) }),
  );
  expect(user).toBe('a b ');
  expect(Array.from(reason ?? '')).toHaveLength(200);
  expect(reason).toMatch(/^ \[31m \u{1F600}+$/u);
  expect(fields).toEqual(Array.from({ length: 20 }, (_, index) => `f${index} `));
});

test('ids grow with time, also when the clock of a process is behind, and those of all shards sort together', async () => {
  const [one = '', ...others] = neighbours(20);
  const first = await trail.add(bySomebody({ workspaceId: one }));
  now -= 5;
  for (const workspaceId of others) await trail.add(bySomebody({ workspaceId }));
  await trail.add(bySomebody());
  const { entries } = await trail.list({ limit: 100 });
  const inShard = entries.filter(({ workspaceId }) => workspaceId !== undefined);
  // Each is at most one ms later than the one before.
  for (const { at } of inShard) expect(at - START).toBeLessThan(inShard.length);
  expect(inShard.map(({ workspaceId }) => workspaceId)).toEqual([...others.toReversed(), one]);
  expect(entries.at(-1)?.workspaceId).toBeUndefined();
  expect(inShard.at(-1)?.id).toBe(first.id);
  expect(new Set(entries.map(({ id }) => id)).size).toBe(21);
});

test('pages go back over all shards, once through every entry', async () => {
  const workspaces = Array.from({ length: 12 }, newWorkspaceId);
  for (let round = 0; round < 5; round++) {
    for (const workspaceId of workspaces) await trail.add(bySomebody({ workspaceId, by: `key_${round}` }));
    await trail.add(bySomebody({ by: 'cli' }));
    now += round % 2;
  }
  const all = (await trail.list({ limit: 1_000 })).entries;
  expect(all).toHaveLength(65);
  const seen: string[] = [];
  for (let before: string | undefined; ;) {
    const page = await trail.list({ limit: 7, before });
    expect(page.entries.length).toBeLessThanOrEqual(7);
    seen.push(...page.entries.map(({ id }) => id));
    if (page.next === undefined) break;
    before = page.next;
  }
  expect(seen).toEqual(all.map(({ id }) => id));
});

test('entries are found by workspace, by doer and since a time', async () => {
  const [one = '', two = ''] = neighbours(2);
  for (const [by, workspaceId] of [
    ['key_a', one],
    ['plk_b', one],
    ['key_c', two],
    ['key_a', one],
  ] as const) {
    now += 1_000;
    await trail.add(bySomebody({ by, workspaceId }));
  }
  const find = async (query: Parameters<AuditTrail['list']>[0]) =>
    (await trail.list(query)).entries.map(({ by, at }) => `${by} ${(at - START) / 1_000}`);
  expect(await find({ workspaceId: one, limit: 10 })).toEqual(['key_a 4', 'plk_b 2', 'key_a 1']);
  expect(await find({ by: 'key_a', limit: 10 })).toEqual(['key_a 4', 'key_a 1']);
  expect(await find({ since: START + 3_000, limit: 10 })).toEqual(['key_a 4', 'key_c 3']);
  expect(await find({ workspaceId: one, by: 'plk_b', since: START + 2_000, limit: 10 })).toEqual(['plk_b 2']);
});

test('a page reads only so much, and goes on where it stopped', async () => {
  trail = trailOf(1_000_000);
  const pipeline = stores.redis.pipeline();
  const { audit } = stores.keys;
  const other = JSON.stringify(bySomebody({ by: 'key_other' }));
  for (let index = 0; index < 12_000; index++) {
    const entry = index === 10 ? JSON.stringify(bySomebody({ by: 'key_rare' })) : other;
    pipeline.xadd(audit, `${START}-${String(100_000_000_000_000 + index)}`, 'entry', entry);
  }
  await pipeline.exec();
  const pages: number[] = [];
  let before: string | undefined;
  do {
    const page = await trail.list({ by: 'key_rare', limit: 10, before });
    pages.push(page.entries.length);
    before = page.next;
  } while (before !== undefined);
  expect(pages).toEqual([0, 0, 1]);
});

test('a workspace that floods the trail pushes out its own entries only', async () => {
  const [flooding = '', quiet = ''] = neighbours(2);
  await addMany(30, { workspaceId: quiet });
  await addMany(30, { workspaceId: flooding, by: 'cli' });
  await addMany(200, { workspaceId: flooding });
  expect(await targetsOf(quiet)).toEqual(Array.from({ length: 30 }, (_, index) => 29 - index));
  const { entries } = await trail.list({ workspaceId: flooding, limit: 1_000 });
  expect(entries.filter(({ by }) => by === 'cli')).toHaveLength(30);
  expect(entries.filter(({ by }) => by === 'key_a').map(({ target }) => Number(target))).toEqual(
    Array.from({ length: 40 }, (_, index) => 199 - index),
  );
});

test('many workspaces together leave the platform half of the trail', async () => {
  const [watched = '', ...many] = neighbours(60);
  await addMany(80, { workspaceId: watched, by: 'operator' });
  for (const workspaceId of many) await addMany(3, { workspaceId });
  const { entries } = await trail.list({ limit: 1_000 });
  expect(entries).toHaveLength(LENGTH);
  expect(entries.filter(({ by }) => by === 'operator').map(({ target }) => Number(target))).toEqual(
    Array.from({ length: 50 }, (_, index) => 79 - index),
  );
});

test('when all have as many entries, who was quiet for longest gives first, whatever its name', async () => {
  const many = neighbours(150);
  const order = [...many.slice(100), ...many.slice(0, 100)];
  for (const workspaceId of order) await addMany(1, { workspaceId });
  const { entries } = await trail.list({ limit: 1_000 });
  expect(entries.map(({ workspaceId }) => workspaceId)).toEqual(order.slice(50).toReversed());
});

test('a smaller length takes effect with the next entries, some at a time', async () => {
  const [workspaceId = ''] = neighbours(1);
  await addMany(100, { workspaceId });
  trail = trailOf(85);
  await addMany(1, { workspaceId });
  expect(await targetsOf(workspaceId)).toHaveLength(91);
  await addMany(1, { workspaceId });
  expect(await targetsOf(workspaceId)).toHaveLength(85);
});

test('what is counted of a trail is what it has', async () => {
  const [one = '', two = ''] = neighbours(2);
  await addMany(120, { workspaceId: one });
  await addMany(20, { workspaceId: two });
  await addMany(20, { workspaceId: two, by: 'operator' });
  const { redis, keyspace } = stores;
  const keys = keyspace.of(one);
  const owners = await redis.zrange(keys.auditOwners, 0, '-1', 'WITHSCORES');
  const counts = owners.flatMap((owner, index) =>
    index % 2 === 0 ? [[owner, Math.floor(Number(owners[index + 1]))]] : [],
  );
  expect(Object.fromEntries(counts)).toEqual({ [one]: 60, [two]: 20, ':platform': 20 });
  expect(await redis.zcard(keys.auditIds)).toBe(100);
  expect(await redis.xlen(keys.audit)).toBe(100);
});

test('whoever is counted with entries that are gone is forgotten, and the trail goes on', async () => {
  const [workspaceId = ''] = neighbours(1);
  await addMany(100, { workspaceId });
  const { redis, keyspace } = stores;
  const { auditOwners } = keyspace.of(workspaceId);
  await redis.zadd(auditOwners, 1_000, 'ws_without_entries');
  await addMany(5, { workspaceId });
  expect(await redis.zscore(auditOwners, 'ws_without_entries')).toBeNull();
  expect(await targetsOf(workspaceId)).toHaveLength(100);
});

test.each(['audit', 'auditOwners', 'auditIds'] as const)(
  'when %s is damaged, nothing of an entry is written',
  async (name) => {
    const { redis, keys } = stores;
    await redis.set(keys[name], 'no such thing');
    await expect(trail.add(bySomebody())).rejects.toThrow('WRONGTYPE');
    expect(await redis.exists(keys.audit, keys.auditOwners, keys.auditIds)).toBe(1);
  },
);
