import { hash } from 'node:crypto';
import { Cluster } from 'ioredis';
import type { RedisClient } from '../redis/connect-redis.ts';
import { isRedisRefusal } from '../server/is-redis-unavailable.ts';

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
 * script: then nothing has run. The client could do that itself (`defineCommand`), but it copies all its scripts into
 * every pipeline that it begins, and in a quiet process nearly every command begins one.
 */
export function defineScript(redis: RedisClient, source: string): Script {
  const lua = redis instanceof Cluster ? refuseWhileSlotMoves(source) : source;
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
