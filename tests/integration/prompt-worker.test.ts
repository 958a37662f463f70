import { closeRedis, connectRedis, createKeyspace, createTakeJobs, type RedisClient } from '@herald/infra';
import { startRedis, waitFor, type RunningRedis } from '@herald/test-kit';
import { Queue, type Job, type Processor } from 'bullmq';
import { JOB_ENDED, PromptWorker } from '../../apps/worker/src/queue/prompt-worker.ts';
import { RIGHT_CLOCK } from '../support/right-clock.ts';

const QUEUE = 'deliveries';
const [
  KEYS = (() => {
    throw new Error('a keyspace has a shard');
  })(),
] = createKeyspace(1).shards;

async function connect(server: RunningRedis, stack: AsyncDisposableStack): Promise<RedisClient> {
  const redis = await connectRedis({
    ...{ target: { kind: 'single', url: server.url }, use: 'background', name: 'test' },
    onError: () => undefined,
  });
  stack.defer(() => closeRedis(redis));
  return redis;
}

/** `count` jobs wait; nobody works on them yet. */
async function startQueue(count: number) {
  await using cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await startRedis());
  const connection = await connect(server, cleanUp);
  const take = createTakeJobs({ redis: connection, keys: KEYS, queue: QUEUE });
  const queue = new Queue(QUEUE, { connection, prefix: KEYS.bullPrefix });
  queue.on('error', () => undefined); // while its server is away
  cleanUp.defer(() => queue.close());
  const add = (names: readonly string[]) =>
    queue.addBulk(names.map((name) => ({ name, data: {}, opts: { jobId: `job-${name}` } })));
  await add(Array.from({ length: count }, (_, index) => String(index)));
  const startWorker = (processor: Processor, concurrency = 100) =>
    new PromptWorker(QUEUE, processor, take, RIGHT_CLOCK, {
      ...{ connection, prefix: KEYS.bullPrefix, concurrency, runRetryDelay: 50 },
      ...{ removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
    });
  const stack = cleanUp.move();
  return { queue, redis: connection, server, add, startWorker, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('jobs that are fetched together start at once, and wait for no others', async () => {
  const count = 60;
  await using line = await startQueue(count);
  const steps: string[] = [];
  const worker = line.startWorker(async (job: Job) => {
    steps.push(`start ${job.name}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
  worker.on('active', (job) => steps.push(`fetch ${job.name}`));
  await waitFor('all to be done', async () => (await line.queue.count()) === 0 && steps.length === 2 * count);
  await worker.close();
  const ten = Array.from({ length: 10 }, (_, index) => index);
  expect(steps.slice(0, 20)).toEqual([
    ...ten.map((index) => `fetch ${index}`),
    ...ten.map((index) => `start ${index}`),
  ]);
  // At most four fetches of ten are under way.
  const tooLate = Array.from({ length: count - 50 }, (_, index) => index).filter(
    (index) => steps.indexOf(`start ${index}`) > steps.indexOf(`fetch ${index + 50}`),
  );
  expect(tooLate).toEqual([]);
});

test('one at a time where there is room for one', async () => {
  await using line = await startQueue(5);
  const steps: string[] = [];
  const worker = line.startWorker(async (job: Job) => {
    steps.push(`start ${job.name}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    steps.push(`end ${job.name}`);
  }, 1);
  await waitFor('all to be done', () => steps.length === 10);
  await worker.close();
  expect(steps).toEqual(Array.from({ length: 5 }, (_, index) => [`start ${index}`, `end ${index}`]).flat());
});

test('a delayed job starts when it is due, though the line is empty', async () => {
  await using line = await startQueue(1);
  const startedAt = new Map<string, number>();
  const worker = line.startWorker((job: Job) => {
    startedAt.set(job.name, Date.now());
    return Promise.resolve();
  });
  const addedAt = Date.now();
  await line.queue.add('later', {}, { delay: 400, timestamp: addedAt });
  await line.add(['now']);
  await waitFor('both', () => startedAt.has('later') && startedAt.has('now'));
  await worker.close();
  expect((startedAt.get('later') ?? 0) - addedAt).toBeGreaterThanOrEqual(399);
  expect((startedAt.get('later') ?? 0) - addedAt).toBeLessThan(3_000); // BullMQ alone looks every five seconds
});

test('a job that has left the line already is not ended once more', async () => {
  await using line = await startQueue(0);
  const errors: Error[] = [];
  let done = 0;
  const worker = line.startWorker(async (job: Job) => {
    await line.queue.getJob(job.id ?? '');
    done++;
    return JOB_ENDED;
  });
  worker.on('error', (error) => errors.push(error));
  worker.on('completed', (job) => errors.push(new Error(`${job.name} was ended`)));
  await line.add(['left']);
  await waitFor('it', () => done === 1);
  await worker.close();
  expect(errors).toEqual([]);
  expect(await line.queue.getActiveCount()).toBe(1); // nobody ended it
});

test('a job that outlived too many workers fails unseen', async () => {
  await using line = await startQueue(1);
  await line.redis.hset(line.queue.toKey('job-0'), 'defa', 'stalled too often');
  const seen: string[] = [];
  const worker = line.startWorker((job: Job) => {
    seen.push(job.name);
    return Promise.resolve();
  });
  const failed = new Promise<string>((resolve) => {
    worker.on('failed', (_job, { message }) => {
      resolve(message);
    });
  });
  expect(await failed).toBe('stalled too often');
  await worker.close();
  expect(seen).toEqual([]);
  expect(await line.queue.getJobCounts('waiting', 'active', 'failed')).toEqual({ waiting: 0, active: 0, failed: 0 });
});

test.each<{ what: string; limit: (queue: Queue) => Promise<unknown>; lift: (queue: Queue) => Promise<unknown> }>([
  { what: 'paused', limit: (queue) => queue.pause(), lift: (queue) => queue.resume() },
  {
    what: 'limited to one job in work',
    limit: (queue) => queue.setGlobalConcurrency(1),
    lift: (queue) => queue.removeGlobalConcurrency(),
  },
])('a queue that is $what stays so, until it no longer is', async ({ what, limit, lift }) => {
  await using line = await startQueue(20);
  await limit(line.queue);
  const held = Promise.withResolvers<undefined>();
  const started: string[] = [];
  const worker = line.startWorker(async (job: Job) => {
    started.push(job.name);
    await held.promise;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(started).toHaveLength(what === 'paused' ? 0 : 1);
  await lift(line.queue);
  await waitFor('all to start', () => started.length === 20);
  held.resolve(undefined);
  await worker.close();
});

test('in a queue with a limit each job that ends lets the next one start', async () => {
  await using line = await startQueue(6);
  await line.queue.setGlobalConcurrency(1);
  let done = 0;
  const startedAt = performance.now();
  const worker = line.startWorker(() => {
    done++;
    return Promise.resolve();
  });
  await waitFor('all to be done', () => done === 6);
  await worker.close();
  expect(performance.now() - startedAt).toBeLessThan(4_000); // what waits for jobs looks every five seconds
});

test('no more jobs are in work than its concurrency, and each is worked on once', async () => {
  await using line = await startQueue(50);
  const done: string[] = [];
  let inWork = 0;
  let most = 0;
  const worker = line.startWorker(async (job: Job) => {
    most = Math.max(most, ++inWork);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inWork--;
    done.push(job.name);
  }, 4);
  await waitFor('all to be done', () => done.length === 50);
  await line.add(['late']);
  await waitFor('the late one', () => done.includes('late'));
  await worker.close();
  expect(most).toBe(4);
  expect(new Set(done).size).toBe(51);
  expect(done).toHaveLength(51);
});

test('close waits for what is in work, and leaves the rest in line', async () => {
  await using line = await startQueue(10);
  const held = Promise.withResolvers<undefined>();
  const done: string[] = [];
  const worker = line.startWorker(async (job: Job) => {
    await held.promise;
    done.push(job.name);
  }, 2);
  await waitFor('two in work', async () => (await line.queue.getActiveCount()) === 2);
  const closed = worker.close();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(done).toEqual([]);
  held.resolve(undefined);
  await closed;
  expect(done.sort()).toEqual(['0', '1']);
  expect(await line.queue.getJobCounts('waiting', 'active')).toEqual({ waiting: 8, active: 0 });
});

test('close ends at once where nothing is in work', async () => {
  await using line = await startQueue(0);
  const worker = line.startWorker(() => Promise.resolve());
  await worker.waitUntilReady();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await worker.close();
  expect(worker.isRunning()).toBe(false);
});

test('a Redis that was away and comes back finds it at work', async () => {
  await using line = await startQueue(0);
  const done: string[] = [];
  const worker = line.startWorker((job: Job) => {
    done.push(job.name);
    return Promise.resolve();
  });
  worker.on('error', () => undefined);
  await worker.waitUntilReady();
  await line.add(['before']);
  await waitFor('the first', () => done.includes('before'));
  await line.server.kill();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await line.server.restart();
  await waitFor('the second', async () => {
    await line.add(['after']).catch(() => undefined);
    return done.includes('after');
  });
  await worker.close();
  expect(done.slice(0, 2)).toEqual(['before', 'after']);
}, 30_000);

test('a limited rate does not keep the process from everything else', async () => {
  await using line = await startQueue(20);
  await line.queue.setGlobalRateLimit(1, 2_000);
  let done = 0;
  let turns = 0;
  const worker = line.startWorker(() => {
    done++;
    return Promise.resolve();
  });
  await waitFor('the first', () => done === 1);
  const until = performance.now() + 300;
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    turns++;
  }
  await worker.close();
  expect(turns).toBeGreaterThan(10);
  expect(done).toBeLessThan(20);
});
