import {
  EventName,
  type AttemptVerdict,
  type Delivery,
  type DeliveryId,
  type DeliveryStatus,
  type DestinationId,
  type DisabledReason,
} from '@herald/core';
import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../keyspace/keys.ts';
import { newRevision } from '../redis/revision.ts';
import { batchCalls } from '../scripts/batch-calls.ts';
import { defineScript, ScriptCommandError } from '../scripts/script.ts';
import { readLoadedDeliveries, type AttemptRecord, type LoadReply } from './delivery-record.ts';
import type { DeliveryRetention } from './delivery-retention.ts';
import { END_DELIVERY_LUA, LOAD_DELIVERIES_LUA } from './delivery-scripts.ts';
import { RECORD_ATTEMPTS_LUA } from './record-attempt-script.ts';

/** Why a delivery was canceled instead of sent. */
export type CancelReason = 'receiver_removed' | 'receiver_disabled' | 'not_sent_in_time' | 'body_lost';

export type RecordedAttempt = {
  readonly delivery: Delivery;
  readonly destination: DestinationId;
  readonly attempt: AttemptRecord;
  readonly verdict: AttemptVerdict;
  /** Epoch ms. */
  readonly now: number;
  /** The destination gave an answer, whatever it said. Absent: nothing went out, and that says nothing about it. */
  readonly answered?: boolean;
  /** The endpoint said that it is gone for good. */
  readonly gone: boolean;
  /** Until when the whole destination asked to be left alone, epoch ms. */
  readonly holdUntil?: number;
  /** It went out through an open breaker. */
  readonly isProbe: boolean;
  /** Somebody asked for it. */
  readonly isRedelivery: boolean;
  /**
   * How long the endpoint may fail without one success before it is disabled, in ms. Absent: the attempt says nothing
   * about its health, as a test event's.
   */
  readonly disableAfterMs?: number;
  /** Of the delivery in the queue; it ends with the record. */
  readonly lease: string;
  /** Deliveries of one destination that may be in work, over all workers. */
  readonly destinationLimit: number;
};

export type RecordReply = {
  /** `superseded`: another attempt moved the delivery on; this one is in the log. */
  readonly kind: 'recorded' | 'superseded' | 'missing';
  readonly status?: DeliveryStatus;
  /** Redeliveries still pending. */
  readonly pendingRedeliveries: number;
  /** The endpoint was disabled by this attempt. */
  readonly disabled?: DisabledReason;
  /**
   * What this attempt, and no other, did to the delivery: it ended it, or brought one that had failed or been canceled.
   * Absent: it is pending still, or had ended before.
   */
  readonly change?: 'settled' | 'recovered';
  /** The destination's breaker was opened, or closed, by this attempt. */
  readonly breaker?: 'opened' | 'closed';
};

/** Whether this call ended the delivery; another may have done so before. The event is absent when Redis forgot it. */
export type EndReply =
  { readonly kind: 'ended'; readonly event?: EventName } | { readonly kind: 'settled' | 'missing' };

/** The delivery records of one shard. */
export type DeliveryStore = {
  readonly load: (id: DeliveryId) => Promise<LoadReply>;
  readonly record: (attempt: RecordedAttempt) => Promise<RecordReply>;
  /** Ends a pending delivery that can't be made any more. */
  readonly cancel: (id: DeliveryId, reason: CancelReason, now: number) => Promise<EndReply>;
  /** Fails a pending delivery whose time is up. */
  readonly giveUp: (id: DeliveryId, now: number) => Promise<EndReply>;
};

export type DeliveryStoreDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly retention: DeliveryRetention;
};

/**
 * Of one call of a script, and how many calls at a time: fewer and larger ones cost less, and leave the worker nothing to do
 * while it waits.
 */
const TOGETHER = { limit: 10, underWay: 4 };

const LoadReplies = z.array(z.unknown());
const RecordText = z.tuple([
  z.enum(['recorded', 'superseded', 'missing']),
  z.string(),
  z.number(),
  z.enum(['', 'gone', 'failing']),
  z.enum(['', 'settled', 'recovered']),
  z.enum(['', 'opened', 'closed']),
]);
const RecordReplies = z.array(z.union([RecordText, z.tuple([z.literal('failed'), z.string()])]));

/** One attempt as the script takes it. */
type RecordInput = { readonly id: DeliveryId; readonly attempt: AttemptRecord } & Readonly<Record<string, unknown>>;

const EndText = z.tuple([z.enum(['ended', 'settled', 'missing'])], z.union([EventName, z.literal('')]));

export function createDeliveryStore({ redis, keys, retention }: DeliveryStoreDeps): DeliveryStore {
  const loadAll = defineScript(redis, 'loadDeliveries', LOAD_DELIVERIES_LUA);
  const recordAll = defineScript(redis, 'recordAttempts', RECORD_ATTEMPTS_LUA);
  const end = defineScript(redis, 'endDelivery', END_DELIVERY_LUA);

  const load = batchCalls({
    call: async (ids: readonly DeliveryId[]) => {
      const rows = LoadReplies.parse(await loadAll(ids.map(keys.delivery), [keys.prefix, ...ids]));
      return readLoadedDeliveries(ids.map((id, index) => ({ id, row: rows[index] })));
    },
    ...TOGETHER,
  });
  const record = batchCalls({
    call: async (inputs: readonly RecordInput[]) =>
      RecordReplies.parse(
        await recordAll(
          inputs.map(({ id }) => keys.delivery(id)),
          [keys.prefix, ...inputs.flatMap(({ attempt, ...input }) => [JSON.stringify(input), JSON.stringify(attempt)])],
        ),
      ),
    ...TOGETHER,
  });

  const endDelivery = async (id: DeliveryId, status: DeliveryStatus, reason: string, now: number) => {
    const [kind, event] = EndText.parse(
      await end([keys.delivery(id)], [keys.prefix, id, reason, now, retention.recordMs, status]),
    );
    if (kind !== 'ended') return { kind };
    return { kind, ...(event && { event }) };
  };

  return {
    async load(id) {
      const loaded = await load(id);
      if (!loaded) throw new Error(`${id} could not be read`);
      return loaded;
    },
    async record({ delivery, destination, attempt, verdict, ...facts }) {
      const { id, endpointId } = delivery;
      const reply = await record({
        id,
        endpoint: endpointId,
        destination,
        tries: delivery.tries,
        lease: facts.lease,
        limit: facts.destinationLimit,
        now: facts.now,
        ttl: retention.recordMs,
        disableAfter: facts.disableAfterMs ?? 0,
        newVersion: newRevision(),
        answered: facts.answered,
        probe: facts.isProbe,
        redelivery: facts.isRedelivery,
        gone: facts.gone,
        hold: facts.holdUntil,
        health: facts.disableAfterMs !== undefined,
        status: verdict.kind === 'retry' ? 'pending' : verdict.kind,
        due: verdict.kind === 'retry' ? verdict.at : undefined,
        why: verdict.kind === 'failed' ? verdict.reason : '',
        attempt,
      });
      if (reply[0] === 'failed') throw new ScriptCommandError(reply[1]);
      const [kind, status, pendingRedeliveries, disabled, change, breaker] = reply;
      return {
        kind,
        ...(status !== '' && { status: status as DeliveryStatus }),
        pendingRedeliveries,
        ...(disabled !== '' && { disabled }),
        ...(change !== '' && { change }),
        ...(breaker !== '' && { breaker }),
      };
    },
    cancel: (id, reason, now) => endDelivery(id, 'canceled', reason, now),
    giveUp: (id, now) => endDelivery(id, 'failed', 'too_old', now),
  };
}
