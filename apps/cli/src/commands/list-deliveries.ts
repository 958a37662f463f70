import {
  type Delivery,
  type EndpointId,
  isCallbackId,
  type ListPlace,
  NotFoundError,
  type TaskId,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import type { DeliveryFilter, DeliveryPage } from '@herald/store/lists/delivery-lists';
import { createDeliveryLog } from '@herald/store/lists/delivery-log';
import { matches } from '@herald/store/lists/delivery-reader';
import {
  type DeliveryDescription,
  describeDelivery,
  createFailedView,
  createNoticeView,
} from '@herald/store/operators/describe-delivery';
import { createOwnerLookUp } from '@herald/store/operators/search';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { findOwner, type Herald } from '../context/open-herald.ts';

export type DeliveriesWanted = DeliveryFilter & {
  readonly receiver?: EndpointId;
  readonly task?: TaskId;
  readonly transition?: TransitionId;
  readonly workspace?: WorkspaceId;
  readonly notices?: true;
  readonly limit: number;
};

/**
 * Newest first. Without a receiver, a Task or a workspace it lists notices or failed deliveries: only these have an
 * index.
 */
export async function listDeliveries(herald: Herald, wanted: DeliveriesWanted) {
  const { redis, keyspace } = herald;
  const { receiver, task, transition, workspace, limit } = wanted;
  if (wanted.notices) return await listNotices(herald, wanted);
  if ([receiver, task, transition, workspace].every((each) => each === undefined))
    return await listFailed(herald, wanted);
  const found = await (task === undefined ? listOfEndpoints(herald, wanted) : listOfTask(herald, task, wanted));
  const newestFirst = found.deliveries.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  const descriptions = await Promise.all(
    newestFirst
      .slice(0, limit)
      .map(({ workspaceId, id }) =>
        describeDelivery(redis, keyspace.of(workspaceId), id, async () => await herald.history?.find(workspaceId, id)),
      ),
  );
  const list = descriptions.filter((each) => each !== undefined);
  return { list, hasMore: found.deliveries.length > limit, isPartial: found.isPartial };
}

/** `isPartial`: the history could not be read, so that some may be missing. */
type FoundDeliveries = { readonly deliveries: readonly Delivery[]; readonly isPartial: boolean };

/** Lists one delivery more than wanted, which shows whether there are more. */
async function listOfEndpoints(herald: Herald, wanted: DeliveriesWanted): Promise<FoundDeliveries> {
  const { receiver, transition, workspace, limit } = wanted;
  const log = createDeliveryLog(herald);
  // With --workspace, the log of a removed endpoint can be read too: only its record says who owned it.
  const ofTransition = async (id: TransitionId) => await createOwnerLookUp(herald).ofTransition(id);
  const ofReceiver = async (id: EndpointId) => await findOwner(herald, kindOf(id), id);
  const owner = transition === undefined ? receiver && ofReceiver(receiver) : ofTransition(transition);
  const workspaceId = workspace ?? (await owner) ?? '';
  const readPage = (count: number, after?: ListPlace): Promise<DeliveryPage> =>
    receiver === undefined || transition !== undefined
      ? log.listByWorkspace(
          workspaceId,
          { ...wanted, ...(transition !== undefined && { transitionId: transition }) },
          count,
          after,
        )
      : log.listByEndpoint(workspaceId, receiver, wanted, count, after);
  const deliveries: Delivery[] = [];
  let isPartial = false;
  let after: ListPlace | undefined;
  do {
    const page = await readPage(limit + 1 - deliveries.length, after);
    deliveries.push(...page.deliveries);
    after = page.next;
    isPartial ||= page.isPartial === true;
  } while (after && !isPartial && deliveries.length <= limit);
  return { deliveries, isPartial };
}

function kindOf(id: EndpointId) {
  return isCallbackId(id) ? 'callback' : 'receiver';
}

async function listOfTask(herald: Herald, task: TaskId, wanted: DeliveriesWanted): Promise<FoundDeliveries> {
  const tasks = createTaskStore({ ...herald, retention: createTaskRetention(herald.config.retentionMs) });
  const log = createDeliveryLog(herald);
  const workspaceId = (await tasks.findWorkspace(task)) ?? (await herald.history?.findOwnerOfTask(task));
  if (workspaceId === undefined) throw new NotFoundError('task', task);
  const deliveries: Delivery[] = [];
  let isPartial = false;
  let after: ListPlace | undefined;
  do {
    const page = await log.listByTask(workspaceId, task, wanted.limit, after);
    if (!page) throw new NotFoundError('task', task);
    deliveries.push(...page.deliveries.filter((delivery) => matches({ delivery, last: delivery.lastAttempt }, wanted)));
    after = page.next;
    isPartial ||= page.isPartial === true;
  } while (after && !isPartial && deliveries.length <= wanted.limit);
  return { deliveries, isPartial };
}

async function listFailed({ config, now, ...herald }: Herald, wanted: DeliveriesWanted) {
  const failed = createFailedView({ ...herald, keepMs: config.retentionMs, withTests: true });
  const at = now();
  const { deliveries } = await failed.list(at, await failed.count(at));
  return selectFrom(deliveries, wanted);
}

async function listNotices(herald: Herald, wanted: DeliveriesWanted) {
  return selectFrom(await createNoticeView(herald).list(wanted.since), wanted);
}

function selectFrom(all: readonly DeliveryDescription[], wanted: DeliveriesWanted) {
  const found = all.filter(({ delivery, lastAttempt: last }) => matches({ delivery, last }, wanted));
  return { list: found.slice(0, wanted.limit), hasMore: found.length > wanted.limit, isPartial: false };
}

/** A list without a delivery, in a sentence that repeats what was asked for. */
export function sayNone({
  status,
  event,
  error,
  httpStatus,
  since,
  until,
  receiver,
  task,
  transition,
  workspace,
  notices,
}: DeliveriesWanted): string {
  const of = transition ?? receiver ?? task ?? workspace;
  const words = [
    'No',
    status,
    event,
    notices ? 'notices' : 'deliveries',
    of === undefined ? undefined : `of ${of}`,
    error === undefined ? undefined : `with ${error}`,
    httpStatus === undefined ? undefined : `answered ${httpStatus}`,
    since === undefined ? undefined : `since ${new Date(since).toISOString()}`,
    until === undefined ? undefined : `until ${new Date(until).toISOString()}`,
  ];
  return `${words.filter((word) => word !== undefined).join(' ')}.`;
}
