import type { RedisClient } from '../redis/connect-redis.ts';
import { readScoredIds, type Keyspace } from '../keys/keys.ts';
import { describeDelivery } from './describe-delivery.ts';

export type FailedViewDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Pick<Keyspace, 'shards'>;
  /** How long a settled record is kept, in ms. */
  readonly keepMs: number;
  /** Whether it shows failed test events too. They are no lost work, so they have an index of their own. */
  readonly withTests?: boolean;
};

/** The latest failed deliveries of some shards: those without tries left, and those that waited too long. */
export function createFailedView({ redis, keyspace, keepMs, withTests = false }: FailedViewDeps) {
  const indexes = keyspace.shards.flatMap((keys) =>
    [keys.failed, ...(withTests ? [keys.failedTests] : [])].map((index) => ({ keys, index })),
  );
  /** Newest first. A page of all shards lies within the first `end` of each. */
  const readPage = async (now: number, start: number, end: number) => {
    const range = ['BYSCORE', 'REV', 'LIMIT', 0, end + 1, 'WITHSCORES'] as const;
    const entries = await Promise.all(
      indexes.map(async ({ keys, index }) => {
        const rows = await redis.zrange(index, '+inf', String(now - keepMs), ...range);
        return readScoredIds(rows).map((entry) => ({ ...entry, keys }));
      }),
    );
    const newestFirst = entries.flat().sort((a, b) => b.score - a.score);
    return newestFirst.slice(start, end + 1);
  };
  return {
    async count(now: number) {
      const counts = await Promise.all(indexes.map(({ index }) => redis.zcount(index, now - keepMs, '+inf')));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    /** The deliveries of a page without those that are gone, or no longer failed. */
    async list(now: number, start: number, end: number) {
      const page = await readPage(now, start, end);
      const found = await Promise.all(page.map(({ keys, id }) => describeDelivery(redis, keys, id)));
      return found.filter((delivery) => delivery !== undefined).filter(({ delivery }) => delivery.status === 'failed');
    },
    /** The ids of a page, also of those that are gone or no longer failed. */
    async listIds(now: number, start: number, end: number) {
      return (await readPage(now, start, end)).map(({ id }) => id);
    },
  };
}
