import type { DeliveryId, EndpointId, WorkspaceId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';

/** Whose a thing is, by its id alone: an operator is handed an id, and no workspace. One small read per shard. */
export type OwnerLookUp = {
  /** Of a receiver or a callback. */
  readonly ofEndpoint: (id: EndpointId) => Promise<WorkspaceId | undefined>;
  readonly ofDelivery: (id: DeliveryId) => Promise<WorkspaceId | undefined>;
  readonly ofReplay: (id: string) => Promise<WorkspaceId | undefined>;
};

export type OwnerLookUpDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace };

export function createOwnerLookUp({ redis, keyspace }: OwnerLookUpDeps): OwnerLookUp {
  const findIn = async (read: (keys: ShardKeys) => Promise<string | null>) => {
    const found = await Promise.all(keyspace.shards.map(read));
    return found.find((workspaceId) => workspaceId !== null);
  };
  return {
    ofEndpoint: (id) => findIn((keys) => redis.hget(keys.endpoint(id), 'ws')),
    ofDelivery: (id) =>
      findIn(async (keys) => {
        const transitionId = await redis.hget(keys.delivery(id), 'x');
        return transitionId === null ? null : await redis.hget(keys.transition(transitionId), 'ws');
      }),
    ofReplay: (id) => findIn((keys) => redis.hget(keys.replay(id), 'ws')),
  };
}
