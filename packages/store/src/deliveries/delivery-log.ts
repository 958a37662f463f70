import {
  DeliveryEvent,
  deliveryIdOf,
  transitionIdOfFact,
  type Delivery,
  type DeliveryId,
  type EndpointId,
  type ListDeliveries,
  type TaskId,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../scripts/replicated-script.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { readFactValue } from '../keyspace/fact-value.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { readScoredIds } from '../keyspace/scored-ids.ts';
import { readDelivery, type AttemptRecord } from './delivery-record.ts';
import { REDELIVER_LUA } from './redeliver-script.ts';

/** The end of a page: the acceptance (epoch ms) and the id of the last delivery that was read. */
export type DeliveryCursor = { readonly createdAt: number; readonly id: DeliveryId };

export type DeliveryFilter = Omit<ListDeliveries, 'limit' | 'cursor' | 'event'> & { readonly event?: DeliveryEvent };

export type DeliveryPage = { readonly deliveries: readonly Delivery[]; readonly next?: DeliveryCursor };

/** `removed`: its endpoint is gone. `erased`: its body is. */
export type RedeliverReply =
  | { readonly kind: 'pending'; readonly event: DeliveryEvent }
  | { readonly kind: 'missing' | 'removed' | 'erased' }
  | { readonly kind: 'disabled'; readonly endpointId: EndpointId };

/** Records that are read at once, and how often for one page: a filter that matches nothing must come to an end. */
const WINDOW = 200;
const WINDOWS = 10;

const RedeliverText = z.tuple([z.enum(['pending', 'missing', 'removed', 'disabled', 'erased'])], z.string());

/** The deliveries of a workspace, as its API shows them, and the redelivery that it can ask for. */
export function createDeliveryLog(deps: ReplicatedStoreDeps & { readonly keyspace: Keyspace }) {
  const { redis, keyspace } = deps;
  const redeliver = defineReplicatedScript(deps, 'redeliver', REDELIVER_LUA);

  const read = async (keys: ShardKeys, id: DeliveryId, workspaceId: WorkspaceId): Promise<Delivery | undefined> => {
    const fields = await redis.hgetall(keys.delivery(id));
    if (fields.x === undefined) return undefined;
    const [ws, ev, task, erased] = await redis.hmget(keys.transition(fields.x), 'ws', 'ev', 'task', 'erased');
    return ws === workspaceId ? readDelivery(id, fields, { ws, ev, task, erased }) : undefined;
  };

  /** The next entries of a log, newest first, without those of the cursor's millisecond that the last page had. */
  const readWindow = async (key: string, { since, until }: DeliveryFilter, after?: DeliveryCursor) => {
    const from = after?.createdAt ?? (until === undefined ? '+inf' : `(${until}`);
    // A batch gives many deliveries the same millisecond: the window must reach beyond those of the cursor's.
    const size = WINDOW + (after ? await redis.zcount(key, after.createdAt, after.createdAt) : 0);
    const range = ['BYSCORE', 'REV', 'LIMIT', 0, size, 'WITHSCORES'] as const;
    const rows = await redis.zrange(key, from, String(since ?? '-inf'), ...range);
    const entries = readScoredIds(rows).map(({ id, score }) => ({ id, createdAt: score }));
    return {
      isLast: entries.length < size,
      entries: entries.filter(({ id, createdAt }) => !after || createdAt < after.createdAt || id < after.id),
    };
  };

  return {
    /** An endpoint's deliveries, newest first. A page may be short, or empty, and still have a next one. */
    async listByEndpoint(
      workspaceId: WorkspaceId,
      endpointId: EndpointId,
      filter: DeliveryFilter,
      limit: number,
      after?: DeliveryCursor,
    ): Promise<DeliveryPage> {
      const keys = keyspace.of(workspaceId);
      const found: Delivery[] = [];
      let cursor = after;
      for (let window = 0; window < WINDOWS; window++) {
        const { entries, isLast } = await readWindow(keys.endpointLog(endpointId), filter, cursor);
        const deliveries = await Promise.all(entries.map(({ id }) => read(keys, id, workspaceId)));
        for (const [index, entry] of entries.entries()) {
          cursor = entry;
          const delivery = deliveries[index];
          if (delivery && matches(delivery, filter)) found.push(delivery);
          if (found.length === limit) return { deliveries: found, next: cursor };
        }
        if (isLast) return { deliveries: found };
      }
      return { deliveries: found, ...(cursor && { next: cursor }) };
    },

    /** A Task's deliveries, to receivers and to its callback, newest first: those of `limit` transitions. */
    async listByTask(workspaceId: WorkspaceId, taskId: TaskId, limit: number, beforeSequence = Infinity) {
      const keys = keyspace.of(workspaceId);
      const facts = Object.entries(await redis.hgetall(keys.facts(taskId)))
        .map(([key, value]) => ({ key, sequence: readFactValue(value).sequence }))
        .filter(({ sequence }) => sequence > 0 && sequence < beforeSequence)
        .sort((a, b) => b.sequence - a.sequence);
      const page = facts.slice(0, limit);
      const deliveries = await Promise.all(
        page.map(async ({ key }) => {
          const transitionId = transitionIdOfFact(taskId, key);
          const endpoints = transitionId && (await redis.hget(keys.transition(transitionId), 'eps'));
          if (!endpoints) return [];
          const ids = endpoints.split(',').map((endpointId) => deliveryIdOf(transitionId, endpointId));
          return await Promise.all(ids.map((id) => read(keys, id, workspaceId)));
        }),
      );
      const last = page.at(-1);
      return {
        deliveries: deliveries.flat().filter((delivery) => delivery !== undefined),
        ...(facts.length > limit && last && { nextSequence: last.sequence }),
      };
    },

    async find(workspaceId: WorkspaceId, id: DeliveryId) {
      const keys = keyspace.of(workspaceId);
      const [delivery, attempts] = await Promise.all([read(keys, id, workspaceId), readAttempts(redis, keys, id)]);
      return delivery && { delivery, attempts };
    },

    /** Asks for one more attempt of the delivery, and enqueues it. `now` is epoch ms. */
    async redeliver(workspaceId: WorkspaceId, id: DeliveryId, now: number): Promise<RedeliverReply> {
      const keys = keyspace.of(workspaceId);
      const reply = await redeliver([keys.delivery(id)], [keys.prefix, id, workspaceId, now]);
      const [kind, detail = ''] = RedeliverText.parse(reply);
      if (kind === 'pending') return { kind, event: DeliveryEvent.parse(detail) };
      if (kind === 'disabled') return { kind, endpointId: detail };
      return { kind };
    },
  };
}
export type DeliveryLog = ReturnType<typeof createDeliveryLog>;

/** A delivery's attempts, oldest first, whichever workspace it belongs to. */
export async function readAttempts(redis: RedisClient, keys: ShardKeys, id: DeliveryId): Promise<AttemptRecord[]> {
  return (await redis.lrange(keys.attempts(id), 0, -1)).map((text) => JSON.parse(text) as AttemptRecord);
}

function matches({ status, event }: Delivery, filter: DeliveryFilter): boolean {
  return (filter.status ?? status) === status && (filter.event ?? event) === event;
}
