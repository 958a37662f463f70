import {
  createIdempotencyStore,
  type IdempotencyRecord,
  type IdempotencyStore,
  type KeptAnswer,
  type RequestName,
} from '@herald/store/access/idempotency-store';
import { UnavailableError } from '@herald/core';
import { createWorkspaceAccounts } from '@herald/store/stats/workspace-accounts';
import { findAccountDifferences } from '@herald/store/stats/recount-accounts';
import { randomBytes } from 'node:crypto';
import { findAccountFaults } from './every-script/find-harm.ts';
import { limitMemory } from '../support/limit-memory.ts';
import { dumpRedis, toText } from '../support/redis-dump.ts';
import { startStores, type Stores } from '../support/start-stores.ts';

const LEASE_MS = 60_000;
const OPTIONS = { now: () => now, leaseMs: LEASE_MS, keepMs: 86_400_000 };
const ANSWER: KeptAnswer = { status: 201, headers: { location: '/there' }, body: { id: 'wh_1', list: [], nested: {} } };

let stores: Stores;
let now: number;
let first: IdempotencyStore;
let second: IdempotencyStore;

beforeAll(async () => {
  stores = await startStores();
  const common = { ...OPTIONS, keyspace: stores.keyspace };
  first = createIdempotencyStore({ redis: stores.redis, ...common });
  second = createIdempotencyStore({ redis: stores.second.redis, ...common });
});
afterAll(() => stores[Symbol.asyncDispose]());
beforeEach(() => {
  now = 1_000_000;
});

function newRequest(more: Partial<RequestName> = {}): RequestName {
  const idempotencyKey = randomBytes(6).toString('hex');
  return { owner: 'ws_a', apiKeyId: 'key_a', method: 'POST', path: '/tasks/', idempotencyKey, ...more };
}

async function mustAcquire(store: IdempotencyStore, request: RequestName, body = 'body'): Promise<IdempotencyRecord> {
  const reply = await store.acquire(request, body);
  if (reply.kind !== 'acquired') throw new Error(`expected a record, got ${reply.kind}`);
  return reply.record;
}

test('of 50 duplicates that race over two connections exactly one runs, and the others are told that it does', async () => {
  const request = newRequest();
  const race = () =>
    Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? first : second).acquire(request, 'body')));
  const replies = await race();
  expect(replies.filter(({ kind }) => kind === 'in_progress')).toHaveLength(49);
  const [winner] = replies.filter((reply) => reply.kind === 'acquired');
  expect(await winner?.record.keepAnswer(ANSWER)).toBe('kept');
  expect(await race()).toEqual(Array.from({ length: 50 }, () => ({ kind: 'answered', answer: ANSWER })));
});

test('of 50 that race for a record whose process died exactly one takes it over', async () => {
  const request = newRequest();
  await mustAcquire(first, request);
  now += LEASE_MS;
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, index) => (index % 2 ? first : second).acquire(request, 'body')),
  );
  expect(replies.filter(({ kind }) => kind === 'acquired')).toHaveLength(1);
  expect(replies.filter(({ kind }) => kind === 'in_progress')).toHaveLength(49);
});

test('another body is a conflict: while the first runs, when it is answered, and when it died', async () => {
  const request = newRequest();
  const record = await mustAcquire(first, request);
  const kinds = [(await second.acquire(request, 'other')).kind];
  await record.keepAnswer(ANSWER);
  kinds.push((await second.acquire(request, 'other')).kind);
  const crashed = newRequest();
  await mustAcquire(first, crashed);
  now += LEASE_MS;
  kinds.push((await second.acquire(crashed, 'other')).kind);
  expect(kinds).toEqual(['conflict', 'conflict', 'conflict']);
});

test('a key counts for one API key, one method and one path, however their texts are cut', async () => {
  const request = newRequest({ apiKeyId: 'key_a', path: '/tasks/t1/cancel', idempotencyKey: 'k' });
  const records = [await mustAcquire(first, request)];
  for (const other of [
    { ...request, apiKeyId: 'key_b' },
    { ...request, path: '/tasks/t2/cancel' },
    { ...request, method: 'PUT' },
    { ...request, idempotencyKey: 'K' },
    { ...request, path: '/tasks/t1/cance', idempotencyKey: 'lk' },
  ]) {
    records.push(await mustAcquire(second, other, 'another body'));
  }
  expect(new Set(records.map(({ seed }) => String(seed.random))).size).toBe(6);
});

