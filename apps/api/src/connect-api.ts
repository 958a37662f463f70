import {
  closeRedis,
  connectRedis,
  type ApiConfig,
  type Logger,
  type RedisClient,
  type RedisMetrics,
  type Resources,
} from '@herald/infra';

/** An API's connections to Redis. */
export type ApiConnections = {
  readonly redis: RedisClient;
  readonly queueRedis: RedisClient;
  readonly subscriber: RedisClient;
  /** Apart from the others, because it waits for replicas. */
  readonly confirmRedis: RedisClient | undefined;
  /** Apart from the others, so that no page of the board delays a request. */
  readonly operatorRedis: RedisClient | undefined;
};

/** Connects to Redis as often as an API needs to; whatever was connected is released with `resources`. */
export async function connectApi(
  { redis: target, operator, minReplicas }: ApiConfig,
  logger: Logger,
  resources: Resources,
  metrics: RedisMetrics,
): Promise<ApiConnections> {
  const connect = async (name: string) => {
    const onError = (error: Error) => {
      metrics.failed(name);
      logger.warn('redis.error', { connection: name }, error);
    };
    const onReconnect = () => {
      metrics.reconnected(name);
      logger.info('redis.reconnected', { connection: name });
    };
    const redis = await connectRedis({ target, use: 'request', name, onError, onReconnect });
    resources.add(name, () => closeRedis(redis));
    return redis;
  };
  return {
    redis: await connect('herald-api'),
    queueRedis: await connect('herald-api-queue'),
    subscriber: await connect('herald-api-subscriber'),
    confirmRedis: minReplicas > 0 ? await connect('herald-api-confirm') : undefined,
    operatorRedis: operator && (await connect('herald-api-operators')),
  };
}
