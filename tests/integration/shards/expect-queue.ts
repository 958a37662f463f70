import { createKeyspace } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { placesOf, type FilledWorkspace } from './fill-workspace.ts';
import { readPlaces } from './read-places.ts';

/** Every delivery with something to do stands where its record says, once; no group is lost from sight, and an open breaker is open. */
export async function expectQueue(
  redis: RedisClient,
  shardCount: number,
  filled: readonly FilledWorkspace[],
): Promise<void> {
  const { waiting, inWork, known, withWaiting, wrong } = await readPlaces(redis);
  expect(waiting).toEqual(new Map(filled.flatMap((each) => [...placesOf(each)])));
  expect({ inWork, wrong }).toEqual({ inWork: 0, wrong: [] });
  expect(known).toEqual(withWaiting);
  const keyspace = createKeyspace(shardCount);
  for (const { workspaceId, good, slow, testEvent, breaker } of filled) {
    const keys = keyspace.of(workspaceId);
    expect(await redis.zcard(keys.queue.waiting(good.group))).toBe(6);
    // It would be sent late: whoever finds it claimed cancels it.
    expect(await redis.hexists(keys.delivery(testEvent), 'claim')).toBe(1);
    const texts = Object.entries(breaker).map(([name, value]) => [name, String(value)]);
    expect(await redis.hgetall(keys.queue.group(slow.group))).toMatchObject(Object.fromEntries(texts));
  }
}
