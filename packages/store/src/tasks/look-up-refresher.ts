import type { TaskId } from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async/bounded-map';
import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';

/**
 * How much longer than its Task a look-up may live, in ms: at most this, and at most as long as the Task is kept. It
 * then leads nowhere, which does no harm.
 */
const SLACK_MS = 3_600_000;
const REMEMBERED_TASKS = 50_000;

/**
 * Lets the look-up Task → workspace live at least as long as the Task, which every transition prolongs. The look-up has
 * a slot of its own, so each extension is an extra command; the slack makes one per Task and hour enough.
 */
export function createLookUpRefresher(redis: RedisClient) {
  const extended = createBoundedMap<TaskId, { readonly at: number; readonly ttlMs: number }>(REMEMBERED_TASKS);
  return async function extendLookUp(id: TaskId, ttlMs: number): Promise<void> {
    const now = performance.now();
    const last = extended.get(id);
    const slackMs = Math.min(SLACK_MS, ttlMs);
    if (last?.ttlMs === ttlMs && now - last.at < slackMs) return;
    await redis.pexpire(GLOBAL_KEYS.taskWorkspace(id), ttlMs + slackMs);
    extended.set(id, { at: now, ttlMs });
  };
}
