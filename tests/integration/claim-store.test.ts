import {
  createClaimStore,
  type Claim,
  type ClaimStore,
  type KeptAnswer,
  type RequestName,
} from '@herald/store/idempotency/claim-store';
import { randomBytes } from 'node:crypto';
import { dumpRedis, toText } from '../support/redis-dump.ts';
import { startStores, type Stores } from '../support/start-stores.ts';

const LEASE_MS = 60_000;
const ANSWER: KeptAnswer = { status: 201, headers: { location: '/there' }, body: { id: 'wh_1', list: [], nested: {} } };

let stores: Stores;
let now: number;
let first: ClaimStore;
let second: ClaimStore;

beforeAll(async () => {
  stores = await startStores();
  const common = { now: () => now, leaseMs: LEASE_MS, keepMs: 86_400_000 };
  first = createClaimStore({ redis: stores.redis, ...common });
  second = createClaimStore({ redis: stores.second.redis, ...common });
});
afterAll(() => stores[Symbol.asyncDispose]());
beforeEach(() => {
  now = 1_000_000;
});

function newRequest(more: Partial<RequestName> = {}): RequestName {
  const idempotencyKey = randomBytes(6).toString('hex');
  return { apiKeyId: 'key_a', method: 'POST', path: '/tasks/', idempotencyKey, ...more };
}

async function mustClaim(store: ClaimStore, request: RequestName, body = 'body'): Promise<Claim> {
  const reply = await store.claim(request, body);
  if (reply.kind !== 'claimed') throw new Error(`expected a claim, got ${reply.kind}`);
  return reply.claim;
}

test('of 50 duplicates that race over two connections exactly one runs, and the others are told that it does', async () => {
  const request = newRequest();
  const race = () =>
    Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? first : second).claim(request, 'body')));
  const replies = await race();
  expect(replies.filter(({ kind }) => kind === 'in_progress')).toHaveLength(49);
  const [winner] = replies.filter((reply) => reply.kind === 'claimed');
  expect(await winner?.claim.keepAnswer(ANSWER)).toBe('kept');
  expect(await race()).toEqual(Array.from({ length: 50 }, () => ({ kind: 'answered', answer: ANSWER })));
});

test('of 50 that race for a claim whose process died exactly one takes it over', async () => {
  const request = newRequest();
  await mustClaim(first, request);
  now += LEASE_MS;
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, index) => (index % 2 ? first : second).claim(request, 'body')),
  );
  expect(replies.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
  expect(replies.filter(({ kind }) => kind === 'in_progress')).toHaveLength(49);
});

test('another body is a conflict: while the first runs, when it is answered, and when it died', async () => {
  const request = newRequest();
  const claim = await mustClaim(first, request);
  const kinds = [(await second.claim(request, 'other')).kind];
  await claim.keepAnswer(ANSWER);
  kinds.push((await second.claim(request, 'other')).kind);
  const crashed = newRequest();
  await mustClaim(first, crashed);
  now += LEASE_MS;
  kinds.push((await second.claim(crashed, 'other')).kind);
  expect(kinds).toEqual(['conflict', 'conflict', 'conflict']);
});

test('a key counts for one API key, one method and one path, however their texts are cut', async () => {
  const request = newRequest({ apiKeyId: 'key_a', path: '/tasks/t1/cancel', idempotencyKey: 'k' });
  const claims = [await mustClaim(first, request)];
  for (const other of [
    { ...request, apiKeyId: 'key_b' },
    { ...request, path: '/tasks/t2/cancel' },
    { ...request, method: 'PUT' },
    { ...request, idempotencyKey: 'K' },
    { ...request, path: '/tasks/t1/cance', idempotencyKey: 'lk' },
  ]) {
    claims.push(await mustClaim(second, other, 'another body'));
  }
  expect(new Set(claims.map(({ seed }) => String(seed.random))).size).toBe(6);
});

test('a run that takes over has the seed of the first, and only it can end the claim', async () => {
  const request = newRequest();
  const stale = await mustClaim(first, request);
  now += LEASE_MS;
  const newer = await mustClaim(second, request);
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
  expect(await first.claim(request, 'body')).toEqual({ kind: 'in_progress' });
  await newer.keepAnswer(ANSWER);
  expect(await stale.keepAnswer({ ...ANSWER, status: 200 })).toBe('lost');
  expect(await first.claim(request, 'body')).toEqual({ kind: 'answered', answer: ANSWER });
});

test('a claim that is renewed outlives its first lease', async () => {
  const request = newRequest();
  const claim = await mustClaim(first, request);
  for (let round = 0; round < 3; round++) {
    now += LEASE_MS - 1;
    expect(await claim.renew()).toBe('renewed');
  }
  now += LEASE_MS - 1;
  expect(await second.claim(request, 'body')).toEqual({ kind: 'in_progress' });
  now += 1;
  await mustClaim(second, request);
});

test('a run that changed nothing frees the key, also for another body', async () => {
  const request = newRequest();
  const claim = await mustClaim(first, request);
  expect(await claim.giveBack('nothing')).toBe('given_back');
  const next = await mustClaim(second, request, 'corrected');
  expect(next.seed).not.toEqual(claim.seed);
});

test('a run that may have changed something frees the key at once for the same body alone, with the same seed', async () => {
  const request = newRequest();
  const claim = await mustClaim(first, request);
  expect(await claim.giveBack('perhaps')).toBe('given_back');
  expect(await claim.renew()).toBe('lost');
  expect(await second.claim(request, 'other')).toEqual({ kind: 'conflict' });
  expect((await mustClaim(second, request)).seed).toEqual(claim.seed);
});

test('a key is kept for a day from its answer, and nothing of the request is to be read in Redis', async () => {
  const request = newRequest({ path: '/tasks/path-canary', idempotencyKey: 'key-canary' });
  await stores.redis.flushall();
  const claim = await mustClaim(first, request);
  const [key = ''] = await stores.redis.keys('*');
  expect(await stores.redis.pttl(key)).toBeGreaterThan(86_400_000 - 60_000);
  await stores.redis.pexpire(key, 1_000_000);
  await claim.keepAnswer(ANSWER);
  expect(await stores.redis.pttl(key)).toBeGreaterThan(86_400_000 - 60_000);
  expect(toText(await dumpRedis(stores.redis))).not.toContain('canary');
});
