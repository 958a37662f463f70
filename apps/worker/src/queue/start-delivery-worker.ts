import type { DeliveryId } from '@herald/core';
import { answerWithin } from '@herald/infra';
import type { Clock, Logger, QueueName, RedisClient, ShardKeys, TakeJobs, UpkeepMetrics } from '@herald/infra';
import { DelayedError, WaitingError, type Job } from 'bullmq';
import type { LineTurn, ProcessVerdict } from '../deliveries/process-delivery.ts';
import { ownFaultDelayMs } from './backoff-of-own-faults.ts';
import { JOB_ENDED, PromptWorker } from './prompt-worker.ts';
import { putBack } from './put-back.ts';

export type DeliveryWorkerDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly queue: QueueName;
  readonly concurrency: number;
  /** The longest that one job can take, in ms. */
  readonly deadlineMs: number;
  readonly take: TakeJobs;
  readonly process: (id: DeliveryId, turn: LineTurn) => Promise<ProcessVerdict>;
  readonly metrics: Pick<UpkeepMetrics, 'ownFault' | 'queueFailed' | 'jobStalled'>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: () => number;
};

type LineVerdict = Exclude<ProcessVerdict, { kind: 'wait' }> | { readonly kind: 'wait'; readonly until: number };

export type DeliveryWorker = {
  /** Takes no new jobs and waits for those in work. */
  readonly stop: () => Promise<void>;
  /** Gives up: whatever is in work is left to its lock's end. */
  readonly abandon: () => Promise<void>;
  /** Jobs in work, and when one was last fetched, as `performance.now()`. */
  readonly activity: () => { readonly inWork: number; readonly lastFetchAt: number };
};

// A killed worker's job is taken up again after lock and check have passed: at most 20 + 5 s.
const LOCK_MS = 20_000;
const STALLED_CHECK_MS = 5_000;
/** BullMQ fails a job for good after so many deaths of its worker; the sweeper would bring it back even then. */
const STALLED_LIMIT = 20;
const FETCH_RETRY_MS = 1_000;
/** How long BullMQ may take to let go of its connections once no job is in work, in ms: after a failover it can wait for ever. */
const LET_GO_MS = 3_000;

/** The line of one shard: turns verdicts into BullMQ's control flow, and nothing else does. */
export function startDeliveryWorker(deps: DeliveryWorkerDeps): DeliveryWorker {
  const { redis, keys, queue, take, concurrency, deadlineMs, metrics, logger, clock, random } = deps;
  const { now } = clock;
  let inWork = 0;
  let lastFetchAt = performance.now();
  let idle = Promise.withResolvers<undefined>();

  const processJob = async (job: Job, token = ''): Promise<typeof JOB_ENDED | undefined> => {
    lastFetchAt = performance.now();
    inWork++;
    try {
      const verdict = await attempt(job, token);
      if (verdict.kind === 'wait' && verdict.until > now()) {
        const { until } = verdict;
        // BullMQ looks at this machine's clock.
        await putBack(() => job.moveToDelayed(until + clock.skewMs(), token));
        throw new DelayedError();
      }
      if (verdict.kind !== 'finished') {
        await putBack(async () => {
          await job.moveToWait(token);
        });
        throw new WaitingError();
      }
      return verdict.hasLeft === true ? JOB_ENDED : undefined;
    } finally {
      inWork--;
      if (inWork === 0) idle.resolve(undefined);
    }
  };

  /** Our own faults don't fail a job: it waits and comes again. */
  const attempt = async (job: Job, token: string): Promise<LineVerdict> => {
    const { id } = job;
    if (id === undefined) throw new Error('a job in process has an id');
    try {
      return await deps.process(id, { place: { kind: 'job', queue, token }, loaded: worker.loadedOf(job) });
    } catch (error) {
      const delayMs = ownFaultDelayMs(job.attemptsStarted, random());
      metrics.ownFault('delivery');
      logger.error('delivery.own_fault', { deliveryId: id, retryInMs: delayMs }, error);
      return { kind: 'wait', until: now() + delayMs };
    }
  };

  const worker = new PromptWorker(queue, processJob, take, clock, {
    connection: redis,
    prefix: keys.bullPrefix,
    concurrency,
    lockDuration: Math.max(LOCK_MS, deadlineMs + STALLED_CHECK_MS),
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: STALLED_LIMIT,
    // Finished jobs leave at once: the record decides, and the id can be added again.
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    runRetryDelay: FETCH_RETRY_MS,
  });
  worker.on('error', (error) => {
    metrics.queueFailed(queue);
    logger.warn('queue.error', { queue }, error);
  });
  worker.on('stalled', (id) => {
    metrics.jobStalled(queue);
    logger.warn('queue.job_stalled', { queue, deliveryId: id });
  });

  return {
    stop: async () => {
      const closed = worker.close();
      do {
        // Not left to BullMQ, which waits for no job when its own connection breaks at that moment.
        idle = Promise.withResolvers<undefined>();
        if (inWork > 0) await idle.promise;
        // A fetch that was under way may still have brought jobs.
        await answerWithin(LET_GO_MS, closed, () => {
          if (inWork === 0) logger.warn('queue.not_let_go', { queue });
        });
      } while (inWork > 0);
    },
    abandon: () => worker.close(true),
    activity: () => ({ inWork, lastFetchAt }),
  };
}
