import type { EndpointId, WorkspaceId } from '@herald/core';
import type { Keyspace } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { addCounts, readCounters, type CountedBucket } from './counter-layout.ts';
import type { StatsWindow } from './stats-window.ts';

export type StatsReaderDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Reads counters. The buckets of a window are always complete, oldest first. */
export function createStatsReader({ redis, keyspace, now }: StatsReaderDeps) {
  const readAll = async (keys: readonly string[], window: StatsWindow): Promise<CountedBucket[]> => {
    const at = now();
    const texts = await Promise.all(keys.map((key) => redis.getBuffer(key)));
    return addUp(texts.map((text) => readCounters(text, window, at)));
  };
  return {
    ofReceiver: (workspaceId: WorkspaceId, id: EndpointId, window: StatsWindow) =>
      readAll([keyspace.of(workspaceId).endpointStats(id)], window),
    /** Of its receivers and its callbacks. What went to receivers that were removed is gone with them. */
    ofWorkspace: async (workspaceId: WorkspaceId, window: StatsWindow) => {
      const keys = keyspace.of(workspaceId);
      const receivers = await redis.zrange(keys.receivers(workspaceId), 0, '-1');
      return await readAll([...receivers.map(keys.endpointStats), keys.callbackStats(workspaceId)], window);
    },
    ofService: (window: StatsWindow) =>
      readAll(
        keyspace.shards.map(({ shardStats }) => shardStats),
        window,
      ),
  };
}
export type StatsReader = ReturnType<typeof createStatsReader>;

/** The same buckets of several things, as one. There is at least one. */
function addUp(all: readonly CountedBucket[][]): CountedBucket[] {
  const [first = [], ...others] = all;
  return first.map(({ at, counts }, index) => ({
    at,
    counts: others.reduce<readonly number[]>((sum, each) => addCounts(sum, each[index]?.counts ?? []), counts),
  }));
}
