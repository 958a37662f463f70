import type { Delivery, EndpointId, ListDeliveries, ListWorkspaceDeliveries, TaskId, WorkspaceId } from '@herald/core';
import type { Keyspace } from '../keyspace/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { DeliveryReader, ListedDelivery } from './delivery-reader.ts';
import { createLogReader, type ListPlace } from './log-reader.ts';
import { createTaskReader, readDeliveryIds, readEmittedFacts } from './task-deliveries.ts';

export type DeliveryFilter = Omit<ListDeliveries, 'limit' | 'cursor'>;
export type WorkspaceFilter = Omit<ListWorkspaceDeliveries, 'limit' | 'cursor'>;

/** `next`: the place of the last delivery that was looked at. A page may be short, or empty, and still have a next one. */
export type DeliveryPage = { readonly deliveries: readonly ListedDelivery[]; readonly next?: ListPlace };

/** Records that a page with a filter looks at together, and in all: a filter that matches nothing must come to an end. */
const WINDOW = 200;
const LOOKED_AT_LIMIT = 2_000;

export type DeliveryListsDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly reader: DeliveryReader;
};

/** Lists of a workspace's deliveries. What a page costs doesn't depend on how many there are. */
export function createDeliveryLists({ redis, keyspace, reader }: DeliveryListsDeps) {
  /** @param next reads the places of the deliveries to look at, in the order of the list */
  const readPage = async (
    workspaceId: WorkspaceId,
    next: (count: number) => Promise<ListPlace[]>,
    filter: WorkspaceFilter,
    limit: number,
  ): Promise<DeliveryPage> => {
    const found: Delivery[] = [];
    let last: ListPlace | undefined;
    const toPage = async (end?: ListPlace) => ({
      deliveries: await Promise.all(found.map(reader.toListed)),
      ...(end && { next: end }),
    });
    let lookedAt = 0;
    // Without a filter, nearly all of the first ones belong to the page.
    for (let count = limit; lookedAt < LOOKED_AT_LIMIT; count = WINDOW) {
      const places = await next(count);
      const deliveries = await Promise.all(places.map(({ id }) => reader.read(workspaceId, id)));
      for (const [index, place] of places.entries()) {
        last = place;
        const delivery = deliveries[index];
        if (delivery && matches(delivery, filter)) found.push(delivery);
        if (found.length === limit) return await toPage(last);
      }
      if (places.length < count) return await toPage();
      lookedAt += count;
    }
    return await toPage(last);
  };

  /** The logs of a workspace, or that of one of its endpoints: none when it has no such endpoint. */
  const findLogs = async (workspaceId: WorkspaceId, endpointId?: EndpointId): Promise<string[]> => {
    const keys = keyspace.of(workspaceId);
    const [present, removed] = await Promise.all([
      redis.zrange(keys.receivers(workspaceId), 0, '-1'),
      redis.zrange(keys.removedReceivers(workspaceId), 0, '-1'),
    ]);
    const receivers = [...present, ...removed];
    if (endpointId === undefined) return [...receivers.map(keys.endpointLog), keys.callbackLog(workspaceId)];
    const isOwn = receivers.includes(endpointId) || (await redis.hget(keys.endpoint(endpointId), 'ws')) === workspaceId;
    return isOwn ? [keys.endpointLog(endpointId)] : [];
  };

  return {
    /** An endpoint's deliveries, newest first. */
    async listByEndpoint(
      workspaceId: WorkspaceId,
      endpointId: EndpointId,
      filter: DeliveryFilter,
      limit: number,
      after?: ListPlace,
    ): Promise<DeliveryPage> {
      const log = keyspace.of(workspaceId).endpointLog(endpointId);
      return await readPage(workspaceId, createLogReader(redis, [log], filter, after), filter, limit);
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
    ): Promise<DeliveryPage> {
      const { receiver, task } = filter;
      if (task === undefined) {
        const logs = await findLogs(workspaceId, receiver);
        return await readPage(workspaceId, createLogReader(redis, logs, filter, after), filter, limit);
      }
      const keys = keyspace.of(workspaceId);
      if ((await redis.hget(keys.task(task), 'ws')) !== workspaceId) return { deliveries: [] };
      return await readPage(workspaceId, createTaskReader(redis, keys, task, after), filter, limit);
    },

    /** A Task's deliveries, to receivers and to its callback, newest first: those of `limit` transitions. */
    async listByTask(
      workspaceId: WorkspaceId,
      taskId: TaskId,
      limit: number,
      after?: ListPlace,
    ): Promise<DeliveryPage> {
      const keys = keyspace.of(workspaceId);
      const facts = await readEmittedFacts(redis, keys, taskId, after?.at);
      const page = facts.slice(0, limit);
      const deliveries = await Promise.all(
        page.map(async (fact) => {
          const ids = await readDeliveryIds(redis, keys, taskId, fact);
          return await Promise.all(ids.map((id) => reader.read(workspaceId, id)));
        }),
      );
      const found = deliveries.flat().filter((delivery) => delivery !== undefined);
      const last = page.at(-1);
      return {
        deliveries: await Promise.all(found.map(reader.toListed)),
        ...(facts.length > limit && last && { next: { at: last.sequence, id: '' } }),
      };
    },
  };
}

function matches(delivery: Delivery, { status, event, receiver, task, since, until }: WorkspaceFilter): boolean {
  const { createdAt, endpointId, taskId } = delivery;
  return (
    (status ?? delivery.status) === delivery.status &&
    (event ?? delivery.event) === delivery.event &&
    (receiver ?? endpointId) === endpointId &&
    (task ?? taskId) === taskId &&
    (since ?? createdAt) <= createdAt &&
    (until === undefined || createdAt < until)
  );
}
