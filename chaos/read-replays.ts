import type { Keyspace } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { AskedReplay } from './ledger.ts';

/** Requested replays, each with its final state. */
export async function readReplays(redis: RedisClient, keyspace: Keyspace, asked: readonly AskedReplay[]) {
  return await Promise.all(
    asked.map(async (replay) => {
      const key = keyspace.of(replay.endpoint.workspaceId).replay(replay.id);
      return { ...replay, status: (await redis.hget(key, 's')) ?? undefined };
    }),
  );
}
