import {
  NotFoundError,
  type DeliveryId,
  type EndpointId,
  type ListDeliveries,
  type TaskId,
  type WorkspaceId,
} from '@herald/core';
import type { DeliveryCursor, DeliveryLog } from '@herald/store/deliveries/delivery-log';
import type { Redeliver } from '@herald/store/deliveries/create-redeliver';

export type ManageDeliveriesDeps = {
  readonly log: DeliveryLog;
  readonly findReceiver: (workspaceId: WorkspaceId, id: EndpointId) => Promise<unknown>;
  readonly findTask: (workspaceId: WorkspaceId, id: TaskId) => Promise<unknown>;
  readonly redeliver: Redeliver;
};

/** What customers read of their deliveries, and the redelivery that they ask for. */
export function createManageDeliveries({ log, findReceiver, findTask, redeliver }: ManageDeliveriesDeps) {
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
    redeliver,
  };
}
export type ManageDeliveries = ReturnType<typeof createManageDeliveries>;
