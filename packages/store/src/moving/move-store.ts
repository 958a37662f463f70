import { isCallbackId, type DeliveryId } from '@herald/core';
import { z } from 'zod';
import { ASIDE } from '../backlog/settled-backlog.ts';
import type { ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';
import { EXPIRE_SETTLED_LUA } from './expire-settled-script.ts';
import { FORGET_MOVED_LUA } from './forget-moved-script.ts';
import { readTaken, TakeReply, type SettledDelivery, type SettledTransition } from './read-taken.ts';
import { TAKE_SETTLED_LUA } from './take-settled-script.ts';

export type SettledBatch = {
  /** Ids that were looked at: fewer than asked for are all. */
  readonly looked: number;
  readonly deliveries: readonly SettledDelivery[];
  readonly transitions: readonly SettledTransition[];
  /** They can't be read. */
  readonly damaged: readonly DeliveryId[];
};

/** Another worker takes a shard over this long after the last batch of a dead one, in ms. */
const LEASE_MS = 5_000;
/** Notices don't move: an operator sees the latest, for as long as without a history, in ms. */
const NOTICE_TTL_MS = 7 * 86_400_000;
/** Between two tries to move what was set aside, in ms. */
const ASIDE_PAUSE_MS = 3_600_000;

export type MoveStoreDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** Epoch ms. */
  readonly now: () => number;
};

/** What moves from a shard to the history, and leaves Redis once it is there. */
export function createMoveStore({ redis, keys, now: clock }: MoveStoreDeps) {
  const take = defineScript(redis, TAKE_SETTLED_LUA);
  const forget = defineScript(redis, FORGET_MOVED_LUA);
  const expire = defineScript(redis, EXPIRE_SETTLED_LUA);
  return {
    /** Whether something settled until then, or what was set aside is to be tried again. */
    isDue: async (settledUntil: number, now: number) => {
      const ranges = [['-inf', settledUntil] as const, [ASIDE, ASIDE + now] as const];
      const counts = await Promise.all(ranges.map(([from, to]) => redis.zcount(keys.settled, from, to)));
      return counts.some((count) => count > 0);
    },
    /**
     * Reads what settled until then, the oldest first, and then what was set aside until now; undefined while another
     * mover has the shard.
     * @param mover names who asks: the lease is its own
     */
    async take(
      mover: string,
      settledUntil: number,
      limit: number,
      now = settledUntil,
    ): Promise<SettledBatch | undefined> {
      const args = [keys.prefix, mover, LEASE_MS, settledUntil, limit, NOTICE_TTL_MS, ASIDE, ASIDE + now, clock()];
      const reply = TakeReply.parse(await take([keys.settled, keys.mover], args));
      return reply[0] === 'held' ? undefined : { looked: reply[1], ...readTaken(reply) };
    },
    /** Deletes what is in the history and hasn't changed since. Returns how many deliveries. */
    async forget({ deliveries, transitions }: Pick<SettledBatch, 'deliveries' | 'transitions'>): Promise<number> {
      const rows = deliveries.map(({ delivery, attempts, score }) => [
        ...[delivery.id, score, attempts.length, delivery.endpointId],
        isCallbackId(delivery.endpointId) ? delivery.workspaceId : '',
        ...[delivery.transitionId, String(delivery.erasedAt ?? '')],
      ]);
      const siblings = transitions.map(({ id, deliveryIds }) => [id, deliveryIds]);
      const args = [keys.prefix, JSON.stringify(rows), JSON.stringify(siblings), clock()];
      return z.number().parse(await forget([keys.settled], args));
    },
    /** What can't move now is tried again in an hour, and holds up no other. */
    setAside: (ids: readonly DeliveryId[], now: number) =>
      Promise.all(ids.map((id) => redis.zadd(keys.settled, 'XX', ASIDE + now + ASIDE_PAUSE_MS, id))),
    /** What waits for a history expires. Returns how many deliveries; undefined: there is a history, and nothing expires. */
    async expire(ttlMs: number, limit: number): Promise<number | undefined> {
      const count = z.number().parse(await expire([keys.settled, keys.history], [keys.prefix, ttlMs, limit, clock()]));
      return count === -1 ? undefined : count;
    },
  };
}
export type MoveStore = ReturnType<typeof createMoveStore>;
