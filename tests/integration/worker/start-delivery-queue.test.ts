import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { createLogger } from '@herald/runtime/log';
import { defineScript } from '@herald/store/redis/script';
import { ENQUEUE_LUA, GROUP_LUA, scoreOf } from '@herald/queue';
import { startRedis, waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryTurn, ProcessVerdict } from '../../../apps/worker/src/deliver.ts';
import { createRandom } from '../../../chaos/random.ts';
import { startDeliveryQueue } from '../../../apps/worker/src/queue.ts';
import { shardKeys } from '../../support/delivery-state.ts';
import { startRedisGate } from '../../support/redis-gate.ts';
import { RIGHT_CLOCK } from '../../support/right-clock.ts';
import { findFaults, readQueue } from '../queue/read-queue.ts';

const ADD_LUA = /* lua */ `
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] score   ARGV[4..] ids
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
local entries = {}
for index = 4, #ARGV do
  entries[#entries + 1] = { 'dst', ARGV[index], ARGV[3] }
  redis.call('HSET', prefix .. ARGV[index], 's', 'pending')
end
enqueue(entries, tonumber(ARGV[2]))
`;

/** A Redis of its own with deliveries of one destination, and a worker's queue on it. */
async function setUp() {
  const cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await startRedis());
  const keys = shardKeys();
  const connections: RedisClient[] = [];
  const connect = async (url: string): Promise<RedisClient> => {
    const redis = await connectRedis({
      target: { kind: 'single', url },
      use: 'background',
      name: 'test',
      onError: () => undefined,
    });
    cleanUp.defer(() => closeRedis(redis));
    connections.push(redis);
    return redis;
  };
  const redis = await connect(server.url);
  const add = defineScript(redis, ADD_LUA);
  const logger = createLogger({ level: 'error', process: 'test', readable: false });
  return {
    server,
    redis,
    keys,
    connect,
    add: (...ids: readonly string[]) =>
      add([keys.queue.leases], [keys.prefix, Date.now(), scoreOf('usual', Date.now()), ...ids]),
    /** @param url of Redis, for what the worker does; it waits elsewhere */
    async start(process: (turn: DeliveryTurn) => Promise<ProcessVerdict>, groupLimit = 10, url = server.url) {
      const queue = startDeliveryQueue({
        redis: await connect(url),
        waitRedis: await connect(server.url),
        keys,
        groupLimit,
        process,
        concurrency: 20,
        clock: RIGHT_CLOCK,
        random: createRandom(1, 'queue').next,
        metrics: { internalError: () => undefined, queueFailed: () => undefined, jobStalled: () => undefined },
        logger: { ...logger, warn: () => undefined, error: () => undefined },
      });
      // A test that has failed may hold an answer back for ever.
      cleanUp.defer(() => void queue.stop());
      return queue;
    },
    async readPlaces() {
      const groups = [...(await readQueue({ redis, keys: keys.queue })).values()];
      return {
        waiting: groups.flatMap(({ waiting }) => [...waiting.keys()]),
        inWork: groups.flatMap(({ leases }) => leases).length,
      };
    },
    findFaults: () => findFaults({ redis, keys: keys.queue }),
    /** Closes all connections. */
    close: () => Promise.all(connections.map((each) => closeRedis(each))),
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}

const PUT_BACK: ProcessVerdict = { kind: 'put_back' };
/** For a worker that has room for nothing. */
const neverAsked = () => Promise.reject(new Error('nothing is to be done'));

test('a stop waits for what is in work, and nothing is reserved after it', async () => {
  await using set = await setUp();
  const answer = Promise.withResolvers<undefined>();
  const begun: string[] = [];
  const queue = await set.start(async ({ id }) => {
    begun.push(id);
    await answer.promise;
    return PUT_BACK;
  }, 1);
  await set.add('dlv_a', 'dlv_b');
  await waitFor('one to be in work', () => begun.length === 1);
  const idle = await set.start(neverAsked, 1);
  let hasStopped = false;
  const stopped = queue.stop().then(() => {
    hasStopped = true;
  });
  await set.add('dlv_c');
  // In this time a stop ends that waits for nothing.
  await idle.stop();
  expect(hasStopped).toBe(false);
  answer.resolve(undefined);
  await stopped;
  expect(begun).toEqual(['dlv_a']);
  const { waiting, inWork } = await set.readPlaces();
  expect([waiting.sort(), inWork, queue.inWork()]).toEqual([['dlv_a', 'dlv_b', 'dlv_c'], 0, 0]);
  expect(await set.findFaults()).toEqual([]);
});

