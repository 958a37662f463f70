import { closeRedis, connectRedis, type RedisClient } from '@herald/infra';
import { startRedis, waitFor, type RunningRedis } from '@herald/test-kit';
import { Queue, type Job, type Processor } from 'bullmq';
import { PromptWorker } from '../../apps/worker/src/queue/prompt-worker.ts';

const QUEUE = 'prompt';

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
  const queue = new Queue(QUEUE, { connection });
  queue.on('error', () => undefined); // while its server is away
  cleanUp.defer(() => queue.close());
  const add = (names: readonly string[]) =>
    queue.addBulk(names.map((name) => ({ name, data: {}, opts: { jobId: `job-${name}` } })));
  await add(Array.from({ length: count }, (_, index) => String(index)));
  const startWorker = (processor: Processor, concurrency = 100) =>
    new PromptWorker(QUEUE, processor, {
      ...{ connection, concurrency, runRetryDelay: 50 },
      ...{ removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
    });
  const stack = cleanUp.move();
  return { queue, server, add, startWorker, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a job starts when it is fetched, and waits for no others', async () => {
  const count = 30;
  await using line = await startQueue(count);
  const steps: string[] = [];
  const worker = line.startWorker(async (job: Job) => {
    steps.push(`start ${job.name}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
  worker.on('active', (job) => steps.push(`fetch ${job.name}`));
  await waitFor('all to be done', async () => (await line.queue.count()) === 0 && steps.length === 2 * count);
  await worker.close();
  expect(steps.slice(0, 2)).toEqual(['fetch 0', 'start 0']);
  // At most eight fetches are under way.
  const tooLate = Array.from({ length: count - 9 }, (_, index) => index).filter(
    (index) => steps.indexOf(`start ${index}`) > steps.indexOf(`fetch ${index + 9}`),
  );
  expect(tooLate).toEqual([]);
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
