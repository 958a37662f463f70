import type { EndpointId, WorkspaceId } from '@herald/core';
import type { Keyspace } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import {
  addCounts,
  ARRIVAL_BINS,
  ATTEMPT_BINS,
  failedOf,
  readCounters,
  SHARD_FIELDS,
  type CountedBucket,
  type StatsWindow,
} from './counter-layout.ts';

type StatsReaderDeps = {
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

const MINUTE_MS = 60_000;

/** What the counters of a shard, or of all, say of deliveries and attempts. */
export function toServiceCounts(counts: readonly number[]) {
  const of = (field: number) => counts[field] ?? 0;
  return {
    accepted: of(SHARD_FIELDS.accepted),
    delivered: ARRIVAL_BINS.sum(counts) + of(SHARD_FIELDS.deliveredLater),
    failedAttempts: of(SHARD_FIELDS.failed),
  };
}

/** What was counted in the last whole minute and the present one, and in how many seconds. */
function lately(minutes: readonly CountedBucket[], at: number) {
  const counts = minutes.slice(-2).reduce<number[]>((sum, bucket) => addCounts(sum, bucket.counts), []);
  return { counts, seconds: (MINUTE_MS + (at % MINUTE_MS)) / 1_000 };
}

/** The attempts a second of a receiver, from its counters. @param at epoch ms */
export function toSentPerSecond(minutes: readonly CountedBucket[], at: number): number {
  const { counts, seconds } = lately(minutes, at);
  return (ATTEMPT_BINS.sum(counts) + failedOf(counts)) / seconds;
}

/** Of the last whole minute and the present one. @param at epoch ms */
export function toServiceRates(minutes: readonly CountedBucket[], at: number) {
  const { counts, seconds } = lately(minutes, at);
  const { accepted, delivered, failedAttempts } = toServiceCounts(counts);
  const attempts = delivered + failedAttempts;
  const [p50Ms, p99Ms] = [ARRIVAL_BINS.quantile(counts, 0.5), ARRIVAL_BINS.quantile(counts, 0.99)];
  return {
    acceptedPerSecond: accepted / seconds,
    deliveredPerSecond: delivered / seconds,
    ...(attempts > 0 && { successRate: delivered / attempts }),
    ...(p50Ms !== undefined && { arrivalP50Ms: p50Ms }),
    ...(p99Ms !== undefined && { arrivalP99Ms: p99Ms }),
  };
}

type Rates = Pick<ReturnType<typeof toServiceRates>, 'acceptedPerSecond' | 'deliveredPerSecond'>;

/** When what is due will be sent if all goes on like this, in ms; undefined: never, since as much comes as goes. */
export function timeToEmpty(due: number, { acceptedPerSecond, deliveredPerSecond }: Rates): number | undefined {
  if (due === 0) return 0;
  const fewerPerSecond = deliveredPerSecond - acceptedPerSecond;
  return fewerPerSecond > 0 ? Math.round((due / fewerPerSecond) * 1_000) : undefined;
}
