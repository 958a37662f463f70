import { addFindingGauge, createReadiness, createWaitingView } from '@herald/store/operators/create-readiness';
import { openWhenUsable } from '@herald/store/redis/open-when-usable';
import { findHistoryNotSet } from '@herald/store/lists/history-mark';
import { createResources } from '@herald/runtime/lifecycle/resources';
import { WAIT_CONNECTION } from '@herald/store/operators/create-service-state-reader';
import type { Logger } from '@herald/runtime/log/logger';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { RunningProcess } from '@herald/runtime/lifecycle/run-process';
import type { ShardKeys } from '@herald/store/keys/keys';
import type { WorkerConfig } from '@herald/config/worker-config';
import { openContext, type WorkerContext } from './context.ts';
import { findHistoryProblems } from './history/find-history-problems.ts';
import { startShortening, startTendingDays } from './moving/start-moving.ts';
import { findEgressProblem } from './egress.ts';
import { startHealthServer, type HealthView } from './health/start-health-server.ts';
import { startPresence } from './start-presence.ts';
import { startShard } from './start-shard.ts';

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
