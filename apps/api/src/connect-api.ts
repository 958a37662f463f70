import type { ApiConfig } from '@herald/config/api-config';
import type { Connections } from '@herald/store/redis/open-connections';
import type { RedisClient } from '@herald/store/redis/connect-redis';

/** An API's connections to Redis. */
export type ApiConnections = {
  readonly redis: RedisClient;
  readonly subscriber: RedisClient;
  /** Apart from the others, because it waits for replicas. */
  readonly replicationRedis: RedisClient | undefined;
  /** Apart from the others, so that no page of the board delays a request. */
  readonly operatorRedis: RedisClient | undefined;
};

/** Connects to Redis as often as an API needs to. */
export async function connectApi(
  { operator, minReplicas }: ApiConfig,
  { open }: Pick<Connections, 'open'>,
): Promise<ApiConnections> {
  return {
    redis: await open('herald-api'),
    subscriber: await open('herald-api-subscriber', 'subscriptions'),
    // The name is that of former versions: metrics and CLIENT LIST show it.
    replicationRedis: minReplicas > 0 ? await open('herald-api-confirm') : undefined,
    operatorRedis: operator && (await open('herald-api-operators')),
  };
}
