import {
  DELIVERY_STATUSES,
  DeliveryEvent,
  NOTICE_EVENTS,
  type AttemptVerdict,
  type CancelReason,
  type Delivery,
  type DeliveryId,
  type DeliveryStatus,
  type NoticeDraft,
} from '@herald/core';
import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../keys/keys.ts';
import { newRevision } from '../redis/random-token.ts';
import { fieldsOf } from '../stats/counter-layout.ts';
import { batchCalls } from '../redis/batch-calls.ts';
import { defineScript, ScriptCommandError } from '../redis/script.ts';
import { writeAttempt, type AttemptRecord } from './attempt-record.ts';
import { readLoadedDelivery, type LoadReply } from './delivery-record.ts';
import type { DeliveryRetention } from './delivery-retention.ts';
import { END_DELIVERY_LUA, LOAD_DELIVERY_LUA } from './delivery-scripts.ts';
import { writeFirstAttempt } from './first-attempt.ts';
import { RECORD_ATTEMPTS_LUA } from './record-attempt-script.ts';

export type RecordedAttempt = {
  readonly delivery: Delivery;
  /** The group of its endpoint, as it was sent to. */
  readonly group: string;
  readonly attempt: AttemptRecord;
  readonly verdict: AttemptVerdict;
  /** Epoch ms. */
  readonly now: number;
  /** Whether the endpoint answered at all. Absent when nothing went out, which says nothing about it. */
  readonly answered?: boolean;
  /** The endpoint said that it is gone for good. */
  readonly gone: boolean;
  /** Until when the receiver asked to be left alone, epoch ms. */
  readonly holdUntil?: number;
  /** It went out through an open breaker. */
  readonly isProbe: boolean;
  readonly isRedelivery: boolean;
  /** How long the endpoint may fail before it is disabled, in ms. Absent for test events and notices: they don't count. */
  readonly disableAfterMs?: number;
  /**
   * The `urlChangedAt` of the endpoint as it was sent to. If its url has changed since, the attempt says nothing about
   * the endpoint.
   */
  readonly urlChangedAt?: number;
  /** For the notice to the platform, if the attempt changes the state of the endpoint. Absent: none is made. */
  readonly notice?: NoticeDraft;
  /** The delivery's lease in the queue; it ends with the record. */
  readonly lease: string;
  /** Deliveries of one group that may be in work, over all workers. */
  readonly groupLimit: number;
};

/** `ended`: by this call. `settled`: it had ended before. The event is absent when Redis lost it. */
export type EndReply =
  | { readonly kind: 'ended'; readonly event?: DeliveryEvent }
  | { readonly kind: 'settled' | 'missing' };

export type DeliveryStoreDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly retention: DeliveryRetention;
};

const RecordText = z.tuple([
  // `superseded`: another attempt moved the delivery on; this one is in the log.
  z.enum(['recorded', 'superseded', 'missing']),
  // The delivery's status now; '' when it is missing.
  z.enum(['', ...DELIVERY_STATUSES]),
  // Redeliveries still pending.
  z.number(),
  // Why this attempt disabled the endpoint.
  z.enum(['', 'gone', 'failing']),
  // `settled`: this very attempt ended the delivery. `recovered`: it succeeded after the delivery had failed or been
  // canceled. '': the delivery is still pending, or had ended before.
  z.enum(['', 'settled', 'recovered']),
  // What this attempt did to the breaker of its group.
  z.enum(['', 'opened', 'closed']),
  // The notice that this attempt made.
  z.enum(['', ...NOTICE_EVENTS]),
]);
const RecordReplies = z.array(z.union([RecordText, z.tuple([z.literal('failed'), z.string()])]));
const EndText = z.tuple([z.enum(['ended', 'settled', 'missing'])], z.union([DeliveryEvent, z.literal('')]));

