import { hash } from 'node:crypto';
import type { RedisClient } from '../redis/connect-redis.ts';
import { isRedisRefusal } from '../server/is-redis-unavailable.ts';

export type ScriptArg = string | number;
/** Runs a Lua script in one slot: the keys, then the arguments. The reply is input, and the caller parses it. */
export type Script = (keys: readonly string[], args: readonly ScriptArg[]) => Promise<unknown>;

/**
 * Makes a Lua script callable. It sends the script's SHA-1, and the source once the server says that it doesn't know the
 * script: then nothing has run. The client could do that itself (`defineCommand`), but it copies all its scripts into
 * every pipeline that it begins, and in a quiet process nearly every command begins one.
 */
export function defineScript(redis: RedisClient, lua: string): Script {
  const sha = hash('sha1', lua, 'hex');
  return async (keys, args) => {
    try {
      return await redis.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isRedisRefusal(error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return await redis.eval(lua, keys.length, ...keys, ...args);
    }
  };
}

/** An error reply to one command within a script, as the client throws error replies to commands. */
export class ScriptCommandError extends Error {
  override readonly name = 'ReplyError';
}
