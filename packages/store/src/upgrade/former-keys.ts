import { SHARD_TAGS } from '../keyspace/shards.ts';
import type { RedisClient } from '../redis/connect-redis.ts';

/** Within a shard, hash: the settings of BullMQ's queue of deliveries, including an operator's pause. */
export const FORMER_SETTINGS = 'deliveries:meta';
/** Within a shard, hash: a destination's breaker and its pause; its id follows. */
export const FORMER_BREAKER = 'k:';
/** At least one of these exists in a shard as soon as a process of a former version has done anything there. */
const SIGNS = [FORMER_SETTINGS, 'tests:meta', 'open', 'owed', 'backlogs'];
const FORMER = /^(?:(?:deliveries|tests):.+|[bk]:[^:]*|backlogs|owed|open)$/s;

/** Whether only former versions have a key of this name. */
export function isFormerKey(name: string): boolean {
  const [, tag = '', rest = ''] = /^\{([^}]*)\}:(.+)$/s.exec(name) ?? [];
  return SHARD_TAGS.includes(tag) && FORMER.test(rest);
}

/** Whether a former version has worked here since data was last taken over, as after a rollback. */
export async function hasFormerKeys(redis: RedisClient): Promise<boolean> {
  const found = await Promise.all(SHARD_TAGS.map((tag) => redis.exists(SIGNS.map((name) => `{${tag}}:${name}`))));
  return found.some((count) => count > 0);
}
