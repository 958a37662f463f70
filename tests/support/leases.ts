import type { DeliveryId } from '@herald/core';
import { defineScript } from '@herald/store/redis/script';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { ShardKeys } from '@herald/store/keys/keys';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { listKeys } from './start-topology.ts';

export const LEASE_MS = 20_000;

const LEASE_ONE_LUA = /* lua */ `
-- Put one waiting delivery under a lease, as a reserve would.
-- KEYS[1] leases (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] its end (ms)   ARGV[4] group   ARGV[5] id   ARGV[6] score   ARGV[7] handle
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
dequeue(ARGV[4], { ARGV[5] }, tonumber(ARGV[2]))
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[7])
redis.call('HINCRBY', prefix .. 'g:' .. ARGV[4], 'n', 1)
`;

let leases = 0;

/** Leases of chosen deliveries, for tests that record attempts and reserve nothing. */
export function createLeases(redis: RedisClient, { queue }: ShardKeys) {
  const lease = defineScript(redis, LEASE_ONE_LUA);
  const prefix = queue.waiting('');

  const findLease = async (id: DeliveryId): Promise<string | undefined> =>
    (await redis.zrange(queue.leases, '0', '-1')).find((handle) => handle.split('|').slice(3).join('|') === id);

  const findWaiting = async (id: DeliveryId, likelyGroup = '') => {
    const likely = await redis.zscore(queue.waiting(likelyGroup), id);
    if (likely !== null) return { group: likelyGroup, score: likely };
    for (const key of (await listKeys(redis)).filter((name) => name.startsWith(prefix))) {
      const score = await redis.zscore(key, id);
      if (score !== null) return { group: key.slice(prefix.length), score };
    }
    return undefined;
  };

  return {
    find: findLease,
    /** The lease of a delivery: the one that is held, a new one where it waits, and else one that has ended. */
    async of(id: DeliveryId, now: number, group = 'somewhere'): Promise<string> {
      const held = await findLease(id);
      if (held !== undefined) return held;
      const waiting = await findWaiting(id, group);
      const handle = `${waiting?.score ?? now}|${waiting?.group ?? group}|test${leases++}|${id}`;
      if (waiting) {
        const { group: from, score } = waiting;
        await lease([queue.leases], [queue.prefix, now, now + LEASE_MS, from, id, score, handle]);
      }
      return handle;
    },
    /** Whether it waits, or is in work. */
    async isQueued(id: DeliveryId): Promise<boolean> {
      return (await findLease(id)) !== undefined || (await findWaiting(id)) !== undefined;
    },
  };
}
