import { randomUUID } from 'node:crypto';
import type { WorkerConfig } from '@herald/config/worker-config';
import { createRetryPolicy } from '@herald/core';
import { answerWithin, oneAtATime } from '@herald/runtime/async';
import { everyBeat } from '@herald/runtime/beat';
import type { Finding } from '@herald/runtime/finding';
import { createResources, type RunningProcess } from '@herald/runtime/lifecycle';
import type { Logger } from '@herald/runtime/log';
import { createAuditFollower } from '@herald/store/access/audit-trail';
import { readSettledBacklog, findHistoryNotSet } from '@herald/store/lists/history-mark';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import type { Keyspace, ShardKeys } from '@herald/store/keys/keys';
import { createPurgeStore } from '@herald/store/bulk/purge-store';
import { createReadiness } from '@herald/store/operators/create-readiness';
import { addFindingGauge, createWaitingView } from '@herald/store/operators/exposition';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { createReplaySteps } from '@herald/store/bulk/replay-steps';
import { openWhenUsable } from '@herald/store/redis/open-when-usable';
import { PRESENCE_INTERVAL_MS, WAIT_CONNECTION } from '@herald/store/operators/create-service-state-reader';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { publishTestReply } from '@herald/store/test-events/test-replies';
import { openContext, type WorkerContext } from './context.ts';
import { processTestEvent, type ProcessTestEventDeps } from './deliver-test-event.ts';
import { processDelivery, type ProcessDeliveryDeps, type TurnDeps } from './deliver.ts';
import { findEgressProblem } from './egress.ts';
import { type HealthView, startHealthServer } from './health.ts';
import type { HistoryState } from './history.ts';
import { createReplayFeed, logEntries, runPurges, startMaintenance } from './maintenance.ts';
import { startMoving, startShortening, startTendingDays } from './move-to-history.ts';
import { startDeliveryQueue } from './queue.ts';

/** How long Redis may take to hear of the last sends, in ms. What still waits for it then is given up. */
const REDIS_LIMIT_MS = 2_000;

/**
 * Starts a worker process: its connections, one queue per shard, maintenance, its health page. While Redis can't be used
 * it waits, and that page says so.
 * @param signal aborted: it waits no longer
 */
