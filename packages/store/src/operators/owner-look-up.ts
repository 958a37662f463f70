import type { DeliveryId, EndpointId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';

/** Finds the workspace that an id belongs to, for operators, who have only the id. One small read per shard. */
export function createOwnerLookUp({ redis, keyspace }: { redis: RedisClient; keyspace: Keyspace }) {
  const findIn = async (read: (keys: ShardKeys) => Promise<string | null>) => {
    const found = await Promise.all(keyspace.shards.map(read));
    return found.find((workspaceId) => workspaceId !== null);
  };
  return {
    /** The workspace of a receiver or a callback. */
    ofEndpoint: (id: EndpointId) => findIn((keys) => redis.hget(keys.endpoint(id), 'ws')),
    ofDelivery: (id: DeliveryId) =>
      findIn(async (keys) => {
        const transitionId = await redis.hget(keys.delivery(id), 'x');
        return transitionId === null ? null : await redis.hget(keys.transition(transitionId), 'ws');
      }),
    ofReplay: (id: string) => findIn((keys) => redis.hget(keys.replay(id), 'ws')),
  };
}
