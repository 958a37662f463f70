import {
  NotFoundError,
  PayloadErasedError,
  PayloadNotKeptError,
  ReceiverDisabledError,
  ReceiverLockedError,
  type DeliveryId,
  type WorkspaceId,
} from '@herald/core';
import type { DeliveryLog } from './delivery-log.ts';
import type { ListedDelivery } from './delivery-reader.ts';

/** Tells operators about redeliveries. */
export type RedeliveryReport = { readonly requested: (workspaceId: WorkspaceId, id: DeliveryId) => void };

export type RedeliverDeps = {
  readonly log: Pick<DeliveryLog, 'redeliver' | 'find'>;
  readonly report: RedeliveryReport;
  readonly now: () => number;
};

/**
 * Makes one more attempt, now. Once this resolves, the attempt is in the queue and survives any crash.
 * @throws NotFoundError, ReceiverDisabledError, ReceiverLockedError, PayloadErasedError, PayloadNotKeptError,
 * HistoryUnavailableError
 */
export function createRedeliver({ log, report, now }: RedeliverDeps) {
  return async function redeliver(workspaceId: WorkspaceId, id: DeliveryId): Promise<ListedDelivery> {
    const reply = await log.redeliver(workspaceId, id, now());
    if (reply.kind === 'missing') throw new NotFoundError('delivery', id);
    if (reply.kind === 'removed') throw new NotFoundError('receiver', 'of this delivery any more');
    if (reply.kind === 'erased') throw new PayloadErasedError(id);
    if (reply.kind === 'not_kept') throw new PayloadNotKeptError(id);
    if (reply.kind === 'disabled') throw new ReceiverDisabledError(reply.endpointId);
    if (reply.kind === 'locked') throw new ReceiverLockedError(reply.endpointId, reply.reason);
    report.requested(workspaceId, id);
    const found = await log.find(workspaceId, id);
    if (!found) throw new NotFoundError('delivery', id);
    return found.delivery;
  };
}
export type Redeliver = ReturnType<typeof createRedeliver>;
