import { createLogger } from '@herald/infra';
import { waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { PromptWorker } from '../../apps/worker/src/queue/prompt-worker.ts';
import { startDeliveryWorker } from '../../apps/worker/src/queue/start-delivery-worker.ts';
import { RIGHT_CLOCK } from '../support/right-clock.ts';
import { startQueues } from '../support/two-lines.ts';

/** BullMQ is done at once, as when its blocking connection breaks while it lets go of it. Whoever asks again and again is refused. */
function isDoneAtOnce(): Promise<void> {
  const closed = Promise.resolve();
  let asked = 0;
  const then = (...args: Parameters<typeof closed.then>) => {
    if (++asked > 100) throw new Error('a stop goes round and round');
    return Promise.prototype.then.apply(closed, args);
  };
  return Object.assign(closed, { then: then as typeof closed.then });
}

test('a stop waits for the jobs in work, also when BullMQ doesn’t', async () => {
  await using queues = await startQueues();
  await using cleanUp = new AsyncDisposableStack();
  const { redis, right } = queues;
  const { keys, take, bullmq } = right;
  const answer = Promise.withResolvers<undefined>();
  const line = startDeliveryWorker({
    ...{ redis, keys, take, queue: 'deliveries', concurrency: 1, deadlineMs: 1_000 },
    ...{ clock: RIGHT_CLOCK, random: Math.random },
    logger: createLogger({ level: 'error', process: 'test', readable: false }),
    metrics: { ownFault: () => undefined, queueFailed: () => undefined, jobStalled: () => undefined },
    process: async () => {
      await answer.promise;
      return { kind: 'finished', hasLeft: true };
    },
  });
  await bullmq.add('task.done', {}, { jobId: 'job' });
  await waitFor('the job to be in work', () => line.activity().inWork === 1);
  const { close } = PromptWorker.prototype;
  const workers: PromptWorker[] = [];
  PromptWorker.prototype.close = function (this: PromptWorker) {
    workers.push(this);
    return isDoneAtOnce();
  };
  cleanUp.defer(async () => {
    PromptWorker.prototype.close = close;
    for (const worker of workers) await worker.close();
  });
  let hasStopped = false;
  const stopped = line.stop().then(() => (hasStopped = true));
  await pause(50);
  expect(hasStopped).toBe(false);
  answer.resolve(undefined);
  await stopped;
  expect(line.activity().inWork).toBe(0);
});
