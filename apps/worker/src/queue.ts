import { OwnFaultError } from '@herald/egress/egress-errors';
import { createGroupBackend } from '@herald/queue/group-backend';
import type { Logger } from '@herald/runtime/log';
import type { Clock } from '@herald/store/redis/clock';
import type { LoadReply } from '@herald/store/deliveries/delivery-record';
import { createDeliveryQueueScripts } from '@herald/store/deliveries/delivery-scripts';
import { isTestGroup } from '@herald/store/keys/groups';
import type { ShardKeys } from '@herald/store/keys/keys';
import { BLOCK_LIMIT_MS, type RedisClient } from '@herald/store/redis/connect-redis';
import { defineScript } from '@herald/store/redis/script';
import { Worker } from 'bullmq';
import type { DeliveryTurn, ProcessVerdict } from './deliver.ts';
import type { InternalErrorMetrics } from './metrics.ts';

export type DeliveryQueueDeps = {
  readonly redis: RedisClient;
  /** A connection of its own, on which a command blocks. */
  readonly waitRedis: RedisClient;
  readonly keys: ShardKeys;
  readonly concurrency: number;
  /** Deliveries of one group that may be in work, over all workers. */
  readonly groupLimit: number;
  readonly process: (turn: DeliveryTurn, isTest: boolean) => Promise<ProcessVerdict>;
  readonly metrics: Pick<InternalErrorMetrics, 'internalError' | 'queueFailed' | 'jobStalled'>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: () => number;
};

// Another worker has a killed worker's deliveries after lease and recovery have passed: at most 20 + 5 s.
const LEASE_MS = 20_000;
const RECOVERY_EVERY_MS = 5_000;
const FETCH_RETRY_MS = 1_000;
const QUEUE = 'deliveries';

/** Serves one shard's queue with BullMQ's worker. */
export function startDeliveryQueue(deps: DeliveryQueueDeps) {
  const { process, metrics, logger } = deps;
  const backend = createBackend(deps);
  let inWork = 0;
  let idle = Promise.withResolvers<undefined>();

  const attempt = async (token: string): Promise<void> => {
    const { id, handle, group, isProbe, loaded } = backend.reservationOf(token);
    try {
      const turn = { id, lease: handle, isProbe, loaded: loaded as LoadReply | undefined };
      const verdict = await process(turn, isTestGroup(group));
      if (verdict.kind === 'recorded') backend.ended(token, verdict.end);
      if (verdict.kind === 'put_back') await backend.putBack(token, verdict.dueAt ?? 0);
    } catch (error) {
      // The delivery is not at fault: it waits and is tried again. Of the way out all is told where it is watched.
      if (error instanceof OwnFaultError) throw error;
      metrics.internalError();
      logger.error('delivery.internal_error', { deliveryId: id }, error);
      throw error;
    }
  };
  const worker = new Worker(
    QUEUE,
    async (_job, token = '') => {
      if (inWork === 0) idle = Promise.withResolvers();
      inWork++;
      try {
        await attempt(token);
      } finally {
        inWork--;
        if (inWork === 0) idle.resolve(undefined);
      }
    },
    {
      connection: {},
      concurrency: backend.workerConcurrency,
      skipLockRenewal: true,
      stalledInterval: RECOVERY_EVERY_MS,
      drainDelay: BLOCK_LIMIT_MS / 1_000,
      runRetryDelay: FETCH_RETRY_MS,
    },
    () => backend,
  );
  worker.on('error', (error) => {
    metrics.queueFailed();
    logger.warn('queue.error', { queue: QUEUE }, error);
  });
  worker.on('stalled', (id) => {
    metrics.jobStalled();
    logger.warn('queue.job_stalled', { queue: QUEUE, deliveryId: id });
  });
  let isStopping = false;
  return {
    inWork: backend.inWork,
    /** Reserves nothing until `resume`, and gives back what was not started. The jobs in work go on. */
    hold: (): void => {
      void worker.pause(true);
      backend.hold().catch((error: unknown) => worker.emit('error', error as Error));
    },
    resume: (): void => {
      if (isStopping) return;
      backend.resume();
      void worker.resume();
    },
    /** Reserves nothing new, and waits for the jobs in work. Waits for a Redis that is away until its connections close. */
    async stop(): Promise<void> {
      isStopping = true;
      await worker.close();
      // BullMQ itself waits for no job when its own connection breaks at this moment.
      if (inWork > 0) await idle.promise;
      backend.letGo();
    },
  };
}

function createBackend(deps: DeliveryQueueDeps) {
  const { redis, waitRedis, keys, concurrency, groupLimit, clock, random } = deps;
  return createGroupBackend({
    prefix: keys.prefix,
    defineScript: (_name, lua) => defineScript(redis, lua),
    waitConnection: {
      bzpopmin: (names, seconds) => waitRedis.bzpopmin(names, seconds),
      disconnect: () => {
        waitRedis.disconnect();
      },
      connect: async () => {
        // Until then it reconnects by itself.
        if (waitRedis.status === 'end') await waitRedis.connect();
      },
    },
    commands: { zadd: (key, score, member) => redis.zadd(key, score, member) },
    ...createDeliveryQueueScripts(),
    concurrency,
    groupLimit,
    leaseMs: LEASE_MS,
    blockLimitMs: BLOCK_LIMIT_MS,
    errorDelayMs: (errors) => internalErrorDelayMs(errors, random()),
    now: clock.now,
  });
}

const FIRST_MS = 500;
const LIMIT_MS = 60_000;

/**
 * How long a job waits after an internal error, in ms. The limit doubles from half a second to a minute, and the wait is a
 * random part of its upper half. It spends no try of the receiver's schedule.
 * @param errors errors in a row, this one included
 * @param random uniform in [0, 1)
 */
export function internalErrorDelayMs(errors: number, random: number): number {
  const limit = Math.min(FIRST_MS * 2 ** Math.min(errors - 1, 10), LIMIT_MS);
  return Math.round(limit * (0.5 + random / 2));
}
