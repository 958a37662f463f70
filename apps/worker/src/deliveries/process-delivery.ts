import { judgeAttempt, type Delivery, type DeliveryId, type RetryPolicy } from '@herald/core';
import type { DeliveryStore, EndpointRecord, LoadedDelivery, Logger } from '@herald/infra';
import { logAttempt, toAttemptRecord } from './attempt-log.ts';
import type { MakeAttempt } from './make-attempt.ts';

export type ProcessDeliveryDeps = {
  readonly deliveries: Pick<DeliveryStore, 'load' | 'record' | 'cancel'>;
  readonly makeAttempt: MakeAttempt;
  readonly retryPolicy: RetryPolicy;
  readonly logger: Logger;
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
};

/** What the job's line must do now: nothing more, wait until a time (epoch ms), or take the job back as it was. */
export type ProcessVerdict =
  { readonly kind: 'finished' } | { readonly kind: 'wait'; readonly until: number } | { readonly kind: 'put_back' };

/** An early job is let through when it is due within this time: clocks of two machines differ that much, in ms. */
const EARLY_TOLERANCE_MS = 50;

const FINISHED: ProcessVerdict = { kind: 'finished' };

/**
 * One attempt at one delivery. A stalled job may run twice, so whatever this does must be harmless when done twice.
 * A crash before the send loses nothing; between send and record it leads to a repeat under the same id; after the
 * record the job that comes back finds that it isn't due, or that the delivery is settled.
 */
export async function processDelivery(
  deps: ProcessDeliveryDeps,
  id: DeliveryId,
  signal: AbortSignal,
): Promise<ProcessVerdict> {
  const loaded = await deps.deliveries.load(id);
  if (loaded.kind === 'missing') return FINISHED;
  if (loaded.kind === 'body_lost') {
    deps.logger.error('delivery.body_lost', { deliveryId: id });
    await deps.deliveries.cancel(id, 'body_lost', deps.now());
    return FINISHED;
  }
  const { delivery, endpoint } = loaded;
  if (delivery.status !== 'pending') return FINISHED;
  if (!endpoint?.enabled) {
    await deps.deliveries.cancel(id, endpoint ? 'receiver_disabled' : 'receiver_removed', deps.now());
    return FINISHED;
  }
  const dueAt = delivery.nextAttemptAt ?? 0;
  if (dueAt > deps.now() + EARLY_TOLERANCE_MS) return { kind: 'wait', until: dueAt };
  if (signal.aborted) return { kind: 'put_back' };
  return await attemptDelivery(deps, loaded, delivery, endpoint, signal);
}

async function attemptDelivery(
  deps: ProcessDeliveryDeps,
  loaded: LoadedDelivery,
  delivery: Delivery,
  endpoint: EndpointRecord,
  signal: AbortSignal,
): Promise<ProcessVerdict> {
  const result = await deps.makeAttempt(loaded, endpoint, signal);
  const { outcome } = result;
  if (outcome.kind === 'aborted') return { kind: 'put_back' };
  const now = deps.now();
  const verdict = judgeAttempt(
    outcome,
    { tries: delivery.tries + 1, acceptedAt: delivery.createdAt, now, random: deps.random() },
    deps.retryPolicy,
  );
  const attempt = toAttemptRecord(outcome, result);
  const recorded = await deps.deliveries.record({ delivery, attempt, verdict, now, countsForHealth: true });
  logAttempt(deps.logger, delivery, endpoint, attempt, recorded === 'recorded' ? verdict.kind : recorded);
  return recorded === 'recorded' && verdict.kind === 'retry' ? { kind: 'wait', until: verdict.at } : FINISHED;
}
