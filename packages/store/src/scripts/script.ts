import type { RedisClient } from '../redis/connect-redis.ts';

export type ScriptArg = string | number;
/** Runs a Lua script in one slot: the keys, then the arguments. The reply is input, and the caller parses it. */
export type Script = (keys: readonly string[], args: readonly ScriptArg[]) => Promise<unknown>;

/**
 * Makes a Lua script callable. The client sends its SHA-1, and the source where the server doesn't know it yet, also
 * inside the pipelines of calls of one tick. Define scripts at start-up: a pipeline that is being filled knows only the
 * scripts from before it. With a later one, the client would hand every following answer in it to the wrong caller.
 * @param name unique among the scripts of one client
 */
export function defineScript(redis: RedisClient, name: string, lua: string): Script {
  if (redis.autoPipelineQueueSize > 0) throw new Error(`${name} must be defined before the client is in use`);
  redis.defineCommand(name, { lua });
  const call = (redis as unknown as Record<string, (...args: ScriptArg[]) => Promise<unknown>>)[name];
  if (!call) throw new Error(`the Redis client didn't define ${name}`);
  return (keys, args) => call.call(redis, keys.length, ...keys, ...args);
}

/** An error reply to one command within a script, as the client throws error replies to commands. */
export class ScriptCommandError extends Error {
  override readonly name = 'ReplyError';
}
