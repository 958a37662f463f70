import { deliveryIdOf, newTestTransitionId, type Task } from '@herald/core';
import {
  closeRedis,
  connectRedis,
  createDeliveryRetention,
  createKeyspace,
  createTaskRetention,
  createTaskStore,
  createTransitionStore,
  newRevision,
  type RedisClient,
} from '@herald/infra';
import { startRedis } from '@herald/test-kit';
import { Queue, Worker } from 'bullmq';
import { buildTask, newWorkspaceId } from '../support/start-stores.ts';

// The line is BullMQ's; what we add to it must be what BullMQ itself would have added, in this very version of it.

const DAY_MS = 86_400_000;
const NOW = 1_795_000_000_000;
const EVENT = 'task.check_in';
const TRANSITION = newTestTransitionId();
const idsIn = (transitionId: string, ...endpoints: string[]) => endpoints.map((id) => deliveryIdOf(transitionId, id));
const ids = (...endpoints: string[]) => idsIn(TRANSITION, ...endpoints);

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
  const keyspace = createKeyspace(2);
  const [taskRetention, deliveryRetention] = [createTaskRetention(30 * DAY_MS), createDeliveryRetention(7 * DAY_MS)];
  const tasks = createTaskStore({ redis, keyspace, retention: taskRetention });
  const transitions = createTransitionStore({ redis, keyspace, taskRetention, deliveryRetention });
  const queues = keyspace.shards.map((keys) => {
    const bullmq = new Queue('deliveries', {
      ...{ connection: redis, prefix: keys.bullPrefix },
      streams: { events: { maxLen: 1_000 } },
    });
    cleanUp.defer(() => bullmq.close());
    /** A Task of a workspace that lies in this queue's shard. */
    const createTask = async () => {
      const workspaces = Array.from({ length: 64 }, newWorkspaceId);
      const task = buildTask(workspaces.find((id) => keyspace.of(id) === keys) ?? '');
      await tasks.create(task);
      return task;
    };
    return { keys, createTask, commit: transitions.commit, bullmq };
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

function accept({ commit }: Side, task: Task, transitionId: string, endpoints: readonly string[]) {
  return commit({
    ...{ task, newRevision: newRevision(), subscriptionVersion: '0', now: NOW, change: { sequence: 1 } },
    emission: {
      ...{ transitionId, event: EVENT, body: '{}' },
      targets: endpoints.map((endpointId) => ({ endpointId, destination: endpointId, enabled: true })),
    },
  });
}

async function addByUs(side: Side, endpoints: readonly string[], transitionId = TRANSITION): Promise<void> {
  const reply = await accept(side, await side.createTask(), transitionId, endpoints);
  expect(reply).toEqual({ kind: 'accepted', canceled: 0 });
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
])('the jobs of an accepted transition are those that BullMQ would have added when $when', async ({ prepare }) => {
  await using queues = await startQueues();
  const { redis, left, right } = queues;
  await prepare(left, redis);
  await prepare(right, redis);
  await addByBullmq(left, ids('a', 'b', 'c'));
  await addByUs(right, ['a', 'b', 'c']);
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

test('a worker that waits for jobs takes those of an accepted transition, in their order', async () => {
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
  await addByUs(right, ['a', 'b', 'c']);
  await all;
  await worker.close();
  expect(taken).toEqual(ids('a', 'b', 'c'));
});

test('what is committed together is lined up in its order, however many calls it takes, and a conflict adds nothing', async () => {
  await using queues = await startQueues();
  const { right } = queues;
  const tasks = await Promise.all(Array.from({ length: 100 }, right.createTask));
  const transitions = tasks.map(() => newTestTransitionId());
  const endpoints = Array.from({ length: 10 }, (_, index) => `wh_${index}`);
  const replies = await Promise.all(
    tasks.map((task, index) => {
      const known = index === 50 ? { ...task, revision: 'another' } : task;
      return accept(right, known, transitions[index] ?? '', endpoints);
    }),
  );
  expect(replies.map(({ kind }) => kind)).toEqual(tasks.map((_, index) => (index === 50 ? 'conflict' : 'accepted')));
  const expected = transitions.filter((_, index) => index !== 50).flatMap((id) => idsIn(id, ...endpoints));
  expect((await right.bullmq.getWaiting()).map(({ id }) => id)).toEqual(expected);
});

test('a transition that can’t be written spoils none that is committed with it', async () => {
  await using queues = await startQueues();
  const { redis, right } = queues;
  const tasks = await Promise.all(Array.from({ length: 3 }, right.createTask));
  const transitions = tasks.map(() => newTestTransitionId());
  await redis.set(right.keys.transition(transitions[1] ?? ''), 'of another type');
  const outcomes = await Promise.allSettled(
    tasks.map((task, index) => accept(right, task, transitions[index] ?? '', ['wh_a'])),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toMatchObject({ reason: { message: expect.stringContaining('WRONGTYPE') as unknown } });
  const waiting = (await right.bullmq.getWaiting()).map(({ id }) => id);
  expect(waiting).toEqual(
    expect.arrayContaining([transitions[0], transitions[2]].flatMap((id = '') => idsIn(id, 'wh_a'))),
  );
});
