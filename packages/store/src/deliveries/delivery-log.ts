import {
  deliveryIdOf,
  EventName,
  transitionIdOfFact,
  type Delivery,
  type DeliveryId,
  type DeliveryStatus,
  type EndpointId,
  type TaskId,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../scripts/replicated-script.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { readScoredIds } from '../keyspace/scored-ids.ts';
import { readDelivery, type AttemptRecord } from './delivery-record.ts';
import { REDELIVER_LUA } from './redeliver-script.ts';

/** Where a page ends: the acceptance (epoch ms) and the id of the last delivery that was looked at. */
export type DeliveryCursor = { readonly createdAt: number; readonly id: DeliveryId };

export type DeliveryFilter = {
  readonly status?: DeliveryStatus;
  readonly event?: EventName;
  /** Accepted at or after, epoch ms. */
  readonly since?: number;
  /** Accepted before, epoch ms. */
  readonly until?: number;
};

export type DeliveryPage = { readonly deliveries: readonly Delivery[]; readonly next?: DeliveryCursor };

export type RedeliverReply =
  | { readonly kind: 'pending'; readonly event: EventName }
  | { readonly kind: 'missing' }
  /** Its endpoint is gone. */
  | { readonly kind: 'removed' }
  | { readonly kind: 'disabled'; readonly endpointId: EndpointId };

/** What tenants read of their deliveries, and ask of them. */
export type DeliveryLog = {
  /** An endpoint's deliveries, newest first. A page may be short, or empty, and still have a next one. */
  readonly listByEndpoint: (
    workspaceId: WorkspaceId,
    endpointId: EndpointId,
    filter: DeliveryFilter,
    limit: number,
    after?: DeliveryCursor,
  ) => Promise<DeliveryPage>;
  /** A Task's deliveries, to receivers and to its callback, by transition, newest first. */
  readonly listByTask: (
    workspaceId: WorkspaceId,
    taskId: TaskId,
    transitions: number,
    beforeSequence?: number,
  ) => Promise<{ readonly deliveries: readonly Delivery[]; readonly nextSequence?: number }>;
  readonly find: (
    workspaceId: WorkspaceId,
    id: DeliveryId,
  ) => Promise<{ readonly delivery: Delivery; readonly attempts: readonly AttemptRecord[] } | undefined>;
  /** Asks for one more attempt of the delivery, and enqueues it. `now` is epoch ms. */
  readonly redeliver: (workspaceId: WorkspaceId, id: DeliveryId, now: number) => Promise<RedeliverReply>;
};

/** Records read in one go, and at most so many goes for one page: a filter that nothing matches must end. */
const WINDOW = 200;
const WINDOWS = 10;

const RedeliverText = z.tuple([z.enum(['pending', 'missing', 'removed', 'disabled'])], z.string());

export type DeliveryLogDeps = ReplicatedStoreDeps & { readonly keyspace: Keyspace };

export function createDeliveryLog(deps: DeliveryLogDeps): DeliveryLog {
  const { redis, keyspace } = deps;
  const redeliver = defineReplicatedScript(deps, 'redeliver', REDELIVER_LUA);

  const read = async (keys: ShardKeys, id: DeliveryId, workspaceId: WorkspaceId): Promise<Delivery | undefined> => {
    const fields = await redis.hgetall(keys.delivery(id));
    if (fields.x === undefined) return undefined;
    const [ws, event, task] = await redis.hmget(keys.transition(fields.x), 'ws', 'ev', 'task');
    if (ws !== workspaceId) return undefined;
    return readDelivery(id, fields, {
      workspaceId,
      event: EventName.parse(event),
      ...(task != null && { taskId: task }),
    });
  };

  /** The next entries of a log, newest first; those of the cursor's own millisecond that were on the page before are out. */
  const readWindow = async (key: string, { since, until }: DeliveryFilter, after?: DeliveryCursor) => {
    const from = after?.createdAt ?? (until === undefined ? '+inf' : `(${until}`);
    // A batch gives many deliveries one millisecond: the window must reach beyond those of the cursor's.
    const size = WINDOW + (after ? await redis.zcount(key, after.createdAt, after.createdAt) : 0);
    const rows = await redis.zrange(
      key,
      from,
      String(since ?? '-inf'),
      'BYSCORE',
      'REV',
      'LIMIT',
      0,
      size,
      'WITHSCORES',
    );
    const entries = readScoredIds(rows).map(({ id, score }) => ({ id, createdAt: score }));
    return {
      isLast: entries.length < size,
      entries: entries.filter(({ id, createdAt }) => !after || createdAt < after.createdAt || id < after.id),
    };
  };

  return {
    async listByEndpoint(workspaceId, endpointId, filter, limit, after) {
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

    async listByTask(workspaceId, taskId, limit, beforeSequence = Infinity) {
      const keys = keyspace.of(workspaceId);
      const facts = Object.entries(await redis.hgetall(keys.facts(taskId)))
        .map(([key, sequence]) => ({ key, sequence: Number(sequence) }))
        .filter(({ sequence }) => sequence > 0 && sequence < beforeSequence)
        .sort((a, b) => b.sequence - a.sequence);
      const page = facts.slice(0, limit);
      const deliveries = await Promise.all(
        page.map(async ({ key }) => {
          const transitionId = transitionIdOfFact(taskId, key);
          const ids = transitionId === undefined ? [] : await findDeliveryIds(redis, keys, transitionId);
          return await Promise.all(ids.map((id) => read(keys, id, workspaceId)));
        }),
      );
      const last = page.at(-1);
      return {
        deliveries: deliveries.flat().filter((delivery) => delivery !== undefined),
        ...(facts.length > limit && last && { nextSequence: last.sequence }),
      };
    },

    async find(workspaceId, id) {
      const keys = keyspace.of(workspaceId);
      const [delivery, attempts] = await Promise.all([
        read(keys, id, workspaceId),
        redis.lrange(keys.attempts(id), 0, -1),
      ]);
      return delivery && { delivery, attempts: attempts.map((text) => JSON.parse(text) as AttemptRecord) };
    },

    async redeliver(workspaceId, id, now) {
      const keys = keyspace.of(workspaceId);
      const reply = await redeliver([keys.delivery(id)], [keys.prefix, id, workspaceId, now]);
      const [kind, detail = ''] = RedeliverText.parse(reply);
      if (kind === 'pending') return { kind, event: EventName.parse(detail) };
      if (kind === 'disabled') return { kind, endpointId: detail };
      return { kind };
    },
  };
}

async function findDeliveryIds(redis: RedisClient, keys: ShardKeys, id: TransitionId): Promise<DeliveryId[]> {
  const endpoints = await redis.hget(keys.transition(id), 'eps');
  return endpoints ? endpoints.split(',').map((endpointId) => deliveryIdOf(id, endpointId)) : [];
}

function matches({ status, event }: Delivery, filter: DeliveryFilter): boolean {
  return (filter.status ?? status) === status && (filter.event ?? event) === event;
}
