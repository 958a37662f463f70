import { closeRedis, connectRedis, createKeyspace, createLineUp, type RedisClient } from '@herald/infra';
import { startRedis } from '@herald/test-kit';
import { Queue, Worker } from 'bullmq';

// The line is BullMQ's; what we add to it must be what BullMQ itself would have added, in this very version of it.

const NOW = 1_795_000_000_000;
const EVENT = 'task.check_in';
const ids = (...names: string[]) => names.map((name) => `dlv_${name.padEnd(32, 'a')}`);

/** Two empty queues on one Redis, one for BullMQ and one for us. */
async function startQueues() {
  await using cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await startRedis());
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'background',
    name: 'test',
    onError: () => undefined,
  });
  cleanUp.defer(() => closeRedis(redis));
  const queues = createKeyspace(2).shards.map((keys) => {
    const lineUp = createLineUp({ redis, keys });
    const bullmq = new Queue('deliveries', {
      ...{ connection: redis, prefix: keys.bullPrefix },
      streams: { events: { maxLen: 1_000 } },
    });
    cleanUp.defer(() => bullmq.close());
    return { keys, lineUp, bullmq };
  });
  const [left, right] = queues;
  if (!left || !right) throw new Error('there are two shards');
  await Promise.all(queues.map(({ bullmq }) => bullmq.waitUntilReady()));
  const stack = cleanUp.move();
  return { redis, left, right, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
type Queues = Awaited<ReturnType<typeof startQueues>>;
type Side = Queues['left'];

async function addByBullmq({ bullmq }: Side, jobIds: readonly string[]): Promise<void> {
  await bullmq.addBulk(jobIds.map((jobId) => ({ name: EVENT, data: {}, opts: { jobId } })));
}

async function addByUs({ lineUp }: Side, jobIds: readonly string[]): Promise<void> {
  await lineUp([{ transitionId: 'trn_a', markedAt: NOW, event: EVENT, deliveryIds: jobIds }], NOW);
}

/** All keys of a queue with all they hold, in its order; the moment of the adding is told only where it would be wrong. */
async function readQueue(redis: RedisClient, { keys }: Side): Promise<Record<string, unknown>> {
  const prefix = `${keys.bullPrefix}:deliveries:`;
  const names = (await redis.keys(`${prefix}*`)).filter((name) => !name.endsWith(':events')).sort();
  const entries = await Promise.all(
    names.map(async (name) => {
      const type = await redis.type(name);
      const value =
        type === 'hash'
          ? await redis.call('HGETALL', name)
          : type === 'list'
            ? await redis.lrange(name, 0, -1)
            : type === 'zset'
              ? await redis.zrange(name, 0, '-1', 'WITHSCORES')
              : await redis.get(name);
      const shown = JSON.stringify(value).replace(/"timestamp","\d{13}"/, '"timestamp","<now>"');
      return [name.slice(prefix.length), { type, value: shown, ttl: await redis.ttl(name) }] as const;
    }),
  );
  return Object.fromEntries(entries);
}

test.each<{ when: string; prepare: (side: Side, redis: RedisClient) => Promise<unknown> }>([
  { when: 'the line is empty', prepare: () => Promise.resolve() },
  { when: 'others wait', prepare: (side) => addByBullmq(side, ids('x', 'y')) },
  { when: 'some of them wait already', prepare: (side) => addByBullmq(side, ids('b', 'y')) },
  { when: 'all of them wait already', prepare: (side) => addByBullmq(side, ids('a', 'b', 'c')) },
  {
    when: 'one of them waits for its time',
    prepare: ({ bullmq }) => bullmq.add(EVENT, {}, { jobId: ids('b')[0] ?? '', delay: 60_000, timestamp: NOW }),
  },
  { when: 'an operator has paused the queue', prepare: ({ bullmq }) => bullmq.pause() },
  { when: 'the queue has a limit that is reached', prepare: limitTo(1) },
  { when: 'the queue has a limit that is not reached', prepare: limitTo(2) },
])('jobs that are lined up are those that BullMQ would have added when $when', async ({ prepare }) => {
  await using queues = await startQueues();
  const { redis, left, right } = queues;
  await prepare(left, redis);
  await prepare(right, redis);
  await addByBullmq(left, ids('a', 'b', 'c'));
  await addByUs(right, ids('a', 'b', 'c'));
  const expected = await readQueue(redis, left);
  expect(Object.keys(expected)).toEqual(expect.arrayContaining(ids('a', 'b', 'c')));
  expect(await readQueue(redis, right)).toEqual(expected);
});

/** With one job in work. */
function limitTo(limit: number) {
  return async ({ bullmq, keys }: Side, redis: RedisClient): Promise<void> => {
    await bullmq.setGlobalConcurrency(limit);
    await redis.lpush(`${keys.bullPrefix}:deliveries:active`, 'dlv_in_work');
  };
}

test('a worker that waits for jobs takes those that are lined up, in their order', async () => {
  await using queues = await startQueues();
  const { redis, right } = queues;
  const taken: string[] = [];
  const { promise: all, resolve } = Promise.withResolvers<undefined>();
  const worker = new Worker(
    'deliveries',
    ({ id, name, data }) => {
      expect([name, data]).toEqual([EVENT, {}]);
      taken.push(id ?? '');
      if (taken.length === 3) resolve(undefined);
      return Promise.resolve();
    },
    { connection: redis, prefix: right.keys.bullPrefix, removeOnComplete: { count: 0 } },
  );
  await worker.waitUntilReady();
  await addByUs(right, ids('a', 'b', 'c'));
  await all;
  await worker.close();
  expect(taken).toEqual(ids('a', 'b', 'c'));
});

test('lining up clears the marks under which the transitions are owed, and leaves one that somebody took over', async () => {
  await using queues = await startQueues();
  const { redis, right } = queues;
  const { owed } = right.keys;
  await redis.zadd(owed, NOW, 'trn_mine', NOW + 30_000, 'trn_taken', NOW, 'trn_nothing_to_do', NOW, 'trn_other');
  const [first = '', second = ''] = ids('a', 'b');
  const jobs = (transitionId: string, deliveryIds: string[]) => ({
    ...({ transitionId, deliveryIds, markedAt: NOW, event: EVENT } as const),
  });
  await right.lineUp([jobs('trn_mine', [first]), jobs('trn_taken', [second]), jobs('trn_nothing_to_do', [])], NOW);
  expect(await redis.zrange(owed, 0, '-1')).toEqual(['trn_other', 'trn_taken']);
  expect(await right.bullmq.getWaitingCount()).toBe(2);
});

test('more jobs than one call of the script may hold are all lined up, and all their marks cleared', async () => {
  await using queues = await startQueues();
  const { redis, right } = queues;
  const transitions = Array.from({ length: 100 }, (_, index) => `trn_${index}`);
  await redis.zadd(right.keys.owed, ...transitions.flatMap((id) => [NOW, id]));
  const owed = transitions.map((transitionId, index) => ({
    ...({ transitionId, markedAt: NOW, event: EVENT } as const),
    deliveryIds: Array.from({ length: 10 }, (_, n) => `dlv_${index}_${n}`),
  }));
  await right.lineUp(owed, NOW);
  expect(await right.bullmq.getWaitingCount()).toBe(1_000);
  expect(await redis.zcard(right.keys.owed)).toBe(0);
});
