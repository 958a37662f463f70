import {
  type DeliveryStatus,
  deliveryIdOf,
  type EndpointId,
  type HistoryReader,
  isCallbackId,
  type ListDeliveries,
  type ListPlace,
  type PastDelivery,
  TASK_TRANSITIONS,
  type TaskId,
  type TransitionId,
  type WorkspaceId,
  whileAvailable,
} from '@herald/core';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { DeliveryReader, ListedDelivery } from './delivery-reader.ts';
import { mergeParts, type ListPart } from './list-part.ts';
import { createLogReader } from '../logs/log-reader.ts';
import { matches, readPart, type ListEntry, type WorkspaceFilter } from './read-part.ts';
import { createTaskDeliveries, createTaskReader } from './task-deliveries.ts';

export type DeliveryFilter = Omit<ListDeliveries, 'limit' | 'cursor' | 'sinceCursor'>;

/**
 * `next`: the place of the last delivery that was looked at. A page may be short, or empty, and still have a next one.
 * `isPartial`: history couldn't be read, so that the page may lack deliveries. `lookedAt`: records that were read for it.
 */
export type DeliveryPage = {
  readonly deliveries: readonly ListedDelivery[];
  readonly next?: ListPlace;
  readonly isPartial?: true;
  readonly lookedAt: number;
};

/** A log of deliveries: a receiver's, a callback's or that of all callbacks. `hasEnded`: see `ENDED_LUA`. */
type DeliveriesLog = { readonly log: string; readonly receiverId?: EndpointId; readonly hasEnded: boolean };

/** That of a receiver or a callback. */
function logOf(keys: ShardKeys, id: EndpointId): DeliveriesLog {
  const log = keys.endpointLog(id);
  return isCallbackId(id) ? { log, hasEnded: false } : { log, receiverId: id, hasEnded: true };
}

export type DeliveryListsDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly reader: DeliveryReader;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: HistoryReader | undefined;
};

/**
 * Lists of a workspace's deliveries, of those in Redis and those in history alike. What a page costs doesn't depend on
 * how many there are. Each throws HistoryUnavailableError when Redis has nothing to show and history can't be read.
 */
