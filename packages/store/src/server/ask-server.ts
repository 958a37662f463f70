import { Redis, type RedisOptions } from 'ioredis';
import { messageOfThrown } from '@herald/runtime/errors/is-error-like';
import { toSignInOptions, type RedisAccess, type RedisAddress } from './redis-target.ts';

const ASK_LIMIT_MS = 1_000;

/** Sends one command to a server. Returns its reply as JSON, or the message of the error. Never rejects. */
export async function askServer(
  address: RedisAddress,
  access: RedisAccess,
  [name, ...args]: readonly [string, ...string[]],
): Promise<string> {
  const options: Omit<RedisOptions, 'replyMapping'> = {
    ...address,
    ...toSignInOptions(access),
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    connectTimeout: ASK_LIMIT_MS,
    commandTimeout: ASK_LIMIT_MS,
    maxRetriesPerRequest: 0,
  };
  const redis = new Redis(options);
  let last: Error | undefined;
  redis.on('error', (error: Error) => (last = error));
  try {
    return JSON.stringify(await redis.call(name, ...args));
  } catch (thrown) {
    return messageOfThrown(last ?? thrown);
  } finally {
    redis.disconnect();
  }
}
