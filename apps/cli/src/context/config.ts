import { readEnv } from '@herald/runtime/env/env';
import { RetentionEnv, SecretsEnv, SharedEnv } from '@herald/config/shared-env';
import { toRedisTarget, withOneRedis } from '@herald/config/redis-env';
import type { RedisTarget } from '@herald/store/server/redis-target';

/** What the CLI needs to reach the service's data: the same variables, with the same values, as the service has. */
export type CliConfig = {
  readonly redis: RedisTarget;
  readonly minReplicas: number;
  readonly shardCount: number;
  readonly retentionMs: number;
};

/** @throws ConfigError with every problem at once */
export function readCliConfig(env: NodeJS.ProcessEnv): CliConfig {
  const given = readEnv(withOneRedis(SharedEnv.extend(RetentionEnv.shape)), env);
  return {
    redis: toRedisTarget(given),
    minReplicas: given.REDIS_MIN_REPLICAS,
    shardCount: given.SHARDS,
    retentionMs: given.RETENTION,
  };
}

/** What `herald secrets` needs on top. @throws ConfigError with every problem at once */
export function readSecretsConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(withOneRedis(SharedEnv.extend(SecretsEnv.shape)), env);
  return { redis: toRedisTarget(given), shardCount: given.SHARDS, secretsKeys: given.SECRETS_KEY };
}
export type SecretsConfig = ReturnType<typeof readSecretsConfig>;
