import type { Keyspace } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { messageOf, waitFor } from '@herald/test-kit';
import { readPendingWork } from '../tests/support/delivery-state.ts';

/** Waits until no work is left, and nothing to move; returns the work that was left at the deadline, or undefined. */
export async function waitUntilNothingIsLeft(
  redis: RedisClient,
  { shards }: Keyspace,
  deadlineMs: number,
): Promise<string | undefined> {
  const count = async (name: 'replays' | 'purge' | 'settled') => {
    const counts = await Promise.all(shards.map((keys) => redis.zcard(keys[name])));
    return counts.reduce((sum, each) => sum + each, 0);
  };
  const read = async () => ({
    ...(await readPendingWork(redis, shards.length)),
    replays: await count('replays'),
    purges: await count('purge'),
    // With a history. Without one, nothing waits to move.
    unmoved: await count('settled'),
  });
  try {
    await waitFor('nothing to be left', read, {
      until: (left) => Object.values(left).every((count) => count === 0),
      deadlineMs,
    });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
