import type { DeliveryId, EndpointId, WorkspaceId } from '@herald/core';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { ShardKeys } from '@herald/store/keyspace/keys';

/** Members of a log that are asked before it counts as orphaned: the first ones may have expired. */
const ASKED = 100;

/** The workspaces that own things, found by the records of their shard; undefined when no record tells. */
export function createOwners(redis: RedisClient) {
  const ofRecord = async (key: string): Promise<WorkspaceId | undefined> => (await redis.hget(key, 'ws')) ?? undefined;
  const ofDelivery = async (keys: ShardKeys, id: DeliveryId): Promise<WorkspaceId | undefined> => {
    const [transition, endpoint] = await redis.hmget(keys.delivery(id), 'x', 'e');
    const owner = transition == null ? undefined : await ofRecord(keys.transition(transition));
    return owner ?? (endpoint == null ? undefined : await ofRecord(keys.endpoint(endpoint)));
  };
  /** Also of a removed endpoint, as long as its log has deliveries. */
  const ofEndpoint = async (keys: ShardKeys, id: EndpointId): Promise<WorkspaceId | undefined> => {
    const known = await ofRecord(keys.endpoint(id));
    if (known !== undefined) return known;
    const log = keys.endpointLog(id);
    const newest = await redis.zrange(keys.logSegments(log), 0, '0', 'REV');
    for (const part of [log, ...newest.map((name) => keys.logSegment(log, name))]) {
      for (const deliveryId of await redis.zrange(part, 0, String(ASKED - 1), 'REV')) {
        const owner = await ofDelivery(keys, deliveryId);
        if (owner !== undefined) return owner;
      }
    }
    return undefined;
  };
  /** Of the pending deliveries in a line. */
  const ofLine = async (keys: ShardKeys, line: string): Promise<WorkspaceId | undefined> => {
    const [first] = await redis.zrange(line, 0, '0');
    return first === undefined ? undefined : await ofDelivery(keys, first);
  };
  return { ofRecord, ofDelivery, ofEndpoint, ofLine };
}
export type Owners = ReturnType<typeof createOwners>;