test('a run that takes over has the seed of the first, and only it can end the record', async () => {
  const request = newRequest();
  const stale = await mustAcquire(first, request);
  now += LEASE_MS;
  const newer = await mustAcquire(second, request);
  expect(newer.seed).toEqual(stale.seed);
  expect(newer.seed.at).toBe(1_000_000);
  expect(newer.seed.random).toHaveLength(16);

  const tooLate = [
    await stale.renew(),
    await stale.keepAnswer({ ...ANSWER, status: 200 }),
    await stale.giveBack('nothing'),
    await stale.giveBack('perhaps'),
  ];
  expect(tooLate).toEqual(['lost', 'lost', 'lost', 'lost']);
  expect(await first.acquire(request, 'body')).toEqual({ kind: 'in_progress' });
  await newer.keepAnswer(ANSWER);
  expect(await stale.keepAnswer({ ...ANSWER, status: 200 })).toBe('lost');
  expect(await first.acquire(request, 'body')).toEqual({ kind: 'answered', answer: ANSWER });
});

test('a full Redis takes the record of a request, which may be one that ends or frees', async () => {
  const request = newRequest({ method: 'PATCH' });
  await limitMemory(stores.redis, 1);
  const acquired = await first.acquire(request, 'body').catch((error: unknown) => error);
  await limitMemory(stores.redis, 0);
  expect(acquired).toMatchObject({ kind: 'acquired' });
});

test('a record that is renewed outlives its first lease', async () => {
  const request = newRequest();
  const record = await mustAcquire(first, request);
  for (let round = 0; round < 3; round++) {
    now += LEASE_MS - 1;
    expect(await record.renew()).toBe('renewed');
  }
  now += LEASE_MS - 1;
  expect(await second.acquire(request, 'body')).toEqual({ kind: 'in_progress' });
  now += 1;
  await mustAcquire(second, request);
});

test.each([
  { how: 'crashed', end: () => Promise.resolve() },
  { how: 'ended with a 5xx', end: (record: IdempotencyRecord) => record.giveBack('perhaps') },
])('a run that changed nothing leaves what one before it may have created, which $how', async ({ end }) => {
  const request = newRequest();
  const record = await mustAcquire(first, request);
  await end(record);
  now += LEASE_MS;
  expect(await (await mustAcquire(second, request)).giveBack('nothing')).toBe('given_back');
  expect(await first.acquire(request, 'other')).toEqual({ kind: 'conflict' });
  expect((await mustAcquire(first, request)).seed).toEqual(record.seed);
});

test('a run that changed nothing frees the key, also for another body', async () => {
  const request = newRequest();
  const record = await mustAcquire(first, request);
  expect(await record.giveBack('nothing')).toBe('given_back');
  const next = await mustAcquire(second, request, 'corrected');
  expect(next.seed).not.toEqual(record.seed);
});

test('a run that may have changed something frees the key at once for the same body alone, with the same seed', async () => {
  const request = newRequest();
  const record = await mustAcquire(first, request);
  expect(await record.giveBack('perhaps')).toBe('given_back');
  expect(await record.renew()).toBe('lost');
  expect(await second.acquire(request, 'other')).toEqual({ kind: 'conflict' });
  expect((await mustAcquire(second, request)).seed).toEqual(record.seed);
});

test('a key is kept for a day from its answer, and nothing of the request is to be read in Redis', async () => {
  const request = newRequest({ path: '/tasks/path-canary', idempotencyKey: 'key-canary' });
  await stores.redis.flushall();
  const record = await mustAcquire(first, request);
  const [key = ''] = await stores.redis.keys('herald:claim:*');
  expect(await stores.redis.pttl(key)).toBeGreaterThan(86_400_000 - 60_000);
  await stores.redis.pexpire(key, 1_000_000);
  await record.keepAnswer(ANSWER);
  expect(await stores.redis.pttl(key)).toBeGreaterThan(86_400_000 - 60_000);
  expect(toText(await dumpRedis(stores.redis))).not.toContain('canary');
});

