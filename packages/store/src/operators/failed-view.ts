import type { DeliveryId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keyspace/keys.ts';
import { readScoredIds } from '../keyspace/scored-ids.ts';
import { describeDeliveries, type DeliveryDescription } from './describe-deliveries.ts';

/** Deliveries of some shards that failed lately: those whose tries are used up, or whose time is. */
export type FailedView = {
  readonly count: (now: number) => Promise<number>;
  /** Newest first; what has left meanwhile is left out. */
  readonly list: (now: number, start: number, end: number) => Promise<readonly DeliveryDescription[]>;
  /** As `list`, with what has left meanwhile. */
  readonly listIds: (now: number, start: number, end: number) => Promise<readonly DeliveryId[]>;
};

export type FailedViewDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Pick<Keyspace, 'shards'>;
  /** How long a settled record is kept, in ms. */
  readonly keepMs: number;
};

export function createFailedView({ redis, keyspace, keepMs }: FailedViewDeps): FailedView {
  /** A page of all shards lies within the first `end` of each. */
  const readPage = async (now: number, start: number, end: number) => {
    const since = String(now - keepMs);
    const range = ['BYSCORE', 'REV', 'LIMIT', 0, end + 1, 'WITHSCORES'] as const;
    const entries = await Promise.all(
      keyspace.shards.map(async (keys) => {
        const rows = await redis.zrange(keys.failed, '+inf', since, ...range);
        return readScoredIds(rows).map((entry) => ({ ...entry, keys }));
      }),
    );
    return entries
      .flat()
      .sort((a, b) => b.score - a.score)
      .slice(start, end + 1);
  };
  return {
    async count(now) {
      const counts = await Promise.all(keyspace.shards.map(({ failed }) => redis.zcount(failed, now - keepMs, '+inf')));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    async list(now, start, end) {
      const page = await readPage(now, start, end);
      const found = await Promise.all(page.map(({ keys, id }) => describeDeliveries(redis, keys, [id])));
      return found
        .flat()
        .filter((delivery) => delivery !== undefined)
        .filter(hasFailed);
    },
    async listIds(now, start, end) {
      return (await readPage(now, start, end)).map(({ id }) => id);
    },
  };
}

function hasFailed({ delivery }: DeliveryDescription): boolean {
  return delivery.status === 'failed';
}