test.each<ProcessVerdict>([{ kind: 'recorded', end: 'answered' }, { kind: 'finished' }])(
  'without Redis a stop waits for what is in work, here %j, and then until the connections are closed',
  async (verdict) => {
    await using set = await setUp();
    const answer = Promise.withResolvers<undefined>();
    const ended: string[] = [];
    const queue = await set.start(async ({ id }) => {
      await answer.promise;
      ended.push(id);
      return verdict;
    });
    await set.add('dlv_a');
    await waitFor('it to be in work', () => queue.inWork() === 1);
    await set.server.kill();
    const stopped = queue.stop().then(() => ended.push('stopped'));
    await set.close();
    answer.resolve(undefined);
    await stopped;
    expect(ended).toEqual(['dlv_a', 'stopped']);
    expect(queue.inWork()).toBe(0);
  },
);

test('a reserve whose reply is lost is made up for as soon as the connection is back', async () => {
  await using set = await setUp();
  // Only what runs the script has its text, and only the first one that does.
  await using gate = await startRedisGate({
    port: Number(new URL(set.server.url).port),
    stopAt: 'Takes due jobs from the groups',
    withhold: 'reply',
  });
  await set.add('dlv_a', 'dlv_b');
  const begun: string[] = [];
  const queue = await set.start(
    ({ id }) => {
      begun.push(id);
      return Promise.resolve({ kind: 'put_back' });
    },
    10,
    gate.url,
  );
  await gate.stopped;
  // What was withheld first may be the reply to a command before it.
  await waitFor('it to be done', async () => (await set.readPlaces()).inWork === 2);
  expect((await set.readPlaces()).waiting).toEqual([]);
  gate.open();
  await waitFor('both to be in work', () => begun.length >= 2, 5_000);
  expect(begun.slice(0, 2).sort()).toEqual(['dlv_a', 'dlv_b']);
  await queue.stop();
});

test('what is put back until a time waits until then', async () => {
  await using set = await setUp();
  await set.add('dlv_a');
  const begun: number[] = [];
  const queue = await set.start(() => {
    begun.push(Date.now());
    return Promise.resolve({ kind: 'put_back', dueAt: Date.now() + 1_000 });
  });
  await waitFor('it to come again', () => begun.length > 1, 5_000);
  expect((begun[1] ?? 0) - (begun[0] ?? 0)).toBeGreaterThanOrEqual(950);
  await queue.stop();
});

test('a queue on hold reserves nothing and keeps nothing from others, until it goes on', async () => {
  await using set = await setUp();
  const begun: string[] = [];
  const answer = Promise.withResolvers<undefined>();
  const queue = await set.start(async ({ id }) => {
    begun.push(id);
    if (begun.length === 1) await answer.promise;
    await set.redis.hset(set.keys.delivery(id), 's', 'delivered');
    return { kind: 'finished' };
  }, 1);
  await set.add('dlv_a', 'dlv_b');
  await waitFor('one to be in work', () => begun.length === 1);
  queue.hold();
  answer.resolve(undefined);
  await waitFor('it to end', async () => (await set.readPlaces()).inWork === 0);
  await set.add('dlv_c');
  // Longer than the wait that may have been under way.
  await pause(4_500);
  expect(begun).toEqual(['dlv_a']);
  expect((await set.readPlaces()).waiting.sort()).toEqual(['dlv_b', 'dlv_c']);
  const others: string[] = [];
  const other = await set.start(async ({ id }) => {
    others.push(id);
    await set.redis.hset(set.keys.delivery(id), 's', 'delivered');
    return { kind: 'finished' };
  }, 1);
  await waitFor('another worker to have them', () => others.length === 2);
  await other.stop();
  queue.resume();
  await set.add('dlv_d');
  await waitFor('it to go on', () => begun.includes('dlv_d'));
  queue.hold();
  await queue.stop();
  queue.resume();
  await set.add('dlv_e');
  const last = await set.start(async ({ id }) => {
    others.push(id);
    await set.redis.hset(set.keys.delivery(id), 's', 'delivered');
    return { kind: 'finished' };
  }, 1);
  await waitFor('another worker to have it', () => others.includes('dlv_e'));
  await last.stop();
  expect(begun).toEqual(['dlv_a', 'dlv_d']);
  expect(await set.findFaults()).toEqual([]);
});

test('connections that break while deliveries are in work lose nothing', async () => {
  await using set = await setUp();
  const begun: string[] = [];
  const answer = Promise.withResolvers<undefined>();
  const queue = await set.start(async ({ id }) => {
    begun.push(id);
    await answer.promise;
    await set.redis.hset(set.keys.delivery(id), 's', 'delivered');
    return { kind: 'finished' };
  });
  await set.add('dlv_a', 'dlv_b', 'dlv_c');
  await waitFor('all to be in work', () => begun.length === 3);
  await set.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  answer.resolve(undefined);
  await waitFor('nothing to be left', async () => {
    const { waiting, inWork } = await set.readPlaces();
    return waiting.length + inWork === 0;
  });
  await set.add('dlv_d');
  await waitFor('the next one to be in work', () => begun.includes('dlv_d'));
  await queue.stop();
  expect(begun).toEqual(['dlv_a', 'dlv_b', 'dlv_c', 'dlv_d']);
  expect(await set.findFaults()).toEqual([]);
});
