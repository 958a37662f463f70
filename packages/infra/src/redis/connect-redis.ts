import { Redis, type RedisOptions } from 'ioredis';

/** A connection to Redis, and the port through which everything in infra talks to it. */
export type RedisClient = Redis;

/**
 * What a connection is for. `request`: somebody waits for the answer, so a command fails at once when Redis is away.
 * `background`: nobody waits; commands wait for Redis to come back, as BullMQ's workers require.
 */
export type ConnectionUse = 'request' | 'background';

export type ConnectRedisDeps = {
  readonly url: string;
  readonly use: ConnectionUse;
  /** Shown by CLIENT LIST. */
  readonly name: string;
  readonly onError: (error: Error) => void;
  /** It was made again after it had broken. */
  readonly onReconnect?: () => void;
};

const CONNECT_TIMEOUT_MS = 5_000;

const OPTIONS = {
  request: { maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: 5_000, enableAutoPipelining: true },
  background: { maxRetriesPerRequest: null, enableAutoPipelining: true },
} as const satisfies Record<ConnectionUse, RedisOptions>;

/** Redis can't be reached at start-up; the message says what to do. */
export class RedisUnreachableError extends Error {
  override readonly name = 'RedisUnreachableError';
}

/** Connects, or throws `RedisUnreachableError` within 5 s. Afterwards the connection restores itself for ever. */
export async function connectRedis({ url, use, name, onError, onReconnect }: ConnectRedisDeps): Promise<RedisClient> {
  const redis = new Redis(url, {
    ...OPTIONS[use],
    connectionName: name,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A replica that was promoted away refuses writes: find the master again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 5), 1_000),
  });
  let lastError: Error | undefined;
  redis.on('error', (error: Error) => {
    lastError = error;
    onError(error);
  });
  const timeout = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  try {
    await Promise.race([
      redis.connect(),
      new Promise<never>((_, reject) => {
        timeout.addEventListener('abort', () => {
          reject(new Error('no answer in time'));
        });
      }),
    ]);
    redis.on('ready', () => onReconnect?.());
    return redis;
  } catch (error) {
    redis.disconnect();
    const reason = lastError?.message ?? (error as Error).message;
    throw new RedisUnreachableError(
      `Redis at ${withoutPassword(url)} can't be reached (${reason}). Start it (redis-server) or set REDIS_URL.`,
    );
  }
}

/** Closes a connection whatever state it is in; commands sent before are answered first while Redis is there. */
export async function closeRedis(redis: RedisClient): Promise<void> {
  if (redis.status === 'ready') await redis.quit().catch(() => undefined);
  redis.disconnect();
}

function withoutPassword(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.protocol}//${parsed.host}` : 'the given address';
}
