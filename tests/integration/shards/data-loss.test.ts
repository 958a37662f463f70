import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { ConfigError } from '@herald/runtime/env';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { SEEN_EVERY_MS } from '@herald/store/data/find-running';
import { openShards, type OpenShards } from '@herald/store/data/open-shards';
import { startRedis, waitFor, type RunningRedis } from '@herald/test-kit';
import { createEventLog } from '../../support/event-log.ts';

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
  await server.close();
});
const opened: OpenShards[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await redis.flushall();
});

async function open(role: 'api' | 'worker', shardCount = 1) {
  const events: string[] = [];
  const shown: boolean[] = [];
  const logger = createEventLog(events);
  const metrics = { showLoss: (isLost: boolean) => void shown.push(isLost) };
  const shards = await openShards({ redis, shardCount, role, now: Date.now, logger, metrics });
  opened.push(shards);
  return { ...shards, events, shown };
}
const untilLost = (shards: Pick<OpenShards, 'findProblem'>) =>
  waitFor('the loss to be noticed', () => shards.findProblem()?.code === 'data_lost');
const record = () => redis.hgetall(GLOBAL_KEYS.shards);

test('data that vanishes is told once by every process, and entered anew by none while one runs', async () => {
  const [api, worker] = [await open('api'), await open('worker')];
  expect(await api.isHere()).toBe(true);
  await redis.flushall();
  expect(await api.isHere()).toBe(false);
  await Promise.all([untilLost(api), untilLost(worker)]);
  expect(api).toMatchObject({ events: ['error data.lost data_lost'], shown: [true] });
  expect(worker.events).toHaveLength(1);

  const refusal = await open('worker').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ConfigError);
  expect((refusal as Error).message).toMatch(
    /^The data in this Redis vanished while .* stop every API and worker and start/,
  );
  expect(await record()).toEqual({});

  await Promise.all(opened.splice(0).map((each) => each.close()));
  const keptMs = await redis.pttl(GLOBAL_KEYS.dataLost);
  expect(keptMs).toBeGreaterThan(10_000);
  expect(keptMs).toBeLessThanOrEqual(15_000);
  await redis.del(GLOBAL_KEYS.dataLost); // as it leaves by itself
  expect((await open('api')).findProblem()).toBeUndefined();
  expect(await record()).toMatchObject({ count: '1' });
});

test('data that is restored lets all go on', async () => {
  const api = await open('api');
  const before = await record();
  await redis.flushall();
  await untilLost(api);
  await redis.hset(GLOBAL_KEYS.shards, before);
  await waitFor('the process to go on', () => api.findProblem() === undefined);
  expect(api).toMatchObject({ events: ['error data.lost data_lost', 'info data.back'], shown: [true, false] });
  expect(await record()).toEqual(before);
});

test('an empty Redis that another process has begun with is no data of those from before', async () => {
  const api = await open('api');
  await redis.flushall();
  const late = await open('worker'); // nobody has noticed yet
  await untilLost(api);
  expect(api.findProblem()?.sentence).toContain('Redis holds other data than this process has started with');
  expect(late.findProblem()).toBeUndefined();
});

test('a record that has lost its id, as by a failover, gets it again', async () => {
  const api = await open('api');
  const before = await record();
  await redis.hdel(GLOBAL_KEYS.shards, 'dataId');
  await waitFor('the id', async () => (await record()).dataId === before.dataId);
  expect(api.events).toEqual([]);
});

test('a process that is started beside others works on the same data', async () => {
  await open('api');
  const before = await record();
  await open('worker');
  expect(await record()).toEqual(before);
});

test('a process looks only as often as it says', async () => {
  await open('api');
  const readSign = async () => Number((await redis.zrange(GLOBAL_KEYS.processes, 0, '-1', 'WITHSCORES'))[1]);
  const untilNext = async (before: number) => {
    await waitFor('the next look', async () => (await readSign()) > before);
    return await readSign();
  };
  const first = await untilNext(await readSign());
  expect((await untilNext(first)) - first).toBeGreaterThan(SEEN_EVERY_MS - 100);
});
