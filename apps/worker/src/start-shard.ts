import { createRetryPolicy, type DeliveryId } from '@herald/core';
import {
  createBacklogStore,
  createDeliveryQueue,
  createDeliveryRetention,
  createDeliveryStore,
  createDutyStore,
  createKeyspace,
  createPurgeStore,
  createReplaySteps,
  createTakeJobs,
  createTestEventStore,
  publishTestReply,
  UNSERVED_AFTER_MS,
  type Clock,
  type Logger,
  type RedisClient,
  type Resources,
  type ShardKeys,
  type WorkerConfig,
} from '@herald/infra';
import type { WorkerMetrics } from './metrics/create-worker-metrics.ts';
import type { DeliveryReport } from './deliveries/create-delivery-report.ts';
import type { MakeAttempt } from './deliveries/make-attempt.ts';
import { processFromBacklog, processFromLine, type ProcessDeliveryDeps } from './deliveries/process-delivery.ts';
import { createBacklogRunner, type BacklogRunner } from './isolation/backlog-runner.ts';
import { createDestinationGate } from './isolation/destination-gate.ts';
import { startDeliveryWorker } from './queue/start-delivery-worker.ts';
import { startWatchedLine } from './queue/start-watched-line.ts';
import { startSweeper } from './sweeper/start-sweeper.ts';
import { feedReplays } from './sweeper/feed-replays.ts';
import { sweepBacklogs } from './sweeper/sweep-backlogs.ts';
import { sweepPurges } from './sweeper/sweep-purges.ts';
import { auditOpen, sweepOwed } from './sweeper/sweep-duties.ts';
import { processTestEvent } from './test-events/process-test-event.ts';

const SWEEP_EVERY_MS = 1_000;
const WATCH_EVERY_MS = 5_000;
const HUNG_AFTER_MS = 30_000;
const FEED_EVERY_MS = 250;
const TEST_LANE_CONCURRENCY = 50;
/** On top of the delivery deadline: reading and recording, in ms. */
const LEASE_SLACK_MS = 5_000;

export type Shard = {
  readonly keys: ShardKeys;
  readonly config: WorkerConfig;
  readonly logger: Logger;
  readonly redis: RedisClient;
  readonly queueRedis: RedisClient;
  readonly clock: Clock;
  readonly makeAttempt: MakeAttempt;
  readonly report: DeliveryReport;
  readonly metrics: WorkerMetrics;
  /** Ends the process, because it can't recover. */
  readonly giveUp: () => void;
  /** Cuts off what is in flight. */
  readonly cutOff: AbortSignal;
};

export type RunningShard = {
  readonly inFlight: () => number;
  /** Takes nothing new and waits for what is in flight. */
  readonly drain: () => Promise<void>;
};

