import { deliveryIdOf, newTestTransitionId, type DeliveryId } from '@herald/core';
import { newRevision, type RedisClient } from '@herald/infra';
import { Worker, type Job } from 'bullmq';
import { readQueue, startQueues, type Side } from '../support/two-lines.ts';

// The line is BullMQ's; what we take out of it and end must leave what BullMQ itself would have left, in this very version of it.

const EVENT = 'task.check_in';
const TOKEN = 'lock';
const LOCK_MS = 60_000;
const TRANSITION = newTestTransitionId();
const ENDPOINTS = ['a', 'b', 'c'];
const IDS = ENDPOINTS.map((id) => deliveryIdOf(TRANSITION, id));
const [FIRST = ''] = IDS;

/** Three jobs of one accepted transition on either side, and BullMQ's worker for the left one, which fetches when it is told to. */
async function startLines() {
  await using cleanUp = new AsyncDisposableStack();
  const queues = cleanUp.use(await startQueues());
  for (const side of [queues.left, queues.right]) {
    const task = await side.createTask();
    await side.commit({
      ...{ task, newRevision: newRevision(), subscriptionVersion: '0', now: Date.now(), change: { sequence: 1 } },
      emission: {
        ...{ transitionId: TRANSITION, event: EVENT, body: '{}' },
        targets: ENDPOINTS.map((endpointId) => ({ endpointId, destination: endpointId, enabled: true })),
      },
    });
  }
  const worker = new Worker('deliveries', null, {
    ...{ connection: queues.redis, prefix: queues.left.keys.bullPrefix, lockDuration: LOCK_MS, autorun: false },
    ...{ removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
  });
  worker.on('error', () => undefined);
  cleanUp.defer(() => worker.close());
  await worker.waitUntilReady();
  const stack = cleanUp.move();
  return { ...queues, worker, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function take({ take }: Side, limit: number) {
  return take({ limit, token: TOKEN, lockMs: LOCK_MS, now: Date.now() });
}

/** What BullMQ's worker gets in so many fetches. */
async function fetchByBullmq(worker: Worker, count: number): Promise<Job[]> {
  const jobs: Job[] = [];
  for (let index = 0; index < count; index++) {
    // Its types don't say that there may be none.
    const job = (await worker.getNextJob(TOKEN, { block: false })) as Job | undefined;
    if (job) jobs.push(job);
  }
  return jobs;
}

/** The first job is in work on either side; the one that BullMQ fetched. */
async function fetchFirst({ worker, right }: Awaited<ReturnType<typeof startLines>>): Promise<Job | undefined> {
  const [job] = await fetchByBullmq(worker, 1);
  await take(right, 1);
  return job;
}

/** All but the mark that wakes whoever waits: BullMQ leaves it with every job that it fetches. */
async function readLine(redis: RedisClient, side: Side) {
  const { marker, ...line } = await readQueue(redis, side);
  return { line, marker };
}

test.each([1, 2, 3, 4])('after %i fetches the line is what BullMQ would have left', async (count) => {
  await using lines = await startLines();
  const { redis, left, right, worker } = lines;
  const fetched = (await fetchByBullmq(worker, count)).map(({ id, name, attemptsStarted, attemptsMade }) => ({
    ...{ id, name, started: attemptsStarted, ended: attemptsMade },
  }));
  const taken = await take(right, count);
  expect(taken?.jobs.map(({ id, name, started, ended }) => ({ id, name, started, ended }))).toEqual(fetched);
  expect(taken?.jobs.map(({ id }) => id)).toEqual(IDS.slice(0, count));
  const expected = await readLine(redis, left);
  expect(Object.keys(expected.line)).toContain('active');
  expect((await readLine(redis, right)).line).toEqual(expected.line);
});

test('the mark stays as long as jobs wait, and leaves with the last', async () => {
  await using lines = await startLines();
  const { redis, right } = lines;
  expect(await take(right, 2)).toMatchObject({ isEmpty: false, nextAt: 0 });
  expect((await readLine(redis, right)).marker).toMatchObject({ value: '["0","0"]' });
  expect(await take(right, 2)).toMatchObject({ isEmpty: true, jobs: [{ id: IDS[2] }] });
  expect((await readLine(redis, right)).marker).toBeUndefined();
});

test('with a job comes all that its attempt needs, as it is at that moment', async () => {
  await using lines = await startLines();
  const { right } = lines;
  const taken = await take(right, 3);
  for (const { id, loaded } of taken?.jobs ?? []) {
    expect(loaded).toEqual(await right.deliveries.load(id));
    expect(loaded).toMatchObject({ kind: 'loaded', delivery: { id, event: EVENT } });
  }
});

test('a delivery that can’t be read comes without, and keeps nobody else’s from being taken', async () => {
  await using lines = await startLines();
  const { redis, right } = lines;
  await redis.del(right.keys.delivery(FIRST));
  await redis.set(right.keys.delivery(FIRST), 'of another type');
  const taken = await take(right, 3);
  expect(taken?.jobs.map(({ id, loaded }) => [id, loaded !== undefined])).toEqual(IDS.map((id) => [id, id !== FIRST]));
});

test.each<{ what: string; prepare: (side: Side, redis: RedisClient) => Promise<unknown> }>([
  { what: 'a pause', prepare: ({ bullmq }) => bullmq.pause() },
  { what: 'a limit of jobs in work', prepare: ({ bullmq }) => bullmq.setGlobalConcurrency(2) },
  { what: 'a limited rate', prepare: ({ bullmq }) => bullmq.setGlobalRateLimit(1, 60_000) },
  { what: 'a job with a priority', prepare: ({ bullmq }) => bullmq.add(EVENT, {}, { priority: 1 }) },
  {
    what: 'a job with a priority whose time has come',
    prepare: async ({ bullmq }) => {
      await bullmq.add(EVENT, {}, { delay: 1, priority: 1 });
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
  },
])('$what is left to BullMQ, and nothing is changed', async ({ prepare }) => {
  await using lines = await startLines();
  const { redis, right } = lines;
  await prepare(right, redis);
  const before = await readQueue(redis, right);
  expect(await take(right, 3)).toBeUndefined();
  expect(await readQueue(redis, right)).toEqual(before);
});

test.each([1, 4, 9])(
  'delayed jobs that are due wait in line behind the others, as BullMQ has it: %i fetches',
  async (count) => {
    await using lines = await startLines();
    const { redis, left, right, worker } = lines;
    const timestamp = Date.now() - 10;
    for (const { bullmq } of [left, right]) {
      for (const [jobId, delay] of [
        ['second', 2],
        ['first', 1],
        ['later', 60_000],
      ] as const)
        await bullmq.add(EVENT, {}, { jobId, delay, timestamp });
    }
    const fetched = (await fetchByBullmq(worker, count)).map(({ id }) => id);
    expect(fetched).toEqual([...IDS, 'first', 'second'].slice(0, count));
    const taken = await take(right, count);
    expect(taken?.jobs.map(({ id }) => id)).toEqual(fetched);
    expect(taken?.nextAt).toBe(timestamp + 60_000);
    expect((await readLine(redis, right)).line).toEqual((await readLine(redis, left)).line);
  },
);

test('however many are due, a take lets no more than a hundred of them wait in line, and says that there are more', async () => {
  await using lines = await startLines();
  const { right } = lines;
  const timestamp = Date.now() - 10;
  await right.bullmq.addBulk(
    Array.from({ length: 250 }, () => ({ name: EVENT, data: {}, opts: { delay: 1, timestamp } })),
  );
  expect(await take(right, 200)).toMatchObject({ isEmpty: true, nextAt: timestamp + 1 });
  expect(await right.bullmq.getDelayedCount()).toBe(150);
});

test('when the line is empty it says when the next delayed job is due', async () => {
  await using lines = await startLines();
  const { right } = lines;
  const addedAt = Date.now();
  await right.bullmq.add(EVENT, {}, { delay: 60_000, timestamp: addedAt });
  expect(await take(right, 9)).toMatchObject({ isEmpty: true, nextAt: addedAt + 60_000 });
});

describe('a job that ends with the record of its attempt', () => {
  async function record({ deliveries }: Side, id: DeliveryId, token: string) {
    const loaded = await deliveries.load(id);
    if (loaded.kind !== 'loaded') throw new Error('it was accepted');
    const { delivery, destination } = loaded;
    return await deliveries.record({
      ...{ delivery, destination, verdict: { kind: 'delivered' }, attempt: { at: 1, durationMs: 2 }, now: Date.now() },
      ...{ answered: true, gone: false, isProbe: false, wasOwed: false },
      place: { kind: 'job', queue: 'deliveries', token },
    });
  }

  test.each(['', 'that was looked at for stalled ones'])(
    'leaves what BullMQ would have left of it %s',
    async (stalled) => {
      await using lines = await startLines();
      const { redis, left, right } = lines;
      const job = await fetchFirst(lines);
      for (const { keys } of [left, right])
        if (stalled) await redis.sadd(`${keys.bullPrefix}:deliveries:stalled`, FIRST, 'another');
      await job?.moveToCompleted(undefined, TOKEN, false);
      expect(await record(right, FIRST, TOKEN)).toMatchObject({ kind: 'recorded', hasLeft: true });
      const expected = await readLine(redis, left);
      expect(Object.keys(expected.line)).not.toContain(FIRST);
      expect((await readLine(redis, right)).line).toEqual(expected.line);
    },
  );

  test('stays when another worker has taken it up, or it waits to be', async () => {
    await using lines = await startLines();
    const { redis, right } = lines;
    await take(right, 1);
    const before = await readQueue(redis, right);
    expect(await record(right, FIRST, 'of another')).not.toHaveProperty('hasLeft');
    expect(await record(right, IDS[1] ?? '', TOKEN)).not.toHaveProperty('hasLeft');
    expect(await readQueue(redis, right)).toEqual(before);
  });

  test('has ended, however often the record is sent', async () => {
    await using lines = await startLines();
    const { right } = lines;
    await take(right, 1);
    await record(right, FIRST, TOKEN);
    expect(await record(right, FIRST, TOKEN)).toMatchObject({ hasLeft: true });
  });

  test('stays while a redelivery is owed', async () => {
    await using lines = await startLines();
    const { redis, right } = lines;
    await take(right, 1);
    await redis.hset(right.keys.delivery(FIRST), 'owe', 1);
    const before = await readQueue(redis, right);
    expect(await record(right, FIRST, TOKEN)).toMatchObject({ kind: 'recorded', owedAttempts: 1 });
    expect(await readQueue(redis, right)).toEqual(before);
  });
});

test.each([false, true])(
  'a job whose delivery goes to the backlog leaves with that step (urgent: %s)',
  async (urgent) => {
    await using lines = await startLines();
    const { redis, left, right } = lines;
    const job = await fetchFirst(lines);
    await job?.moveToCompleted(undefined, TOKEN, false);
    const put = (id: string, token: string) =>
      right.backlog.put(id, 'a', Date.now(), urgent, { kind: 'job', queue: 'deliveries', token });
    expect(await put(FIRST, 'of another')).toBe(false);
    expect(await right.bullmq.getActiveCount()).toBe(1);
    expect(await put(FIRST, TOKEN)).toBe(true);
    expect(await put(FIRST, TOKEN)).toBe(true); // sent again
    expect((await readLine(redis, right)).line).toEqual((await readLine(redis, left)).line);
    expect(await redis.zrange(right.keys.backlog('a'), 0, '-1')).toEqual([FIRST]);
  },
);
