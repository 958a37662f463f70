import { LOG_LUA } from '@herald/store/keys/segment-lua';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { defineScript } from '@herald/store/redis/script';

const APPEND_LUA = `${LOG_LUA} appendToLog(KEYS[1], ARGV[1], { unpack(ARGV, 2) })`;

/** Adds entries to a log of deliveries, in the order of time, as acceptance does. */
export async function appendToLog(
  redis: RedisClient,
  log: string,
  ttlMs: number,
  entries: readonly { readonly at: number; readonly id: string }[],
): Promise<void> {
  await defineScript(redis, APPEND_LUA)([log], [ttlMs, ...entries.flatMap(({ at, id }) => [at, id])]);
}

/** Entries of deliveries that don't exist. */
export function logEntriesFrom(at: number, count: number, stepMs = 1) {
  return Array.from({ length: count }, (_, index) => ({ at: at + index * stepMs, id: `dlv_${at}_${1_000 + index}` }));
}