/** Starts what serves one shard: its line, its backlogs, its test lane and its sweeper. */
export function startShard(resources: Resources, shard: Shard): RunningShard {
  const { keys, config, logger, redis, queueRedis, clock, makeAttempt, report, metrics, cutOff } = shard;
  const { now } = clock;
  const random = Math.random;
  const retention = createDeliveryRetention(config.retentionMs);
  const deliveries = createDeliveryStore({ redis, keys, retention });
  const queue = createDeliveryQueue({ redis: queueRedis, keys, name: 'deliveries' });
  resources.add('queue', queue.close);
  const backlog = createBacklogStore({ redis, keys });

  const gate = createDestinationGate(
    { concurrency: config.concurrency, share: config.destinationConcurrency, now: () => performance.now() },
    (destination) => {
      runner.poke(destination);
    },
  );
  let stopping = false;
  const process: ProcessDeliveryDeps = {
    ...{ deliveries, gate, makeAttempt, report, now, random, disableAfterMs: config.disableAfterMs },
    putInBacklog: (id, destination, urgent, place) => backlog.put(id, destination, now(), urgent, place),
    pokeBacklog: (destination) => {
      runner.poke(destination);
    },
    retryPolicy: createRetryPolicy(config.retryScheduleMs),
    isStopping: () => stopping,
  };
  const runner: BacklogRunner = createBacklogRunner({
    ...{ gate, backlog, metrics: metrics.upkeep, logger, now },
    leaseMs: config.deliveryTimeoutMs + LEASE_SLACK_MS,
    attempt: async (turn) => {
      const { id, destination, isProbe } = turn;
      const { verdict, end } = await processFromBacklog(process, turn, cutOff);
      // First its place in the line, then out of the backlog: a crash in between leaves it in both, which is harmless.
      if (verdict.kind === 'wait') await queue.add([{ id, event: verdict.event, dueAt: verdict.until }], now());
      if (verdict.kind === 'put_back') await backlog.putBack(id, destination, now());
      else if (verdict.kind === 'wait' || verdict.hasLeft !== true) await backlog.leave(id, destination, now());
      // Without this, a backlog of canceled deliveries would take one lease for each of them.
      if (isProbe && end === 'unsent') await backlog.releaseProbe(destination, now());
      return end;
    },
  });

  const lane = {
    redis: queueRedis,
    keys,
    deadlineMs: config.deliveryTimeoutMs,
    metrics: metrics.upkeep,
    logger,
    clock,
    random,
  };
  // Over another connection than the line's own: that may be what hangs.
  const watch = createDeliveryQueue({ redis, keys, name: 'deliveries' });
  resources.add('watch', watch.close);
  const takeFromLine = createTakeJobs({ redis: queueRedis, keys, queue: 'deliveries' });
  const line = startWatchedLine({
    start: () =>
      startDeliveryWorker({
        ...lane,
        queue: 'deliveries',
        concurrency: config.concurrency,
        take: takeFromLine,
        process: (id, turn) => processFromLine(process, id, cutOff, turn),
      }),
    countDue: () => watch.countDue(now()),
    ...{ giveUp: shard.giveUp, everyMs: WATCH_EVERY_MS, hungAfterMs: HUNG_AFTER_MS },
    ...{ metrics: metrics.upkeep, logger, now: () => performance.now() },
  });
  const testEvents = createTestEventStore({ redis, keyspace: createKeyspace(config.shardCount), retention });
  const testLane = startDeliveryWorker({
    ...lane,
    queue: 'tests',
    concurrency: TEST_LANE_CONCURRENCY,
    take: createTakeJobs({ redis: queueRedis, keys, queue: 'tests' }),
    process: (id, { loaded }) =>
      processTestEvent(
        {
          ...{ deliveries, makeAttempt, report, now, deadlineMs: config.deliveryTimeoutMs, claim: testEvents.claim },
          reply: (deliveryId, reply) => publishTestReply(redis, deliveryId, reply),
        },
        id,
        cutOff,
        loaded,
      ),
  });

  const purges = createPurgeStore({ redis, keys, retention });
  const sweep = {
    ...{ duties: createDutyStore({ redis, keys }), queue, metrics: metrics.upkeep, logger, now },
    cancelUnsentTest: async (id: DeliveryId) => {
      report.ended({ id }, 'canceled', 'not_sent_in_time', await deliveries.cancel(id, 'not_sent_in_time', now()));
    },
  };
  const sweeper = startSweeper({
    sweeps: [
      () => sweepOwed(sweep),
      () => sweepBacklogs({ backlog, poke: runner.poke, unservedAfterMs: UNSERVED_AFTER_MS, now }),
      () => sweepPurges({ purges, queue, reportPurged: report.purged, logger, now }),
      () => auditOpen(sweep),
    ],
    everyMs: SWEEP_EVERY_MS,
    metrics: metrics.upkeep,
    logger,
    random,
  });
  resources.add('sweeper', sweeper.stop);
  const replays = createReplaySteps({ redis, keys, keepMs: config.retentionMs });
  const feeder = startSweeper({
    sweeps: [() => feedReplays({ replays, reportReplayed: metrics.deliveries.replayed, now })],
    everyMs: FEED_EVERY_MS,
    metrics: metrics.upkeep,
    logger,
    random,
  });
  resources.add('feeder', feeder.stop);
  return {
    inFlight: gate.inFlight,
    drain: async () => {
      stopping = true;
      // The sweeps too: what they claim from now on, this worker would no longer serve.
      await Promise.all([line.stop(), testLane.stop(), runner.stop(), sweeper.stop(), feeder.stop()]);
    },
  };
}
