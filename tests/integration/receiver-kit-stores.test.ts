import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import {
  createMemoryStore,
  createRedisStore,
  type Claim,
  type DeliveryStore,
  type StoreOptions,
} from '@herald/receiver';
import { startRedis, waitFor, type RunningRedis } from '@herald/test-kit';

let server: RunningRedis;
let redis: RedisClient;
beforeAll(async () => {
  server = await startRedis();
  redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'request',
    name: 'test',
    onError: () => undefined,
  });
});
afterAll(async () => {
  await closeRedis(redis);
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await redis.flushall();
});

/** What node-redis offers instead of ioredis' `call`. */
const asNodeRedis = () => ({ sendCommand: ([command = '', ...args]: string[]) => redis.call(command, ...args) });

async function claim(store: DeliveryStore): Promise<Extract<Claim, { kind: 'claimed' }>> {
  const claimed = await store.claim('dlv_1');
  if (claimed.kind !== 'claimed') throw new Error(`it is ${claimed.kind}`);
  return claimed;
}

const kindOf = async (store: DeliveryStore) => (await store.claim('dlv_1')).kind;

describe.each<[string, (options?: StoreOptions) => DeliveryStore]>([
  ['in memory', (options) => createMemoryStore(options)],
  ['in Redis, by ioredis', (options) => createRedisStore(redis, options)],
  ['in Redis, by node-redis', (options) => createRedisStore(asNodeRedis(), options)],
])('a store %s', (_where, createStore) => {
  test('gives one of many that ask at once the claim', async () => {
    const store = createStore();
    const kinds = await Promise.all(Array.from({ length: 20 }, () => kindOf(store)));
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'in_progress')).toHaveLength(19);
  });

  test('gives a released one to the next who asks', async () => {
    const store = createStore();
    await (await claim(store)).release();
    expect(await kindOf(store)).toBe('claimed');
  });

  test('knows a completed one, and nothing releases it', async () => {
    const store = createStore();
    const claimed = await claim(store);
    await claimed.complete();
    await claimed.release();
    expect(await kindOf(store)).toBe('done');
    expect((await store.claim('dlv_2')).kind).toBe('claimed');
  });

  test('lets a claim that nobody ends end by itself', async () => {
    const store = createStore({ leaseMs: 50 });
    await claim(store);
    const end = waitFor('the claim to end', async () => (await kindOf(store)) === 'claimed');
    await expect(end).resolves.toBe(true);
  });
});

test('in Redis, too, nobody ends the claim of another who came after his own had ended', async () => {
  const first = await claim(createRedisStore(redis, { leaseMs: 50 }));
  const store = createRedisStore(redis);
  await waitFor('the claim to end', async () => (await kindOf(store)) === 'claimed');
  await first.release();
  expect(await kindOf(store)).toBe('in_progress');
});

test('Redis remembers a processed delivery for seven days, counted anew from every repeat', async () => {
  const store = createRedisStore(redis, { prefix: 'hooks:' });
  await (await claim(store)).complete();
  await redis.pexpire('hooks:dlv_1', 5_000);
  await kindOf(store);
  expect(await redis.pttl('hooks:dlv_1')).toBeGreaterThan(7 * 86_400_000 - 60_000);
});

test('a renewed claim in Redis has its time anew, and one that has ended stays that of another', async () => {
  const first = await claim(createRedisStore(redis));
  await redis.pexpire('herald:delivery:dlv_1', 5_000);
  await first.renewal?.renew();
  expect(await redis.pttl('herald:delivery:dlv_1')).toBeGreaterThan(50_000);
  await redis.set('herald:delivery:dlv_1', 'of another', 'PX', 5_000);
  await first.renewal?.renew();
  expect(await redis.pttl('herald:delivery:dlv_1')).toBeLessThanOrEqual(5_000);
});

test('a claim whose answer was lost, so that the client sent it again, is known as one’s own', async () => {
  const loses = async (command: string, ...args: string[]) => {
    if (command === 'SET') await redis.call(command, ...args);
    return redis.call(command, ...args);
  };
  expect(await kindOf(createRedisStore({ call: loses }))).toBe('claimed');
  expect(await kindOf(createRedisStore(redis))).toBe('in_progress');
});

test('a client that can’t work is refused with what to give', () => {
  expect(() => createRedisStore({} as never)).toThrow('client must be one of ioredis, or of node-redis');
  const cluster = { ...asNodeRedis(), masters: [] };
  expect(() => createRedisStore(cluster)).toThrow('client is a cluster of node-redis');
});

test('two processes see the same deliveries', async () => {
  const [one, other] = [createRedisStore(redis), createRedisStore(redis)];
  const claimed = await claim(one);
  expect(await kindOf(other)).toBe('in_progress');
  await claimed.complete();
  expect(await kindOf(other)).toBe('done');
});
