import {
  NotFoundError,
  ReceiverDisabledError,
  type Delivery,
  type DeliveryId,
  type EndpointId,
  type ListDeliveries,
  type TaskId,
  type WorkspaceId,
} from '@herald/core';
import type { AcceptanceMetrics, DeliveryCursor, DeliveryJob, DeliveryLog, Logger } from '@herald/infra';

export type ManageDeliveriesDeps = {
  readonly log: DeliveryLog;
  readonly findReceiver: (workspaceId: WorkspaceId, id: EndpointId) => Promise<unknown>;
  readonly findTask: (workspaceId: WorkspaceId, id: TaskId) => Promise<unknown>;
  /** Brings the delivery's job forward, or adds it. */
  readonly hurry: (workspaceId: WorkspaceId, job: DeliveryJob, now: number) => Promise<void>;
  readonly metrics: Pick<AcceptanceMetrics, 'redeliveryRequested'>;
  readonly logger: Logger;
  readonly now: () => number;
};

/** A sweeper sees to a redelivery whose job could not be added, in ms. */
const SWEEP_AFTER_MS = 1_000;

/** What customers read of their deliveries, and the redelivery that they ask for. */
export function createManageDeliveries({
  log,
  findReceiver,
  findTask,
  hurry,
  metrics,
  logger,
  now,
}: ManageDeliveriesDeps) {
  const find = async (workspaceId: WorkspaceId, id: DeliveryId) => {
    const found = await log.find(workspaceId, id);
    if (!found) throw new NotFoundError('delivery', id);
    return found;
  };
  return {
    find,
    async listByReceiver(
      workspaceId: WorkspaceId,
      id: EndpointId,
      { limit, cursor: _cursor, ...filter }: ListDeliveries,
      after: DeliveryCursor | undefined,
    ) {
      await findReceiver(workspaceId, id);
      return await log.listByEndpoint(workspaceId, id, filter, limit, after);
    },
    async listByTask(workspaceId: WorkspaceId, id: TaskId, transitions: number, beforeSequence?: number) {
      await findTask(workspaceId, id);
      return await log.listByTask(workspaceId, id, transitions, beforeSequence);
    },
    /** One more attempt, now. Once this resolves it is owed, whatever crashes. */
    async redeliver(workspaceId: WorkspaceId, id: DeliveryId): Promise<Delivery> {
      const at = now();
      const reply = await log.redeliver(workspaceId, id, at + SWEEP_AFTER_MS);
      if (reply.kind === 'missing') throw new NotFoundError('delivery', id);
      if (reply.kind === 'removed') throw new NotFoundError('receiver', 'of this delivery any more');
      if (reply.kind === 'disabled') throw new ReceiverDisabledError(reply.endpointId);
      metrics.redeliveryRequested();
      logger.info('delivery.redelivery_requested', { deliveryId: id, workspaceId });
      await hurry(workspaceId, { id, event: reply.event }, at).catch((error: unknown) => {
        logger.warn('delivery.redelivery_left_owed', { deliveryId: id }, error);
      });
      return (await find(workspaceId, id)).delivery;
    },
  };
}
export type ManageDeliveries = ReturnType<typeof createManageDeliveries>;
