import type { DeliveryId, EndpointId, WorkspaceId } from '@herald/core';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { ShardKeys } from '@herald/store/keyspace/keys';

/** Members of a list that are asked before it counts as nobody's: its first may have expired. */
const ASKED = 100;

type OwnerOf<Id> = (keys: ShardKeys, id: Id) => Promise<WorkspaceId | undefined>;

/** Whose something is, by what lies beside it in its shard; undefined when nothing is left that says so. */
export type Owners = {
  readonly ofRecord: (key: string) => Promise<WorkspaceId | undefined>;
  readonly ofDelivery: OwnerOf<DeliveryId>;
  /** Also of one that was removed, as long as its log has deliveries. */
  readonly ofEndpoint: OwnerOf<EndpointId>;
};

export function createOwners(redis: RedisClient): Owners {
  const ofRecord = async (key: string) => (await redis.hget(key, 'ws')) ?? undefined;
  const ofDelivery: Owners['ofDelivery'] = async (keys, id) => {
    const [transition, endpoint] = await redis.hmget(keys.delivery(id), 'x', 'e');
    const owner = transition == null ? undefined : await ofRecord(keys.transition(transition));
    return owner ?? (endpoint == null ? undefined : await ofRecord(keys.endpoint(endpoint)));
  };
  const ofMembers = async (keys: ShardKeys, list: string) => {
    for (const id of await redis.zrange(list, 0, String(ASKED - 1), 'REV')) {
      const owner = await ofDelivery(keys, id);
      if (owner !== undefined) return owner;
    }
    return undefined;
  };
  return {
    ofRecord,
    ofDelivery,
    ofEndpoint: async (keys, id) =>
      (await ofRecord(keys.endpoint(id))) ?? (await ofMembers(keys, keys.endpointLog(id))),
  };
}
