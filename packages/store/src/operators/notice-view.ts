import type { RedisClient } from '../redis/connect-redis.ts';
import { readScoredIds, type Keyspace } from '../keys/keys.ts';
import { describeDelivery } from './describe-delivery.ts';

/** Notices that are looked at in each shard, the newest ones. */
const LIMIT = 1_000;

export type NoticeViewDeps = { readonly redis: RedisClient; readonly keyspace: Pick<Keyspace, 'shards'> };

/** The deliveries of notices to the platform, as an operator sees them. */
export function createNoticeView({ redis, keyspace }: NoticeViewDeps) {
  return {
    /** Newest first, those made since then (epoch ms). */
    async list(since?: number) {
      const range = ['BYSCORE', 'REV', 'LIMIT', 0, LIMIT, 'WITHSCORES'] as const;
      const entries = await Promise.all(
        keyspace.shards.map(async (keys) => {
          const rows = await redis.zrange(keys.notices, '+inf', String(since ?? '-inf'), ...range);
          return readScoredIds(rows).map((entry) => ({ ...entry, keys }));
        }),
      );
      const newestFirst = entries.flat().sort((a, b) => b.score - a.score);
      const found = await Promise.all(newestFirst.map(({ keys, id }) => describeDelivery(redis, keys, id)));
      return found.filter((delivery) => delivery !== undefined);
    },
  };
}
