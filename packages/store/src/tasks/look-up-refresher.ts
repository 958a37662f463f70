import type { TaskId } from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async/bounded-map';
import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keys/keys.ts';
import { lookUpTtlMs } from './task-retention.ts';

const REMEMBERED_TASKS = 50_000;

/**
 * Lets the look-up Task → workspace live at least as long as the Task, which every transition prolongs. The look-up has
 * a slot of its own, so each extension is an extra command. It lives longer by a part, so that one extension in half of
 * this part is enough; then it leads nowhere, which does no harm.
 */
export function createLookUpRefresher(redis: RedisClient) {
  const extended = createBoundedMap<TaskId, { readonly at: number; readonly ttlMs: number }>(REMEMBERED_TASKS);
  return async function extendLookUp(id: TaskId, ttlMs: number): Promise<void> {
    const now = performance.now();
    const last = extended.get(id);
    const lookUpMs = lookUpTtlMs(ttlMs);
    if (last?.ttlMs === ttlMs && now - last.at < (lookUpMs - ttlMs) / 2) return;
    await redis.pexpire(GLOBAL_KEYS.taskWorkspace(id), lookUpMs);
    extended.set(id, { at: now, ttlMs });
  };
}
