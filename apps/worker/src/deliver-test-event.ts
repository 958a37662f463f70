import { errorCodeOf, isSuccess, type DeliveryId, type WorkspaceId } from '@herald/core';
import { OwnFaultError } from '@herald/egress/egress-errors';
import type { TestReply } from '@herald/store/test-events/test-replies';
import {
  cancelDelivery,
  FINISHED,
  PUT_BACK,
  recordAttempt,
  type DeliveryTurn,
  type ProcessVerdict,
  type TurnDeps,
} from './deliver.ts';

export type ProcessTestEventDeps = TurnDeps & {
  readonly claim: (workspaceId: WorkspaceId, id: DeliveryId, claimer: string) => Promise<string>;
  readonly reply: (id: DeliveryId, reply: TestReply) => Promise<void>;
  /** The delivery deadline, in ms. */
  readonly deadlineMs: number;
};

/**
 * Sends a test event once, whatever the receiver's filter, also to a disabled receiver, and never again. A crash after
 * the claim leaves it claimed and unsettled. The next worker that gets it then settles it without sending.
 */
export async function processTestEvent(
  deps: ProcessTestEventDeps,
  turn: DeliveryTurn,
  signal: AbortSignal,
): Promise<ProcessVerdict> {
  const { id } = turn;
  const loaded = turn.loaded ?? (await deps.deliveries.load(id));
  if (loaded.kind !== 'loaded') return FINISHED;
  const { delivery, endpoint } = loaded;
  // A caller waits for the reply: a removal that was quicker must not look like a missing worker.
  const explainUnsent = (error = 'canceled') => deps.reply(id, { kind: 'unanswered', error });
  if (delivery.status !== 'pending') {
    if (delivery.status === 'canceled') await explainUnsent(delivery.reason);
    return FINISHED;
  }
  if (!endpoint) {
    await explainUnsent('receiver_removed');
    return await cancelDelivery(deps, turn, delivery, 'receiver_removed');
  }
  // Locked since it was asked for. One that is only disabled gets test events.
  if (endpoint.disabledReason === 'locked') {
    await explainUnsent('receiver_disabled');
    return await cancelDelivery(deps, turn, delivery, 'receiver_disabled');
  }
  if (signal.aborted) return PUT_BACK;
  const claimed = await deps.claim(delivery.workspaceId, id, turn.lease);
  if (claimed === 'taken') await explainUnsent('not_sent_in_time');
  if (claimed !== 'claimed') return await cancelDelivery(deps, turn, delivery, 'not_sent_in_time');
  await deps.reply(id, { kind: 'sending', deadlineMs: deps.deadlineMs });
  const result = await deps.makeAttempt(loaded, endpoint).catch((error: unknown) => {
    // Nothing went out, which is not the receiver's fault; and it is claimed, so no other worker may send it.
    if (error instanceof OwnFaultError) return undefined;
    throw error;
  });
  if (result === undefined) {
    await explainUnsent('not_sent_in_time');
    return await cancelDelivery(deps, turn, delivery, 'not_sent_in_time');
  }
  const { outcome } = result;
  if (outcome.kind === 'aborted') throw new Error('a test event has no signal that could cut it off');
  const verdict = await recordAttempt(deps, turn, {
    loaded,
    endpoint,
    outcome,
    result,
    verdict: isSuccess(outcome) ? { kind: 'delivered' } : { kind: 'failed', reason: 'test_failed' },
    now: deps.now(),
    gone: false,
    isRedelivery: false,
  });
  const durationMs = Math.round(result.durationMs);
  await deps.reply(
    id,
    outcome.kind === 'responded'
      ? {
          kind: 'answered',
          status: outcome.status,
          durationMs,
          answer: outcome.answer,
          ...(outcome.bodyNote && { bodyNote: outcome.bodyNote }),
        }
      : { kind: 'unanswered', error: errorCodeOf(outcome) ?? 'connection_failed', durationMs },
  );
  return verdict;
}
