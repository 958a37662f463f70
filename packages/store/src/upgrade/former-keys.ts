import type { RedisClient } from '../redis/connect-redis.ts';
import { SHARD_TAGS } from '../keyspace/shards.ts';

/** Keys of a shard that only former versions have. */
export function createFormerKeys(prefix: string) {
  return {
    /** hash: the settings of BullMQ's queue of deliveries, including an operator's pause */
    settings: `${prefix}deliveries:meta`,
    /** hash: a destination's breaker and its pause */
    breaker: (destination: string) => `${prefix}k:${destination}`,
    /** At least one of these exists as soon as a process of a former version has done anything. */
    signs: ['deliveries:meta', 'tests:meta', 'open', 'owed', 'backlogs'].map((name) => prefix + name),
  };
}

const FORMER = /^(?:(?:deliveries|tests):.+|[bk]:[^:]*|backlogs|owed|open)$/s;

/** Whether only former versions have a key of this name. */
export function isFormerKey(name: string): boolean {
  const [, tag = '', rest = ''] = /^\{([^}]*)\}:(.+)$/s.exec(name) ?? [];
  return SHARD_TAGS.includes(tag) && FORMER.test(rest);
}

/** Whether a former version has worked here since data was last taken over, as after a rollback. */
export async function hasFormerKeys(redis: RedisClient): Promise<boolean> {
  const found = await Promise.all(SHARD_TAGS.map((tag) => redis.exists(...createFormerKeys(`{${tag}}:`).signs)));
  return found.some((count) => count > 0);
}
