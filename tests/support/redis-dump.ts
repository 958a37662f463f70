import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { listKeys } from './start-topology.ts';

/**
 * Everything that a Redis holds, as readable text by key, whatever its type; but not when an API key was last used, which a
 * request that changes nothing changes too, nor which processes were seen when.
 */
export async function dumpRedis(redis: RedisClient): Promise<Map<string, string>> {
  const keys = (await listKeys(redis)).filter((key) => key !== GLOBAL_KEYS.processes);
  const values = await Promise.all(keys.map(async (key) => [key, await readValue(redis, key)] as const));
  return new Map(values.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
}

/** Undefined when the key expired meanwhile. */
async function readValue(redis: RedisClient, key: string): Promise<string | undefined> {
  const type = await redis.type(key);
  switch (type) {
    case 'none':
      return undefined;
    case 'string':
      return (await redis.get(key)) ?? undefined;
    case 'hash': {
      const fields = Object.entries(await redis.hgetall(key));
      const kept = fields.filter(([name]) => name !== 'lastUsedAt' || !key.startsWith('herald:key:'));
      // The order of a hash is Redis' own affair, and changes when a hash is restored.
      return JSON.stringify(Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1))));
    }
    case 'list':
      return JSON.stringify(await redis.lrange(key, 0, -1));
    case 'set':
      return JSON.stringify((await redis.smembers(key)).sort());
    case 'zset':
      return JSON.stringify(await redis.zrange(key, 0, '-1', 'WITHSCORES'));
    case 'stream':
      return JSON.stringify(await redis.xrange(key, '-', '+'));
    default:
      throw new Error(`${key} is a ${type}, which no dump knows`);
  }
}

export function toText(dump: ReadonlyMap<string, string>): string {
  return [...dump].map(([key, value]) => `${key} ${value}`).join('\n');
}
