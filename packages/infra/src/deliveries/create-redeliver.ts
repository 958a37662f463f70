import { NotFoundError, ReceiverDisabledError, type Delivery, type DeliveryId, type WorkspaceId } from '@herald/core';
import type { DeliveryJob } from '../queues/delivery-queue.ts';
import type { DeliveryLog } from './delivery-log.ts';

/** Tells operators of redeliveries. */
export type RedeliveryReport = {
  readonly requested: (workspaceId: WorkspaceId, id: DeliveryId) => void;
  /** Its job could not be added; a sweeper does that. */
  readonly leftOwed: (id: DeliveryId, error: unknown) => void;
};

export type RedeliverDeps = {
  readonly log: Pick<DeliveryLog, 'redeliver' | 'find'>;
  /** Brings the delivery's job forward, or adds it. */
  readonly hurry: (workspaceId: WorkspaceId, job: DeliveryJob, now: number) => Promise<void>;
  readonly report: RedeliveryReport;
  readonly now: () => number;
};

/** A sweeper sees to a redelivery whose job could not be added, in ms. */
const SWEEP_AFTER_MS = 1_000;

/**
 * One more attempt, now. Once it resolves the attempt is owed, whatever crashes.
 * @throws NotFoundError, ReceiverDisabledError
 */
export function createRedeliver({ log, hurry, report, now }: RedeliverDeps) {
  return async function redeliver(workspaceId: WorkspaceId, id: DeliveryId): Promise<Delivery> {
    const at = now();
    const reply = await log.redeliver(workspaceId, id, at + SWEEP_AFTER_MS);
    if (reply.kind === 'missing') throw new NotFoundError('delivery', id);
    if (reply.kind === 'removed') throw new NotFoundError('receiver', 'of this delivery any more');
    if (reply.kind === 'disabled') throw new ReceiverDisabledError(reply.endpointId);
    report.requested(workspaceId, id);
    await hurry(workspaceId, { id, event: reply.event }, at).catch((error: unknown) => {
      report.leftOwed(id, error);
    });
    const found = await log.find(workspaceId, id);
    if (!found) throw new NotFoundError('delivery', id);
    return found.delivery;
  };
}
export type Redeliver = ReturnType<typeof createRedeliver>;