describe('what is kept has an owner', () => {
  const LIMIT = 2_000;
  const BIG: KeptAnswer = { ...ANSWER, body: { description: 'x'.repeat(1_200) } };
  let owner: string;
  let bounded: IdempotencyStore;
  beforeEach(async () => {
    await stores.redis.flushall();
    now = Date.now();
    owner = `ws_${randomBytes(6).toString('hex')}`;
    bounded = createIdempotencyStore({
      ...OPTIONS,
      redis: stores.redis,
      keyspace: stores.keyspace,
      limits: { pending: 0, bytes: LIMIT },
    });
  });
  const readAccounts = () =>
    createWorkspaceAccounts({ redis: stores.redis, keyspace: stores.keyspace, now: () => now });
  const keep = async (request: RequestName, answer = BIG) => (await mustAcquire(bounded, request)).keepAnswer(answer);

  test('an answer counts for the account of its owner, as a recount finds it, until it leaves', async () => {
    const [request, platform] = [newRequest({ owner }), newRequest({ owner: 'platform:key_p' })];
    await keep(request);
    await keep(platform, ANSWER);
    const [first, second] = await readAccounts().largest(10);
    expect(first).toMatchObject({ workspaceId: owner, pending: 0 });
    expect(first?.bytes).toBeGreaterThan(1_600);
    expect(second?.workspaceId).toBe('platform:key_p');
    const deps = { redis: stores.redis, keyspace: stores.keyspace, now: () => now };
    expect(await findAccountDifferences(deps)).toEqual([]);
    for (const keys of stores.keyspace.shards) expect(await findAccountFaults(stores.redis, keys)).toEqual([]);
    now += 86_400_000 + 86_400_000 / 64;
    expect(await readAccounts().largest(10)).toEqual([]);
  });

  test('past its bound a new key is refused and leaves nothing, a known one is answered, and other owners go on', async () => {
    const [known, begun] = [newRequest({ owner }), newRequest({ owner })];
    const record = await mustAcquire(bounded, begun);
    await keep(known);
    const records = await stores.redis.keys('herald:claim:*');
    const refused = newRequest({ owner });
    const error = expect.objectContaining({ code: 'workspace_full' }) as object;
    expect(await bounded.acquire(refused, 'body')).toEqual({ kind: 'no_room', error });
    expect((await stores.redis.keys('herald:claim:*')).sort()).toEqual(records.sort());
    expect(await bounded.acquire(known, 'body')).toMatchObject({ kind: 'answered' });
    // One that may have changed something is no new one.
    await record.giveBack('perhaps');
    expect((await mustAcquire(bounded, begun)).seed).toEqual(record.seed);
    await keep(newRequest({ owner: 'ws_other' }));
    now += 86_400_000 + 86_400_000 / 64;
    expect(await bounded.acquire(refused, 'body')).toMatchObject({ kind: 'acquired' });
  });

  test('while Redis is nearly full no new key is kept, and a known one is answered', async () => {
    const known = newRequest({ owner });
    await keep(known);
    const error = new UnavailableError('nearly full');
    const full = createIdempotencyStore({
      ...OPTIONS,
      redis: stores.redis,
      keyspace: stores.keyspace,
      findRefusal: () => error,
    });
    expect(await full.acquire(newRequest({ owner }), 'body')).toEqual({ kind: 'no_room', error });
    expect(await full.acquire(known, 'body')).toMatchObject({ kind: 'answered' });
  });

  test('a process that dies between the account and the record leaves what gives itself back', async () => {
    const record = await mustAcquire(bounded, newRequest({ owner }));
    const [key = ''] = await stores.redis.keys('herald:claim:*');
    await stores.redis.del(key);
    expect(await record.keepAnswer(BIG)).toBe('lost');
    expect((await readAccounts().find(owner)).bytes).toBeGreaterThan(1_600);
    now += 86_400_000 + 86_400_000 / 64;
    expect(await readAccounts().largest(10)).toEqual([]);
    for (const keys of stores.keyspace.shards) expect(await findAccountFaults(stores.redis, keys)).toEqual([]);
  });
});
