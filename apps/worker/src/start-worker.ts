import { createReadiness } from '@herald/store/readiness/create-readiness';
import { findHistoryNotSet } from '@herald/store/moving/history-mark';
import { createResources } from '@herald/runtime/lifecycle/resources';
import { WAIT_CONNECTION } from '@herald/store/service-state/worker-presence';
import type { Logger } from '@herald/runtime/log/logger';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { RunningProcess } from '@herald/runtime/lifecycle/run-process';
import type { ShardKeys } from '@herald/store/keyspace/keys';
import type { WorkerConfig } from '@herald/config/worker-config';
import { openContext, type WorkerContext } from './context.ts';
import { findHistoryProblem } from './history/find-history-problem.ts';
import { startShortening, startTendingDays } from './moving/start-moving.ts';
import { findEgressProblem } from './egress/find-egress-problem.ts';
import { startHealthServer } from './health/start-health-server.ts';
import { startPresence } from './start-presence.ts';
import { startShard } from './start-shard.ts';

/** How long Redis may take to hear of the last sends, in ms. What still waits for it then is given up. */
const REDIS_LIMIT_MS = 2_000;

/** Starts a worker process: its connections, one queue per shard, maintenance, its health page. */
export async function startWorker(config: WorkerConfig, logger: Logger, giveUp: () => void): Promise<RunningProcess> {
  const resources = createResources((name, error) => {
    logger.error('process.release_failed', { name }, error);
  });
  try {
    const context = await openContext(config, logger, resources, giveUp);
    startTendingDays(context);
    startShortening(context);
    await startShards(context);
    const { clock, connections, egress, history, historyMark, presence, redis, queueRedis, shards, keyspace } = context;
    const health = await startHealthServer({
      host: config.host,
      port: config.port,
      readReadiness: createReadiness({
        redis,
        countWorkers: () => presence.count(clock.now()),
        isSilent: () => connections.isSilent(redis, queueRedis),
        skewMs: clock.skewMs,
        findWarning: () =>
          history ? findHistoryProblem({ state: history.state, redis, keyspace }) : findHistoryNotSet(historyMark),
        findProblem: () => shards.findProblem() ?? findEgressProblem(egress.gate, egress.proxy),
      }),
      exposition: context.exposition,
    });
    resources.add('health', health.close);
    const workerId = await startPresence(context);
    logger.info('worker.started', {
      workerId,
      healthPort: health.port,
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
          setTimeout(connections.giveUp, config.deliveryTimeoutMs + REDIS_LIMIT_MS),
        ];
        await resources.release();
        for (const timer of timers) clearTimeout(timer);
      },
    };
  } catch (error) {
    await resources.release();
    throw error;
  }
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
