import { deliveryIdOf, newTestTransitionId, type Task } from '@herald/core';
import { newRevision, type RedisClient } from '@herald/infra';
import { Worker } from 'bullmq';
import { readQueue, startQueues, type Side } from '../support/two-lines.ts';

// The line is BullMQ's; what we add to it must be what BullMQ itself would have added, in this very version of it.

const NOW = 1_795_000_000_000;
const EVENT = 'task.check_in';
const TRANSITION = newTestTransitionId();
const idsIn = (transitionId: string, ...endpoints: string[]) => endpoints.map((id) => deliveryIdOf(transitionId, id));
const ids = (...endpoints: string[]) => idsIn(TRANSITION, ...endpoints);

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
