import { EventName, type Delivery, type DeliveryId, type DestinationId } from '@herald/core';
import { readDelivery, type AttemptRecord } from '../deliveries/delivery-record.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../keyspace/keys.ts';

/** What an operator sees of a delivery: no secret, no body, and of the url its host alone. */
export type DeliveryDescription = {
  readonly delivery: Delivery;
  /** Host and port of the endpoint's url; the rest of it may hold tokens. Absent when the endpoint was removed. */
  readonly host?: string;
  readonly endpointState: 'enabled' | 'disabled' | 'removed';
  /** Attempts in its log, redeliveries included. */
  readonly attempts: number;
  /** Absent before the first. */
  readonly lastAttempt?: AttemptRecord;
  /** Status or error code of the last attempt; absent before the first. */
  readonly lastOutcome?: string;
  /** Where it waits when it does, of its endpoint as that is now; absent when the endpoint was removed. */
  readonly destination?: DestinationId;
};

/**
 * Describes deliveries of one shard, in the order of their ids; undefined for those without a record. The commands of a
 * whole page go out in two pipelines: the client makes one of all calls of a tick.
 */
export async function describeDeliveries(
  redis: RedisClient,
  keys: ShardKeys,
  ids: readonly DeliveryId[],
): Promise<readonly (DeliveryDescription | undefined)[]> {
  return await Promise.all(ids.map((id) => describe(redis, keys, id)));
}

async function describe(redis: RedisClient, keys: ShardKeys, id: DeliveryId): Promise<DeliveryDescription | undefined> {
  const [fields, attempts, last] = await Promise.all([
    redis.hgetall(keys.delivery(id)),
    redis.llen(keys.attempts(id)),
    redis.lindex(keys.attempts(id), -1),
  ]);
  const { x, e } = fields;
  if (x === undefined || e === undefined) return undefined;
  const [[workspaceId, event, taskId], [url, on, destination]] = await Promise.all([
    redis.hmget(keys.transition(x), 'ws', 'ev', 'task'),
    redis.hmget(keys.endpoint(e), 'url', 'on', 'dst'),
  ]);
  // Redis forgot the transition but not the record, as a failover can: the worker ends it.
  if (workspaceId == null || event == null) return undefined;
  const lastAttempt = last === null ? undefined : (JSON.parse(last) as AttemptRecord);
  const lastOutcome = lastAttempt && outcomeOf(lastAttempt);
  return {
    delivery: readDelivery(id, fields, {
      workspaceId,
      event: EventName.parse(event),
      ...(taskId != null && { taskId }),
    }),
    ...(url != null && { host: hostOf(url) }),
    endpointState: url == null ? 'removed' : on === '1' ? 'enabled' : 'disabled',
    attempts,
    ...(lastAttempt && { lastAttempt }),
    ...(lastOutcome !== undefined && { lastOutcome }),
    ...(destination != null && { destination }),
  };
}

export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}

function outcomeOf({ status, error }: AttemptRecord): string | undefined {
  return status === undefined ? error : String(status);
}
