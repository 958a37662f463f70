import type { RedisClient } from '@herald/infra';
import { messageOf, waitFor } from '@herald/test-kit';
import { readDuties, shardKeys } from '../tests/support/delivery-state.ts';

/** Waits until nothing is left to do anywhere; returns what was left after so long, or undefined. */
export async function waitUntilNothingIsLeft(redis: RedisClient, deadlineMs: number): Promise<string | undefined> {
  const { backlogs, replays, purge } = shardKeys();
  const read = async () => ({
    ...(await readDuties(redis)),
    backlogs: await redis.zcard(backlogs),
    replays: await redis.zcard(replays),
    purges: await redis.zcard(purge),
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
