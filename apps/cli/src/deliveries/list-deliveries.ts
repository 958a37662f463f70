import {
  NotFoundError,
  type Delivery,
  type DeliveryStatus,
  type EndpointId,
  type EventName,
  type TaskId,
  type WorkspaceId,
} from '@herald/core';
import { createDeliveryLog, type DeliveryCursor } from '@herald/store/deliveries/delivery-log';
import { createFailedView } from '@herald/store/operators/failed-view';
import { createOwnerLookUp } from '@herald/store/operators/owner-look-up';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createTaskRetention } from '@herald/store/tasks/task-retention';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { describeDelivery, type DeliveryDescription } from '@herald/store/operators/describe-delivery';
import type { Herald } from '../context/open-herald.ts';

export type DeliveriesWanted = {
  readonly receiver?: EndpointId;
  readonly task?: TaskId;
  readonly workspace?: WorkspaceId;
  readonly status?: DeliveryStatus;
  readonly event?: EventName;
  /** Accepted at or after, epoch ms. */
  readonly since?: number;
  readonly limit: number;
};

export type DeliveryList = { readonly list: readonly DeliveryDescription[]; readonly hasMore: boolean };

/** Newest first. Without a receiver, a Task or a workspace: those that failed lately, which alone have an index of all. */
export async function listDeliveries(herald: Herald, wanted: DeliveriesWanted): Promise<DeliveryList> {
  const { redis, keyspace } = herald;
  const { receiver, task, workspace, limit } = wanted;
  if (receiver === undefined && task === undefined && workspace === undefined) return await listFailed(herald, wanted);
  const found =
    task !== undefined
      ? await listOfTask(herald, task, wanted)
      : await listOfEndpoints(herald, await findEndpoints(herald, wanted), wanted);
  found.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  const descriptions = await Promise.all(
    found.slice(0, limit).map(({ workspaceId, id }) => describeDelivery(redis, keyspace.of(workspaceId), id)),
  );
  return { list: descriptions.filter((each) => each !== undefined), hasMore: found.length > limit };
}

/** The log keeps the deliveries of a removed endpoint, but nothing says any more whose it was. */
async function findEndpoints(
  herald: Herald,
  { receiver, workspace }: DeliveriesWanted,
): Promise<{ readonly id: EndpointId; readonly workspaceId: WorkspaceId }[]> {
  if (receiver === undefined) return [...(await createReceiverStore(herald).list(workspace ?? ''))];
  const workspaceId = workspace ?? (await createOwnerLookUp(herald).ofEndpoint(receiver));
  if (workspaceId === undefined) {
    throw new NotFoundError(receiver.startsWith('cb_') ? 'callback' : 'receiver', receiver);
  }
  return [{ id: receiver, workspaceId }];
}

/** One more than wanted of each, so that it shows whether there are more. */
async function listOfEndpoints(
  herald: Herald,
  endpoints: readonly { readonly id: EndpointId; readonly workspaceId: WorkspaceId }[],
  { limit, status, event, since }: DeliveriesWanted,
): Promise<Delivery[]> {
  const log = createDeliveryLog(herald);
  const filter = { ...(status && { status }), ...(event && { event }), ...(since !== undefined && { since }) };
  const lists = await Promise.all(
    endpoints.map(async ({ id, workspaceId }) => {
      const found: Delivery[] = [];
      let after: DeliveryCursor | undefined;
      do {
        const page = await log.listByEndpoint(workspaceId, id, filter, limit + 1 - found.length, after);
        found.push(...page.deliveries);
        after = page.next;
      } while (after && found.length <= limit);
      return found;
    }),
  );
  return lists.flat();
}

async function listOfTask(herald: Herald, task: TaskId, { limit, ...wanted }: DeliveriesWanted): Promise<Delivery[]> {
  const tasks = createTaskStore({ ...herald, retention: createTaskRetention(herald.config.retentionMs) });
  const log = createDeliveryLog(herald);
  const workspaceId = await tasks.findWorkspace(task);
  if (workspaceId === undefined) throw new NotFoundError('task', task);
  const found: Delivery[] = [];
  let before: number | undefined;
  do {
    const page = await log.listByTask(workspaceId, task, limit, before);
    found.push(...page.deliveries.filter((delivery) => matches(delivery, wanted)));
    before = page.nextSequence;
  } while (before !== undefined && found.length <= limit);
  return found;
}

async function listFailed({ config, now, ...herald }: Herald, { limit, ...wanted }: DeliveriesWanted) {
  const failed = createFailedView({ ...herald, keepMs: config.retentionMs });
  const at = now();
  const all = await failed.list(at, 0, (await failed.count(at)) - 1);
  const found = all.filter(({ delivery }) => matches(delivery, wanted));
  return { list: found.slice(0, limit), hasMore: found.length > limit };
}

function matches(delivery: Delivery, { status, event, since }: Omit<DeliveriesWanted, 'limit'>): boolean {
  return (
    (status ?? delivery.status) === delivery.status &&
    (event ?? delivery.event) === delivery.event &&
    (since ?? 0) <= delivery.createdAt
  );
}
