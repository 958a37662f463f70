import { type ChainableCommander, Cluster } from 'ioredis';
import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { findListener, type RedisClient } from './connect-redis.ts';
import { isRedisRefusal, isRedisUnavailable, refusalOf } from './refusal.ts';

export type ScriptArg = string | number;
/**
 * Runs a Lua script in one slot: the keys, then the arguments. The reply is input, and the caller parses it. One that ends,
 * frees, holds or controls something begins with `#!lua flags=allow-oom`: a Redis that is full must not keep it from that.
 */
export type Script = (keys: readonly string[], args: readonly ScriptArg[]) => Promise<unknown>;

const ASK_SLOT_LUA = /* lua */ `
-- While a slot moves, each key that isn't here is refused, whatever was written before. Two that are nowhere tell it
-- first, on the node that loses the slot and on the one that gets it. About a microsecond where nothing moves.
do
  local slot = '{' .. (string.match(KEYS[1], '{([^}]+)}') or KEYS[1]) .. '}:moves:'
  local reply = redis.pcall('EXISTS', slot .. '1', slot .. '2')
  if type(reply) == 'table' then
    if not string.find(reply.err, 'non local key', 1, true) then return reply end
    return redis.error_reply('TRYAGAIN its slot is moving to another node')
  end
end
`;

/**
 * The script, which then does nothing while its slot moves and is refused as Redis refuses a command on keys of two
 * nodes: the client repeats it, in the background until the slot has moved.
 */
function refuseWhileSlotMoves(lua: string): string {
  // Flags stand in the first line.
  return lua.replace(/^(?:#!.*)?/, (flags) => `${flags}${ASK_SLOT_LUA}`);
}

/**
 * Makes a Lua script callable. It sends the script's SHA-1, and the source once the server says that it doesn't know the
 * script: then nothing has run.
 *
 * In the background it waits for Redis, as every command does: also while Redis refuses writes for a moment, as in a
 * failover. A script of which the answer was lost with its connection runs twice.
 */
export function defineScript(redis: RedisClient, source: string): Script {
  const lua = redis instanceof Cluster ? refuseWhileSlotMoves(source) : source;
  const sha = hash('sha1', lua, 'hex');
  const run = async (keys: readonly string[], args: readonly ScriptArg[]): Promise<unknown> => {
    try {
      return await redis.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isRedisRefusal(error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return await redis.eval(lua, keys.length, ...keys, ...args);
    }
  };
  return async (keys, args) => {
    for (;;) {
      try {
        return await run(keys, args);
      } catch (error) {
        await waitOut(redis, error);
      }
    }
  };
}

/**
 * Adds a Lua script to a pipeline, of which all goes to one server together: the keys, then the arguments. It comes with
 * its source, since what is behind a script that the server doesn't know would run without it. Nothing is sent again.
 */
export function addScript(
  pipeline: ChainableCommander,
  lua: string,
  keys: readonly string[],
  args: readonly ScriptArg[],
): ChainableCommander {
  return pipeline.eval(lua, keys.length, ...keys, ...args);
}

/** How long the scripts of a client wait after a refusal, in ms. */
const REFUSED_MS = 500;

/** By client, the pause that its refused scripts share. */
const pauses = new WeakMap<RedisClient, Promise<void>>();

/**
 * Waits before a script is sent again. Throws the error where that is no use: somebody waits for the answer, the client
 * was closed, or the fault doesn't pass. A full Redis stays full for long, and refuses only what may be refused.
 */
async function waitOut(redis: RedisClient, error: unknown): Promise<void> {
  const tell = findListener(redis);
  if (!tell || !isRedisUnavailable(error) || refusalOf(error) === 'full') throw error;
  let pausing = pauses.get(redis);
  if (!pausing) {
    tell(error as Error);
    pausing = pause(REFUSED_MS).finally(() => pauses.delete(redis));
    pauses.set(redis, pausing);
  }
  await pausing;
}

/** An error reply to one command within a script, as the client throws error replies to commands. */
export class ScriptCommandError extends Error {
  override readonly name = 'ReplyError';
}

const SHOW_LUA = /* lua */ `#!lua flags=allow-oom
-- Note that a process was seen, and forget those that were not seen for long.
-- KEYS[1] processes (zset: name → when it was seen last, ms)
-- ARGV[1] now (ms)   ARGV[2] name   ARGV[3] seen before this is long ago (ms)   ARGV[4] time to live of all (ms)
-- Returns nothing.
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
`;

/** Notes in a zset that a process was seen, also when Redis is full: what still works must not look dead. */
export function createShow(redis: RedisClient) {
  const show = defineScript(redis, SHOW_LUA);
  return async (key: string, name: string, now: number, keptMs: number): Promise<void> => {
    await show([key], [now, name, now - keptMs, keptMs]);
  };
}

/** Sends `SCRIPT LOAD <source>` or `EVALSHA <sha> <number of keys> <key>... <arg>...` for a library's own scripts. */
export type SendScriptCommand = (command: readonly string[]) => Promise<unknown>;

/**
 * Runs a library's scripts as our own. A library that loads its scripts once fails for good when Redis is away just
 * then. Here only this process loads them, and Redis gets the source whenever it doesn't know a script.
 */
export function createScriptCommands(redis: RedisClient): SendScriptCommand {
  const scripts = new Map<string, Script>();
  const load = (source: string): string => {
    const sha = hash('sha1', source, 'hex');
    // What counts requests must not keep out those that free memory.
    const lua = `#!lua flags=allow-oom\n${source}`;
    if (!scripts.has(sha)) scripts.set(sha, defineScript(redis, lua));
    return sha;
  };
  return async ([command, ...rest]) => {
    if (command === 'SCRIPT' && rest[0] === 'LOAD' && rest[1] !== undefined) return load(rest[1]);
    const [sha = '', keyCount = '', ...args] = rest;
    const script = command === 'EVALSHA' ? scripts.get(sha) : undefined;
    if (!script)
      throw new Error(`a library may load scripts and run them, and nothing else; it sent ${command ?? 'nothing'}`);
    const keys = Number(keyCount);
    return await script(args.slice(0, keys), args.slice(keys));
  };
}
