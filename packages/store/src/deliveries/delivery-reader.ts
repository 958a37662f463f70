import type { Delivery, DeliveryId, WorkspaceId } from '@herald/core';
import { groupOfLane } from '@herald/queue';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { findWaitingFor } from '../ordering/find-waiting-for.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { readHeaderNames } from '../endpoints/endpoint-record.ts';
import { readAttempt, type AttemptRecord } from './attempt-record.ts';
import { readDelivery, SHOWN_TRANSITION_FIELDS, takeFields } from './delivery-record.ts';

/** A delivery as lists show it. */
export type ListedDelivery = Delivery & {
  /** Absent before the first. */
  readonly lastAttempt?: AttemptRecord;
  /** The delivery in front of which it may not go. */
  readonly waitingFor?: DeliveryId;
};

export type DeliveryReader = ReturnType<typeof createDeliveryReader>;

/** Reads the records of the deliveries of workspaces. None sees those of another. */
export function createDeliveryReader({ redis, keyspace }: { redis: RedisClient; keyspace: Keyspace }) {
  const toListed = async (delivery: Delivery): Promise<ListedDelivery> => {
    const keys = keyspace.of(delivery.workspaceId);
    const [last, waitingFor] = await Promise.all([
      redis.lindex(keys.attempts(delivery.id), -1),
      findWaitingFor(redis, keys, delivery),
    ]);
    return {
      ...delivery,
      ...(last !== null && { lastAttempt: readAttempt(last) }),
      ...(waitingFor !== undefined && { waitingFor }),
    };
  };
  return {
    async read(workspaceId: WorkspaceId, id: DeliveryId): Promise<Delivery | undefined> {
      const keys = keyspace.of(workspaceId);
      const fields = await redis.hgetall(keys.delivery(id));
      if (fields.x === undefined) return undefined;
      const values = await redis.hmget(keys.transition(fields.x), ...SHOWN_TRANSITION_FIELDS);
      const transition = takeFields(SHOWN_TRANSITION_FIELDS, values);
      return transition.ws === workspaceId ? readDelivery(id, fields, transition) : undefined;
    },
    toListed,
    /**
     * What is sent of a delivery. `url` is the endpoint's now, absent when it was removed; attempts before
     * `urlChangedAt` (epoch ms) went to another. `headerNames` are of the endpoint's own headers. `body` is absent when it is no longer kept.
     */
    readContent: async ({ workspaceId, endpointId, transitionId }: Delivery) => {
      const keys = keyspace.of(workspaceId);
      const [[url, changedAt, headersOf, group], body] = await Promise.all([
        redis.hmget(keys.endpoint(endpointId), 'url', 'urlAt', 'hdrOf', 'dst'),
        redis.hget(keys.transition(transitionId), 'body'),
      ]);
      const headerNames = readHeaderNames(headersOf, groupOfLane(group ?? ''));
      return {
        ...(url != null && { url }),
        ...(headerNames && { headerNames }),
        ...(changedAt != null && { urlChangedAt: Number(changedAt) }),
        ...(body !== null && { body }),
      };
    },
  };
}

/** A delivery's attempts, oldest first, whichever workspace it belongs to. */
export async function readAttempts(redis: RedisClient, keys: ShardKeys, id: DeliveryId): Promise<AttemptRecord[]> {
  return (await redis.lrange(keys.attempts(id), 0, -1)).map(readAttempt);
}
