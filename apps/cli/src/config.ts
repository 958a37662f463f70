import { readEnv, SharedEnv } from '@herald/infra';

/** What the CLI needs to reach the service's data. */
export type CliConfig = { readonly redisUrl: string };

/** @throws ConfigError with every problem at once */
export function readCliConfig(env: NodeJS.ProcessEnv): CliConfig {
  const given = readEnv(SharedEnv, env);
  return { redisUrl: given.REDIS_URL };
}