export async function startWorker(
  config: WorkerConfig,
  logger: Logger,
  signal: AbortSignal,
  giveUp: () => void,
): Promise<RunningProcess> {
  const onFailure = (name: string, error: unknown) => {
    logger.error('process.release_failed', { name }, error);
  };
  const resources = createResources(onFailure);
  const page = createResources(onFailure);
  const release = async () => {
    await resources.release();
    await page.release();
  };
  const view = createWaitingView('worker');
  let health: Awaited<ReturnType<typeof startHealthServer>> | undefined;
  const showHealth = async (next: HealthView) => {
    if (health) health.show(next);
    else {
      health = await startHealthServer(config, next);
      page.add('health', health.close);
    }
    return health.port;
  };
  try {
    const context = await openWhenUsable({
      target: config.redis,
      minReplicas: 0,
      shardCount: config.shardCount,
      wallClock: Date.now,
      logger,
      signal,
      resources,
      async onWait(cause) {
        view.show(cause);
        await showHealth(view);
      },
      async open(weaknesses) {
        const opened = await openContext({ config, logger, resources, giveUp, weaknesses });
        startTendingDays(opened);
        startShortening(opened);
        await startShards(opened);
        return opened;
      },
    });
    if (!context) return { stop: release };
    const healthPort = await showHealth(createHealthView(context));
    resources.add('health', page.release);
    const workerId = await startPresence(context);
    logger.info('worker.started', {
      workerId,
      healthPort,
      shards: config.workerShards.join(','),
      secretsKeys: context.cipher.fingerprints.join(','),
    });
    return {
      stop: async () => {
        // What is under way may end by its own deadline. The rest is cut off: a send is put back, and no try is spent.
        const timers = [
          setTimeout(() => {
            context.cutOff.abort();
          }, config.deliveryTimeoutMs),
          setTimeout(context.connections.giveUp, config.deliveryTimeoutMs + REDIS_LIMIT_MS),
        ];
        await release();
        for (const timer of timers) clearTimeout(timer);
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

function createHealthView(context: WorkerContext): HealthView {
  const { clock, connections, egress, history, historyMark, presence, redis, queueRedis, shards, keyspace } = context;
  const readReadiness = createReadiness({
    redis,
    countWorkers: () => presence.count(clock.now()),
    isSilent: () => connections.isSilent(redis, queueRedis),
    skewMs: clock.skewMs,
    findWarnings: () =>
      history
        ? findHistoryProblems({ state: history.state, redis, keyspace })
        : findHistoryNotSet(historyMark).then((found) => (found ? [found] : [])),
    findProblem: () => shards.findProblem() ?? findEgressProblem(egress.gate, egress.proxy),
  });
  addFindingGauge(context.metrics.registry, readReadiness);
  return { readReadiness, exposition: context.exposition };
}

async function startShards(context: WorkerContext): Promise<void> {
  const { config, connections, egress, keyspace, metrics, resources } = context;
  const served: { readonly number: number; readonly keys: ShardKeys; readonly waitRedis: RedisClient }[] = [];
  for (const [number, keys] of keyspace.shards.entries()) {
    if (!config.workerShards.includes(number)) continue;
    served.push({ number, keys, waitRedis: await connections.open(WAIT_CONNECTION) });
  }
  const running = served.map(({ number, keys, waitRedis }) => {
    const shard = startShard(context, keys, waitRedis);
    metrics.attempts.watchInFlight(number, shard.inFlight);
    return shard;
  });
  // While nothing can go out from here, another worker may be able to, and the queue must not be busy.
  egress.watch((isOpen) => {
    for (const shard of running) {
      if (isOpen) shard.resume();
      else shard.hold();
    }
  });
  resources.add('queues', async () => {
    await Promise.all(running.map((shard) => shard.drain()));
  });
}

/** While there is something to purge: whoever was marked last waits for all before. */
const PURGE_EVERY_MS = 1;
const PURGE_AT_REST_MS = 1_000;
const FEED_EVERY_MS = 250;
/** While there is no replay. Four looks a second took 0.4 % of a processor. */
const FEED_AT_REST_MS = 1_000;
const LOG_TRAIL_EVERY_MS = 2_000;

/**
 * Starts the queue, the purges and the replays of one shard.
 * @param waitRedis a connection of this shard's own, on which a command blocks
 */
function startShard(context: WorkerContext, keys: ShardKeys, waitRedis: RedisClient) {
  const { config, logger, resources, metrics, redis, queueRedis, clock, keyspace, cutOff } = context;
  const { makeAttempt, onFailed, platform, report, now } = context;
  const random = Math.random;
  const retention = createDeliveryRetention(config.retentionMs, context.history !== undefined);
  let isStopping = false;
  const deliveries = createDeliveryStore({ redis, keys, retention });
  const groupLimit = config.destinationConcurrency;
  const turn: TurnDeps = { deliveries, makeAttempt, groupLimit, platform, report, now };
  const delivery: ProcessDeliveryDeps = {
    ...turn,
    retryPolicies: {
      usual: createRetryPolicy(config.retryScheduleMs),
      callbacks: createRetryPolicy(config.callbackRetryScheduleMs),
    },
    disableAfterMs: config.disableAfterMs,
    isStopping: () => isStopping,
    random,
  };
  const testEvent: ProcessTestEventDeps = {
    ...turn,
    claim: createTestEventStore({ redis, keyspace, retention }).claim,
    reply: (deliveryId, reply) => publishTestReply(redis, deliveryId, reply),
    deadlineMs: config.deliveryTimeoutMs,
  };
  const queue = startDeliveryQueue({
    redis: queueRedis,
    waitRedis,
    keys,
    concurrency: config.concurrency,
    groupLimit,
    process: (reserved, isTest) =>
      isTest
        ? processTestEvent(testEvent, reserved, cutOff.signal)
        : processDelivery(delivery, reserved, cutOff.signal),
    metrics: metrics.internalErrors,
    logger,
    clock,
    random,
  });

  const maintain = (name: string, everyMs: number, routine: () => Promise<unknown>, atRestMs = everyMs) => {
    const maintenance = startMaintenance({ routine, everyMs, atRestMs, onFailed, random });
    resources.add(name, maintenance.stop);
    return maintenance;
  };
  const purges = createPurgeStore({ redis, keys, retention });
  const purge = () => runPurges({ purges, reportPurged: report.purged, onFailed, logger, now });
  const purging = maintain('purging', PURGE_EVERY_MS, purge, PURGE_AT_REST_MS);
  const trail = createAuditFollower({ redis, keys });
  const logging = maintain('logging the audit trail', LOG_TRAIL_EVERY_MS, () => logEntries(trail, logger));
  const moving = startMoving(context, keys);
  resources.add('moving', moving.stop);
  const replays = createReplaySteps({
    redis,
    keys,
    keepMs: config.replayRetentionMs,
    ...context.ofRoom,
    history: context.history?.reader,
  });
  const feed = createReplayFeed({ replays, reportReplayed: metrics.deliveries.replayed, onFailed, now });
  resources.add('replays', feed.drain);
  const feeding = maintain('feeding', FEED_EVERY_MS, feed.run, FEED_AT_REST_MS);
  return {
    inFlight: queue.inWork,
    hold: queue.hold,
    resume: queue.resume,
    /** Reserves nothing new and waits for the sends in flight. */
    async drain(): Promise<void> {
      isStopping = true;
      // Maintenance too: this worker would not finish work that it claims from now on.
      await Promise.all([queue.stop(), purging.stop(), feeding.stop(), logging.stop(), moving.stop()]);
      await feed.drain();
    },
  };
}

const LEAVE_LIMIT_MS = 2_000;

/** Shows the worker as alive until it is stopped. */
export async function startPresence({ presence, logger, now, resources }: WorkerContext) {
  const workerId = randomUUID();
  const show = oneAtATime(() =>
    presence.show(workerId, now()).catch((error: unknown) => {
      logger.warn('worker.presence_failed', {}, error);
    }),
  );
  await show();
  const stop = everyBeat(PRESENCE_INTERVAL_MS, () => void show());
  resources.add('presence', async () => {
    stop();
    // While Redis is away this would take as long as the outage. The entry then expires by itself.
    await answerWithin(LEAVE_LIMIT_MS, presence.leave(workerId), () => undefined);
  });
  return workerId;
}

type FindHistoryProblemsDeps = {
  readonly state: Pick<HistoryState, 'problems'>;
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
};

/** What is wrong with the history, and how many deliveries wait for it in all shards. Asks Redis only then. */
async function findHistoryProblems(deps: FindHistoryProblemsDeps): Promise<readonly Finding[]> {
  const { state, redis, keyspace } = deps;
  if (state.problems().length === 0) return [];
  const backlogs = Promise.all(keyspace.shards.map((keys) => readSettledBacklog(redis, keys)));
  const waiting = backlogs.then((each) => each.reduce((sum, { count }) => sum + count, 0));
  // That Redis is away is told for itself.
  return state.problems(await waiting.catch(() => undefined));
}