export function createDeliveryLists({ redis, keyspace, reader, history }: DeliveryListsDeps) {
  const logReader = createLogReader(redis);
  const tasks = createTaskDeliveries({ redis, keyspace, reader, history });
  const toPage = async (
    { entries, next }: ListPart<ListEntry>,
    lookedAt: number,
    isPartial = false,
  ): Promise<DeliveryPage> => ({
    lookedAt,
    deliveries: await Promise.all(entries.map((entry) => reader.toListed(entry))),
    ...(next && { next }),
    ...(isPartial && { isPartial }),
  });

  /** What history has, unless it came back to Redis in between, or so long ago that its log has forgotten it. */
  const toEntry = async (past: PastDelivery): Promise<ListEntry> => {
    const { id, workspaceId, createdAt } = past.delivery;
    const present = await reader.read(workspaceId, id);
    return { at: createdAt, id, ...(present ?? { delivery: past.delivery, past }) };
  };
  /** What a list of this status reads in place of a log, so that it looks at what it shows and at little else. */
  const findSource = async (
    keys: ShardKeys,
    { log, receiverId, hasEnded }: DeliveriesLog,
    status: DeliveryStatus | undefined,
  ): Promise<string | readonly ListPlace[]> => {
    if (status === 'failed' || status === 'canceled') return hasEnded ? keys.endedLog(log, status) : log;
    if (status !== 'pending' || receiverId === undefined) return log;
    return (await logReader.findPending(keys, receiverId)) ?? log;
  };
  /** A page of what stands in these logs and in history, of one endpoint or of all. */
  const readLogs = async (
    workspaceId: WorkspaceId,
    logs: readonly DeliveriesLog[],
    { endpointId, ...filter }: WorkspaceFilter & { readonly endpointId?: EndpointId | undefined },
    limit: number,
    after?: ListPlace,
    signal?: AbortSignal,
  ): Promise<DeliveryPage> => {
    const keys = keyspace.of(workspaceId);
    const sources = await Promise.all(logs.map((log) => findSource(keys, log, filter.status)));
    const nextPlaces = logReader.newestFirst(sources, filter, after);
    const next = async (count: number) => {
      const places = await nextPlaces(count);
      const found = await Promise.all(places.map(({ id }) => reader.read(workspaceId, id)));
      return places.map((place, index) => ({ ...place, ...found[index] }));
    };
    const part = await readPart(next, filter, limit, signal);
    // What is pending is never in history.
    if (!history || filter.status === 'pending') return await toPage(part, part.lookedAt);
    // Redis was read first. What moved meanwhile is found in history, and what is in both is shown as Redis has it.
    const { status, event, since, until } = filter;
    const query = { workspaceId, endpointId, status, event, since, until, after, upTo: part.next, limit };
    const past = await whileAvailable(history.list(query), part.entries.length > 0 || part.next !== undefined);
    if (!past) {
      const next = part.next ?? part.entries.at(-1);
      return await toPage(
        { entries: part.entries, ...(next && { next: { at: next.at, id: next.id } }) },
        part.lookedAt,
        true,
      );
    }
    const moved = past.found.filter(({ delivery }) => !part.looked.has(delivery.id));
    const entries = await Promise.all(moved.map(toEntry));
    const wanted = entries.filter(({ delivery }) => matches(delivery, filter));
    const merged = mergeParts([part, { entries: wanted, ...(past.next && { next: past.next }) }], limit);
    return await toPage(merged, part.lookedAt + moved.length);
  };

  /** Receivers of a workspace, those included that were removed lately. */
  const findReceivers = async (workspaceId: WorkspaceId): Promise<EndpointId[]> => {
    const { receivers, removedReceivers } = keyspace.of(workspaceId);
    const both = [receivers(workspaceId), removedReceivers(workspaceId)];
    return (await Promise.all(both.map((key) => redis.zrange(key, 0, '-1')))).flat();
  };

  /**
   * The deliveries of a transition. Their ids follow from it and from the endpoints, which Redis knows while it has it;
   * then they may be any of the workspace's.
   */
  const readTransition = async (workspaceId: WorkspaceId, id: TransitionId, filter: WorkspaceFilter) => {
    const [owner, known] = await redis.hmget(keyspace.of(workspaceId).transition(id), 'ws', 'eps');
    const present = owner === workspaceId && known ? known.split(',') : [];
    const endpoints = present.length > 0 || !history ? present : await findReceivers(workspaceId);
    const ids = endpoints.map((endpointId) => deliveryIdOf(id, endpointId));
    const find = async (each: string): Promise<ListEntry[]> => {
      const found = await reader.read(workspaceId, each);
      if (found) return [{ at: found.delivery.createdAt, id: each, ...found }];
      const past = await history?.find(workspaceId, each);
      return past ? [{ at: past.delivery.createdAt, id: each, delivery: past.delivery, past }] : [];
    };
    const entries = (await Promise.all(ids.map(find))).flat().filter(({ delivery }) => matches(delivery, filter));
    return await toPage({ entries }, ids.length);
  };

  /** The logs of a workspace, or that of one of its endpoints: none when it has no such endpoint. */
  const findLogs = async (workspaceId: WorkspaceId, endpointId?: EndpointId): Promise<DeliveriesLog[]> => {
    const keys = keyspace.of(workspaceId);
    const receivers = await findReceivers(workspaceId);
    if (endpointId === undefined) {
      return [...receivers.map((id) => logOf(keys, id)), { log: keys.callbackLog(workspaceId), hasEnded: true }];
    }
    const isOwn = receivers.includes(endpointId) || (await redis.hget(keys.endpoint(endpointId), 'ws')) === workspaceId;
    return isOwn ? [logOf(keys, endpointId)] : [];
  };

  return {
    /** An endpoint's deliveries, newest first. */
    async listByEndpoint(
      workspaceId: WorkspaceId,
      endpointId: EndpointId,
      filter: DeliveryFilter,
      limit: number,
      after?: ListPlace,
      signal?: AbortSignal,
    ): Promise<DeliveryPage> {
      const log = logOf(keyspace.of(workspaceId), endpointId);
      return await readLogs(workspaceId, [log], { ...filter, endpointId }, limit, after, signal);
    },

    /**
     * A workspace's deliveries, newest first: to its receivers, also to removed ones, and to callbacks. Those of one
     * Task come in the order of its transitions.
     */
    async listByWorkspace(
      workspaceId: WorkspaceId,
      filter: WorkspaceFilter,
      limit: number,
      after?: ListPlace,
      signal?: AbortSignal,
    ): Promise<DeliveryPage> {
      const { receiver, task, transitionId } = filter;
      if (transitionId !== undefined) return await readTransition(workspaceId, transitionId, filter);
      if (task === undefined) {
        const logs = await findLogs(workspaceId, receiver);
        return await readLogs(workspaceId, logs, { ...filter, endpointId: receiver }, limit, after, signal);
      }
      const before = after === undefined ? undefined : after.at + 1;
      const transitions = await tasks.listTransitions(workspaceId, task, TASK_TRANSITIONS, before);
      const taskReader = createTaskReader(tasks, workspaceId, task, transitions ?? [], after);
      const part = await readPart((count) => taskReader.next(count), filter, limit, signal);
      return await toPage(part, part.lookedAt, taskReader.isPartial());
    },

    /**
     * A Task's deliveries, to receivers and to its callback, newest first: those of `limit` transitions. Undefined: the
     * workspace has no such Task.
     */
    async listByTask(
      workspaceId: WorkspaceId,
      taskId: TaskId,
      limit: number,
      after?: ListPlace,
    ): Promise<DeliveryPage | undefined> {
      const transitions = await tasks.listTransitions(workspaceId, taskId, limit + 1, after?.at);
      if (!transitions) return undefined;
      const page = transitions.slice(0, limit);
      const { entries, isPartial } = await tasks.read(workspaceId, taskId, page);
      const last = page.at(-1);
      const next = transitions.length > limit && last ? { at: last.sequence, id: '' } : undefined;
      return await toPage({ entries, ...(next && { next }) }, entries.length, isPartial);
    },
  };
}
