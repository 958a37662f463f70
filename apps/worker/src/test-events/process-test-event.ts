import {
  errorCodeOf,
  isSuccess,
  isUnanswered,
  type AttemptVerdict,
  type DeliveryId,
  type WorkspaceId,
} from '@herald/core';
import type { CancelReason, DeliveryStore } from '@herald/store/deliveries/delivery-store';
import type { TestReply } from '@herald/store/test-events/test-replies';
import type { DeliveryReport } from '../deliveries/create-delivery-report.ts';
import type { MakeAttempt } from '../deliveries/make-attempt.ts';
import { toAttemptRecord } from '../deliveries/to-attempt-record.ts';
import type { DeliveryTurn, ProcessVerdict } from '../deliveries/process-delivery.ts';

export type ProcessTestEventDeps = {
  readonly deliveries: Pick<DeliveryStore, 'load' | 'record' | 'cancel'>;
  readonly claim: (workspaceId: WorkspaceId, id: DeliveryId, now: number) => Promise<string>;
  readonly makeAttempt: MakeAttempt;
  readonly reply: (id: DeliveryId, reply: TestReply) => Promise<void>;
  /** Deliveries of one destination that may be in work, over all workers. */
  readonly destinationLimit: number;
  /** The delivery deadline, in ms. */
  readonly deadlineMs: number;
  readonly report: Pick<DeliveryReport, 'attempted' | 'ended'>;
  readonly now: () => number;
};

const FINISHED: ProcessVerdict = { kind: 'finished' };

/**
 * Sends a test event, once: whatever the receiver's filter, also to a disabled one, and never again. A crash after the
 * claim leaves it claimed and unsettled, and whoever finds it so settles it without sending.
 */
export async function processTestEvent(
  deps: ProcessTestEventDeps,
  { id, lease, loaded: read }: DeliveryTurn,
  signal: AbortSignal,
): Promise<ProcessVerdict> {
  const loaded = read ?? (await deps.deliveries.load(id));
  if (loaded.kind !== 'loaded') return FINISHED;
  const { delivery, endpoint } = loaded;
  // Whoever asked for it waits: a removal that was quicker must not look like a worker that is away.
  const sayWhyUnsent = (error = 'canceled') => deps.reply(id, { kind: 'unanswered', error });
  if (delivery.status !== 'pending') {
    if (delivery.status === 'canceled') await sayWhyUnsent(delivery.reason);
    return FINISHED;
  }
  const cancel = async (reason: CancelReason) => {
    deps.report.ended(delivery, 'canceled', reason, await deps.deliveries.cancel(id, reason, deps.now()));
    return FINISHED;
  };
  if (!endpoint) {
    await sayWhyUnsent('receiver_removed');
    return await cancel('receiver_removed');
  }
  if (signal.aborted) return { kind: 'put_back' };
  if ((await deps.claim(delivery.workspaceId, id, deps.now())) !== 'claimed') return await cancel('not_sent_in_time');
  await deps.reply(id, { kind: 'sending', deadlineMs: deps.deadlineMs });
  const result = await deps.makeAttempt(loaded, endpoint);
  const { outcome } = result;
  if (outcome.kind === 'aborted') throw new Error('a test event has no signal that could cut it off');
  const verdict: AttemptVerdict = isSuccess(outcome)
    ? { kind: 'delivered' }
    : { kind: 'failed', reason: 'test_failed' };
  const attempt = toAttemptRecord(outcome, result);
  const now = deps.now();
  const recorded = await deps.deliveries.record({
    delivery,
    destination: loaded.destination,
    attempt,
    verdict,
    now,
    ...(outcome.kind !== 'blocked' && { answered: !isUnanswered(outcome) }),
    gone: false,
    isProbe: false,
    isRedelivery: false,
    lease,
    destinationLimit: deps.destinationLimit,
  });
  const reason = verdict.kind === 'failed' ? verdict.reason : undefined;
  deps.report.attempted({ loaded, endpoint, outcome, attempt, reply: recorded, reason, now });
  await deps.reply(
    id,
    outcome.kind === 'responded'
      ? { kind: 'answered', status: outcome.status }
      : { kind: 'unanswered', error: errorCodeOf(outcome) ?? 'connection_failed' },
  );
  return { kind: 'recorded', end: isUnanswered(outcome) ? 'unanswered' : 'answered' };
}
