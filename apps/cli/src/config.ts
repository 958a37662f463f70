import { readEnv, SecretsEnv, SharedEnv } from '@herald/infra';

/** What the CLI needs to reach the service's data. */
export type CliConfig = { readonly redisUrl: string };

/** @throws ConfigError with every problem at once */
export function readCliConfig(env: NodeJS.ProcessEnv): CliConfig {
  const given = readEnv(SharedEnv, env);
  return { redisUrl: given.REDIS_URL };
}

/** What `herald secrets` needs; the same as the service has. @throws ConfigError with every problem at once */
export function readSecretsConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(SharedEnv.extend(SecretsEnv.shape), env);
  return { redisUrl: given.REDIS_URL, shardCount: given.SHARDS, secretsKeys: given.SECRETS_KEY };
}
export type SecretsConfig = ReturnType<typeof readSecretsConfig>;
