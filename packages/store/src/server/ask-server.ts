import { Redis, type RedisOptions } from 'ioredis';
import { messageOfThrown } from '@herald/runtime/errors/is-error-like';
import type { RedisAccess, RedisAddress } from './redis-target.ts';

const ASK_LIMIT_MS = 1_000;

/** The reply to one command as JSON, or what kept it from being answered. Never rejects. */
export async function askServer(
  { host, port }: RedisAddress,
  access: RedisAccess,
  command: readonly [string, ...string[]],
): Promise<string> {
  const { username, password, usesTls } = access;
  const options: Omit<RedisOptions, 'replyMapping'> = {
    host,
    port,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    connectTimeout: ASK_LIMIT_MS,
    commandTimeout: ASK_LIMIT_MS,
    maxRetriesPerRequest: 0,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(usesTls && { tls: {} }),
  };
  const redis = new Redis(options);
  let last: Error | undefined;
  redis.on('error', (error: Error) => (last = error));
  try {
    const [name, ...rest] = command;
    return JSON.stringify(await redis.call(name, ...rest));
  } catch (thrown) {
    return messageOfThrown(last ?? thrown);
  } finally {
    redis.disconnect();
  }
}
