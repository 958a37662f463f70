import type { RedisClient } from '../redis/connect-redis.ts';

export type ScriptArg = string | number;
/** Runs a Lua script in one slot: the keys, then the arguments. What it replies is input, and the caller parses it. */
export type Script = (keys: readonly string[], args: readonly ScriptArg[]) => Promise<unknown>;

/**
 * Makes a Lua script callable. The client sends its SHA-1 and falls back to the source where the server doesn't know
 * it yet, also inside the pipelines that it makes of calls of one tick.
 * Define scripts at start-up: a pipeline that is being filled knows only those that were there when it was begun, and the
 * client would then hand every later answer in it to the wrong caller.
 * @param name unique among the scripts of one client
 */
export function defineScript(redis: RedisClient, name: string, lua: string): Script {
  if (redis.autoPipelineQueueSize > 0) throw new Error(`${name} must be defined before the client is in use`);
  redis.defineCommand(name, { lua });
  const call = (redis as unknown as Record<string, (...args: ScriptArg[]) => Promise<unknown>>)[name];
  if (!call) throw new Error(`the Redis client didn't define ${name}`);
  return (keys, args) => call.call(redis, keys.length, ...keys, ...args);
}

/** A reply of Redis to one command within a script, as the client throws those to commands. */
export class ScriptCommandError extends Error {
  override readonly name = 'ReplyError';
}
