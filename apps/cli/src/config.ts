import { readEnv, RetentionEnv, SecretsEnv, SharedEnv } from '@herald/infra';

/** What the CLI needs to reach the service's data: the same variables, with the same values, as the service has. */
export type CliConfig = { readonly redisUrl: string; readonly shardCount: number; readonly retentionMs: number };

/** @throws ConfigError with every problem at once */
export function readCliConfig(env: NodeJS.ProcessEnv): CliConfig {
  const given = readEnv(SharedEnv.extend(RetentionEnv.shape), env);
  return { redisUrl: given.REDIS_URL, shardCount: given.SHARDS, retentionMs: given.RETENTION };
}

/** What `herald secrets` needs on top. @throws ConfigError with every problem at once */
export function readSecretsConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(SharedEnv.extend(SecretsEnv.shape), env);
  return { redisUrl: given.REDIS_URL, shardCount: given.SHARDS, secretsKeys: given.SECRETS_KEY };
}
export type SecretsConfig = ReturnType<typeof readSecretsConfig>;
