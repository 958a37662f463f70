import { type CancelReason, type DeliveryId, EventName, type ListPlace } from '@herald/core';
import { z } from 'zod';
import type { DeliveryStoreDeps } from '../deliveries/delivery-store.ts';
import { createLogReader } from '../logs/log-reader.ts';
import { CLAIM_IDS_LUA, FINISH_CLAIMED_LUA } from '../scripts/claim-script.ts';
import { defineScript } from '../scripts/script.ts';
import { PURGE_LUA } from './purge-scripts.ts';

/** A delivery that was canceled. The event is absent when Redis lost it. */
export type PurgedDelivery = { readonly id: DeliveryId; readonly event?: EventName; readonly reason: CancelReason };

/** Deliveries that one script looks at. */
const STEP = 500;

const Ids = z.array(z.string());
const Purged = z.array(
  z.tuple([z.string(), z.union([EventName, z.literal('')]), z.enum(['receiver_disabled', 'receiver_removed'])]),
);

/**
 * An endpoint whose pending deliveries must end or move. The mark of a removed one also names its places (see
 * PLACES_LUA).
 * @param mark the endpoint's id, then its places, separated by `|`
 */
export function readPurgeMark(mark: string) {
  const [endpointId = '', ...destinations] = mark.split('|');
  return { endpointId, destinations };
}

/** Ends pending deliveries of disabled and removed endpoints, and moves those that wait for a former url or rate. */
export function createPurgeStore({ redis, keys, retention }: DeliveryStoreDeps) {
  const claim = defineScript(redis, CLAIM_IDS_LUA);
  const purge = defineScript(redis, PURGE_LUA);
  const finish = defineScript(redis, FINISH_CLAIMED_LUA);
  const logs = createLogReader(redis);
  return {
    /** Takes marks (see `readPurgeMark`); another worker gets them only after `leaseEndsAt` (epoch ms). */
    claim: async (now: number, leaseEndsAt: number, limit: number) =>
      Ids.parse(await claim([keys.purge], [now, leaseEndsAt, limit])),
    /**
     * Ends an endpoint's pending deliveries, and yields those of each step. For an endpoint that is enabled again it
     * ends none: deliveries in former places move to the present one.
     */
    async *purge(mark: string, now: number): AsyncGenerator<readonly PurgedDelivery[]> {
      const { endpointId, destinations } = readPurgeMark(mark);
      const present = await redis.hget(keys.endpoint(endpointId), 'dst');
      // It may be removed between two steps.
      const places = [...(present === null ? [] : [present]), ...destinations].join('|');
      let last: ListPlace | undefined;
      for (;;) {
        // What is settled may move to the history meanwhile, and leave the log.
        const entries = await logs.oldestFirst(keys.endpointLog(endpointId), {}, STEP, last);
        last = entries.at(-1);
        const page = entries.map(({ id }) => id);
        if (page.length > 0) {
          const args = [keys.prefix, now, retention.expiryMs, places, ...page];
          const rows = Purged.parse(await purge([keys.endpoint(endpointId), ...page.map(keys.delivery)], args));
          yield rows.map(([id, event, reason]) => ({ id, reason, ...(event && { event }) }));
        }
        if (page.length < STEP) return;
      }
    },
    /** Removes a mark, unless it was set again since it was claimed until `leaseEndsAt`. */
    finish: async (mark: string, leaseEndsAt: number) => {
      await finish([keys.purge], [mark, leaseEndsAt]);
    },
  };
}
export type PurgeStore = ReturnType<typeof createPurgeStore>;
