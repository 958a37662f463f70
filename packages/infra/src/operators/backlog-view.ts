import type { DeliveryId, DestinationId } from '@herald/core';
import { readBacklogScore } from '../deliveries/backlog-scripts.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../redis/keys.ts';
import { readScoredIds } from '../redis/scored-ids.ts';
import { describeDeliveries, type DeliveryDescription } from './describe-deliveries.ts';

/** A destination with a backlog. Times are epoch ms. */
export type BacklogDescription = {
  readonly id: DestinationId;
  readonly count: number;
  /** The breaker is open: one probe at a time goes out, the next one at `nextProbeAt`. */
  readonly isOpen: boolean;
  /** Sends without an answer, in a row. */
  readonly unanswered: number;
  readonly nextProbeAt?: number;
  /** Until when the destination asked to be left alone. */
  readonly holdUntil?: number;
  /** Since when the first in line has waited there; absent while it is in work, or goes first at somebody's request. */
  readonly waitsSince?: number;
  readonly first?: DeliveryDescription;
};

/** A destination, and the deliveries that are next in its backlog. */
export type BacklogDetail = BacklogDescription & { readonly next: readonly DeliveryDescription[] };

/** The backlogs of all shards, as an operator sees them. */
export type BacklogView = {
  /** The longest first. Of very many destinations with a backlog only some: those to be served soonest. */
  readonly list: (now: number) => Promise<readonly BacklogDescription[]>;
  readonly find: (id: DestinationId, now: number) => Promise<BacklogDetail | undefined>;
};

/** Destinations per shard that are looked at. */
const LIMIT = 500;
const NEXT = 10;

export type BacklogViewDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace };

export function createBacklogView({ redis, keyspace }: BacklogViewDeps): BacklogView {
  return {
    async list(now) {
      const found = await Promise.all(
        keyspace.shards.map(async (keys) => {
          const ids = await redis.zrange(keys.backlogs, 0, String(LIMIT - 1));
          return await Promise.all(ids.map((id) => describeBacklog(redis, keys, id, now)));
        }),
      );
      return found
        .flat()
        .filter((backlog) => backlog !== undefined)
        .sort((a, b) => b.count - a.count);
    },
    async find(id, now) {
      const found = await Promise.all(
        keyspace.shards.map(async (keys) => {
          const [backlog, ids] = await Promise.all([
            describeBacklog(redis, keys, id, now),
            redis.zrange(keys.backlog(id), 0, String(NEXT - 1)),
          ]);
          if (!backlog) return undefined;
          const next = await describeDeliveries(redis, keys, ids);
          return { ...backlog, next: next.filter((delivery) => delivery !== undefined) };
        }),
      );
      return found.find((backlog) => backlog !== undefined);
    },
  };
}

/** Undefined when nothing waits there, such as just after the last one left. */
async function describeBacklog(
  redis: RedisClient,
  keys: ShardKeys,
  id: DestinationId,
  now: number,
): Promise<BacklogDescription | undefined> {
  const [count, rows, [open, unanswered, probe, hold]] = await Promise.all([
    redis.zcard(keys.backlog(id)),
    redis.zrange(keys.backlog(id), 0, '0', 'WITHSCORES'),
    redis.hmget(keys.breaker(id), 'open', 'fails', 'probe', 'hold'),
  ]);
  const head = readScoredIds(rows)[0];
  if (!head) return undefined;
  const [first] = await describeDeliveries(redis, keys, [head.id satisfies DeliveryId]);
  const isOpen = open === '1';
  const waitsSince = readBacklogScore(head.score, now);
  return {
    ...{ id, count, isOpen, unanswered: Number(unanswered ?? 0) },
    ...(isOpen && probe != null && { nextProbeAt: Number(probe) }),
    ...(Number(hold ?? 0) > now && { holdUntil: Number(hold) }),
    ...(waitsSince !== undefined && { waitsSince }),
    ...(first && { first }),
  };
}
