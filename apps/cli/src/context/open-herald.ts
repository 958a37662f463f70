import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { ConfigError } from '@herald/runtime/env/env';
import { createKeyspace, type Keyspace } from '@herald/store/keyspace/keys';
import { createResources, type Resources } from '@herald/runtime/lifecycle/resources';
import { createShardRecordStore } from '@herald/store/shards/shard-record';
import { createAwaitReplication, type AwaitReplication } from '@herald/store/scripts/await-replication';
import { demandAccess } from '@herald/store/requirements/demand-usable-redis';
import { findLayoutProblem } from '@herald/store/upgrade/find-layout-problem';
import { judgeShards } from '@herald/store/shards/judge-shards';
import { startClock } from '@herald/store/clock/start-clock';
import type { Clock } from '@herald/store/clock/clock';
import { readCliConfig, type CliConfig } from './config.ts';

/** The service's data, for the length of one command. */
export type Herald = {
  readonly config: CliConfig;
  readonly redis: RedisClient;
  /** Absent unless REDIS_MIN_REPLICAS asks for replicas. */
  readonly awaitReplication: AwaitReplication | undefined;
  readonly keyspace: Keyspace;
  /** Another connection, for what occupies one. */
  readonly connect: () => Promise<RedisClient>;
  readonly resources: Resources;
  /** Epoch ms. */
  readonly now: () => number;
};

/**
 * Runs a command on the service's data, and releases whatever it opened.
 * With `anyShards` and `anyRedis`, the command doesn't care.
 * @throws ConfigError when SHARDS isn't what the data is laid out for, or a former version's data has yet to be taken over
 * @throws RedisUnreachableError when Redis lacks what every command needs
 */
export type WithHerald = <T>(
  use: (herald: Herald) => Promise<T>,
  options?: { anyShards?: boolean; anyRedis?: boolean },
) => Promise<T>;

export async function refuseOtherShards(redis: RedisClient, shardCount: number): Promise<void> {
  const record = await createShardRecordStore(redis).read();
  const refusal = judgeShards({ record }, shardCount)[0] ?? (await findLayoutProblem(redis, record));
  if (refusal) throw new ConfigError(refusal.sentence);
}

/** @param follow is told of Redis' clock, which decides from then on */
export function createWithHerald(
  env: NodeJS.ProcessEnv,
  now: () => number,
  follow: (clock: Clock) => void,
): WithHerald {
  return async (use, { anyShards = false, anyRedis = false } = {}) => {
    const config = readCliConfig(env);
    const resources = createResources(() => undefined);
    const connect = async () => {
      // A lost connection shows in the command that needed it.
      const onError = () => undefined;
      const redis = await connectRedis({ target: config.redis, use: 'request', name: 'herald-cli', onError });
      resources.add('redis', () => closeRedis(redis));
      return redis;
    };
    try {
      const redis = await connect();
      const { minReplicas, shardCount } = config;
      if (!anyRedis) await demandAccess(redis, { target: config.redis, minReplicas, shardCount });
      const clock = await startClock(redis).catch((error: unknown) => {
        if (!anyRedis) throw error;
        return undefined;
      });
      if (clock) {
        resources.add('clock', clock.stop);
        follow(clock);
      }
      if (!anyShards) await refuseOtherShards(redis, shardCount);
      const awaitReplication =
        minReplicas > 0 ? createAwaitReplication({ redis: await connect(), minReplicas }) : undefined;
      return await use({
        config,
        redis,
        awaitReplication,
        keyspace: createKeyspace(shardCount),
        connect,
        resources,
        now,
      });
    } finally {
      await resources.release();
    }
  };
}
