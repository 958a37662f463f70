import type { AttemptVerdict, Delivery, DeliveryId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../redis/keys.ts';
import { defineScript } from '../redis/script.ts';
import { readLoadedDelivery, type AttemptRecord, type LoadReply } from './delivery-record.ts';
import type { DeliveryRetention } from './delivery-retention.ts';
import { CANCEL_DELIVERY_LUA, LOAD_DELIVERY_LUA, RECORD_ATTEMPT_LUA } from './delivery-scripts.ts';

/** Attempts that a delivery's log keeps; the schedule makes 10, redeliveries more. */
const ATTEMPT_LOG_LIMIT = 50;

/** Why a delivery was canceled instead of sent. */
export type CancelReason = 'receiver_removed' | 'receiver_disabled' | 'not_sent_in_time' | 'body_lost';

export type RecordedAttempt = {
  readonly delivery: Delivery;
  readonly attempt: AttemptRecord;
  readonly verdict: AttemptVerdict;
  /** Epoch ms. */
  readonly now: number;
  /** A test event's attempts say nothing about the endpoint's health. */
  readonly countsForHealth: boolean;
};

/** The delivery records of one shard. */
export type DeliveryStore = {
  readonly load: (id: DeliveryId) => Promise<LoadReply>;
  readonly record: (attempt: RecordedAttempt) => Promise<'recorded' | 'superseded' | 'missing'>;
  /** Ends a pending delivery that can't be made any more. */
  readonly cancel: (id: DeliveryId, reason: CancelReason, now: number) => Promise<void>;
};

export type DeliveryStoreDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly retention: DeliveryRetention;
};

export function createDeliveryStore({ redis, keys, retention }: DeliveryStoreDeps): DeliveryStore {
  const load = defineScript(redis, 'loadDelivery', LOAD_DELIVERY_LUA);
  const record = defineScript(redis, 'recordAttempt', RECORD_ATTEMPT_LUA);
  const cancel = defineScript(redis, 'cancelDelivery', CANCEL_DELIVERY_LUA);

  return {
    async load(id) {
      return readLoadedDelivery(id, await load([keys.delivery(id)], [keys.prefix]));
    },
    async record({ delivery, attempt, verdict, now, countsForHealth }) {
      const reply = await record(
        [keys.delivery(delivery.id), keys.attempts(delivery.id), keys.endpoint(delivery.endpointId)],
        [
          keys.prefix,
          JSON.stringify(attempt),
          ATTEMPT_LOG_LIMIT,
          delivery.tries,
          verdict.kind === 'retry' ? 'pending' : verdict.kind,
          verdict.kind === 'retry' ? verdict.at : '',
          verdict.kind === 'failed' ? verdict.reason : '',
          now,
          retention.recordMs,
          countsForHealth ? '1' : '0',
        ],
      );
      return reply as 'recorded' | 'superseded' | 'missing';
    },
    async cancel(id, reason, now) {
      await cancel([keys.delivery(id)], [keys.prefix, reason, now, retention.recordMs]);
    },
  };
}