/** The delivery records of one shard. */
export function createDeliveryStore({ redis, keys, retention }: DeliveryStoreDeps) {
  const load = defineScript(redis, LOAD_DELIVERY_LUA);
  const recordAll = defineScript(redis, RECORD_ATTEMPTS_LUA);
  const end = defineScript(redis, END_DELIVERY_LUA);

  // Fewer and larger calls of a script cost less, and leave the worker idle while it waits.
  const record = batchCalls({
    call: async (attempts: readonly { readonly key: string; readonly args: readonly string[] }[]) => {
      const args = attempts.flatMap((attempt) => attempt.args);
      const recordKeys = attempts.map(({ key }) => key);
      return RecordReplies.parse(await recordAll(recordKeys, [keys.prefix, ...args]));
    },
    limit: 10,
    underWay: 4,
  });

  const endDelivery = async (
    id: DeliveryId,
    status: DeliveryStatus,
    reason: string,
    now: number,
  ): Promise<EndReply> => {
    const args = [keys.prefix, id, reason, now, retention.expiryMs, status];
    const [kind, event] = EndText.parse(await end([keys.delivery(id)], args));
    return kind === 'ended' ? { kind, ...(event && { event }) } : { kind };
  };

  return {
    load: async (id: DeliveryId): Promise<LoadReply> =>
      readLoadedDelivery(id, await load([keys.delivery(id)], [keys.prefix, id])),
    async record({ notice: draft, ...recorded }: RecordedAttempt) {
      const { delivery, attempt, verdict, gone, isRedelivery, isProbe, group, ...facts } = recorded;
      const { id, endpointId, tries, createdAt, isReleased } = delivery;
      // Of one that has been tried, the record has the first attempt.
      const first = tries === 0 ? writeFirstAttempt(attempt, createdAt) : undefined;
      const input = {
        ...facts,
        ...(gone && { gone }),
        ...(isRedelivery && { isRedelivery }),
        ...(isProbe && { isProbe }),
        ...(group !== endpointId && { group }),
        id,
        endpointId,
        tries,
        ...(isReleased && { released: true }),
        verdict,
        tookMs: attempt.durationMs,
        ttl: retention.expiryMs,
        ...(verdict.kind !== 'delivered' && { newVersion: newRevision() }),
        ...fieldsOfAttempt(recorded),
        ...(draft && { notice: { ...draft, logTtl: retention.logMs } }),
        ...(first && { first }),
      };
      const args = [JSON.stringify(input), writeAttempt(attempt)];
      const reply = await record({ key: keys.delivery(id), args });
      if (reply[0] === 'failed') throw new ScriptCommandError(reply[1]);
      const [kind, status, pendingRedeliveries, disabled, change, breaker, notice] = reply;
      return {
        kind,
        ...(status !== '' && { status }),
        pendingRedeliveries,
        ...(disabled !== '' && { disabled }),
        ...(change !== '' && { change }),
        ...(breaker !== '' && { breaker }),
        ...(notice !== '' && { notice }),
      };
    },
    /** Ends a pending delivery that can't be made any more. */
    cancel: (id: DeliveryId, reason: CancelReason, now: number) => endDelivery(id, 'canceled', reason, now),
    /** Fails a pending delivery that has waited too long. */
    giveUp: (id: DeliveryId, now: number) => endDelivery(id, 'failed', 'too_old', now),
  };
}
export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
export type RecordReply = Awaited<ReturnType<DeliveryStore['record']>>;

/** The fields for which an attempt counts. Test events and notices have none. */
function fieldsOfAttempt(recorded: Omit<RecordedAttempt, 'notice'>) {
  const { delivery, attempt, verdict, isRedelivery, now, disableAfterMs } = recorded;
  const { tries, createdAt, scheduledAt } = delivery;
  if (disableAfterMs === undefined) return {};
  const isAtOnce = tries === 0 && !isRedelivery && scheduledAt === createdAt;
  return fieldsOf({
    isSuccess: verdict.kind === 'delivered',
    durationMs: attempt.durationMs,
    arrivedAfterMs: isAtOnce ? now - createdAt : undefined,
  });
}
