import { EventName, type DeliveryId } from '@herald/core';
import { z } from 'zod';
import type { CancelReason } from '../deliveries/delivery-store.ts';
import type { DeliveryRetention } from '../deliveries/delivery-retention.ts';
import { CLAIM_IDS_LUA, FINISH_CLAIMED_LUA } from '../scripts/claim-script.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import { readPurgeMark } from './purge-mark.ts';
import { PURGE_LUA } from './purge-scripts.ts';

/** A delivery that was canceled. The event is absent when Redis forgot it. */
export type PurgedDelivery = { readonly id: DeliveryId; readonly event?: EventName; readonly reason: CancelReason };

/** Deliveries looked at in one go. */
const STEP = 500;

/**
 * Ends what was pending for endpoints that were disabled or removed, in one shard; moves what waits in the group of a former
 * url.
 */
export type PurgeStore = {
  /** Takes marks of endpoints (see `readPurgeMark`); another worker gets them only after `leaseEndsAt` (epoch ms). */
  readonly claim: (now: number, leaseEndsAt: number, limit: number) => Promise<readonly string[]>;
  /**
   * Ends the endpoint's pending deliveries, step by step; yields those of each. None, once it is enabled again: then
   * what waits in its former destination's group moves to the present one's.
   */
  readonly purge: (mark: string, now: number) => AsyncGenerator<readonly PurgedDelivery[]>;
  /** Takes it off the list, unless it was put there again since it was claimed until `leaseEndsAt`. */
  readonly finish: (mark: string, leaseEndsAt: number) => Promise<void>;
};

export type PurgeStoreDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly retention: DeliveryRetention;
};

const Purged = z.array(
  z.tuple([z.string(), z.union([EventName, z.literal('')]), z.enum(['receiver_disabled', 'receiver_removed'])]),
);

export function createPurgeStore({ redis, keys, retention }: PurgeStoreDeps): PurgeStore {
  const claim = defineScript(redis, 'claimPurges', CLAIM_IDS_LUA);
  const purge = defineScript(redis, 'purge', PURGE_LUA);
  const finish = defineScript(redis, 'finishPurge', FINISH_CLAIMED_LUA);
  return {
    async claim(now, leaseEndsAt, limit) {
      return z.array(z.string()).parse(await claim([keys.purge], [now, leaseEndsAt, limit]));
    },
    async *purge(mark, now) {
      const { endpointId: id, destinations } = readPurgeMark(mark);
      const present = await redis.hget(keys.endpoint(id), 'dst');
      const places = [...(present === null ? [] : [present]), ...destinations].join('|');
      for (let offset = 0; ; offset += STEP) {
        const page = await redis.zrange(keys.endpointLog(id), offset, String(offset + STEP - 1));
        if (page.length > 0) {
          const args = [keys.prefix, now, retention.recordMs, places, ...page];
          const rows = Purged.parse(await purge([keys.endpoint(id), ...page.map(keys.delivery)], args));
          yield rows.map(([ended, event, reason]) => ({ id: ended, reason, ...(event && { event }) }));
        }
        if (page.length < STEP) return;
      }
    },
    async finish(mark, leaseEndsAt) {
      await finish([keys.purge], [mark, leaseEndsAt]);
    },
  };
}
