import type { DeliveryId, EndpointId, HistoryReader, TransitionId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';

export type OwnerLookUpDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: Pick<HistoryReader, 'findOwner'> | undefined;
};

/** Finds the workspace that an id belongs to, for operators, who have only the id. One small read per shard. */
export function createOwnerLookUp({ redis, keyspace, history }: OwnerLookUpDeps) {
  const findIn = async (read: (keys: ShardKeys) => Promise<string | null>) => {
    const found = await Promise.all(keyspace.shards.map(read));
    return found.find((workspaceId) => workspaceId !== null);
  };
  return {
    /** The workspace of a receiver or a callback. */
    ofEndpoint: (id: EndpointId) => findIn((keys) => redis.hget(keys.endpoint(id), 'ws')),
    ofDelivery: async (id: DeliveryId) => {
      const owner = await findIn(async (keys) => {
        const transitionId = await redis.hget(keys.delivery(id), 'x');
        return transitionId === null ? null : await redis.hget(keys.transition(transitionId), 'ws');
      });
      return owner ?? (await history?.findOwner(id));
    },
    /** Of one that Redis has. */
    ofTransition: (id: TransitionId) => findIn((keys) => redis.hget(keys.transition(id), 'ws')),
    ofReplay: (id: string) => findIn((keys) => redis.hget(keys.replay(id), 'ws')),
  };
}
