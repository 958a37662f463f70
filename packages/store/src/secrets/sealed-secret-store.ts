import type { EndpointId } from '@herald/core';
import { walkEndpoints } from '../endpoints/walk-endpoints.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import { MOVE_SECRET_LUA } from '../scripts/generation-scripts.ts';

/** A sealed secret where it lies: an endpoint's current one (`sec`), or during a rotation's overlap the one before (`sec2`). */
export type SealedSecret = {
  readonly keys: ShardKeys;
  readonly endpointId: EndpointId;
  readonly field: 'sec' | 'sec2';
  readonly sealed: string;
};

export type SealedSecretStep = {
  readonly secrets: readonly SealedSecret[];
  readonly looked: number;
  readonly total: number;
};

export type SealedSecretStore = {
  /** All that are sealed in this Redis, step by step; see `walkEndpoints`. */
  readonly walk: () => AsyncGenerator<SealedSecretStep>;
  /** Replaces it by the same secret sealed anew; 'changed' when it is no longer there. */
  readonly move: (secret: SealedSecret, sealedAnew: string, fingerprint: string) => Promise<'moved' | 'changed'>;
};

export type SealedSecretStoreDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace };

export function createSealedSecretStore({ redis, keyspace }: SealedSecretStoreDeps): SealedSecretStore {
  const move = defineScript(redis, 'moveSecret', MOVE_SECRET_LUA);
  const read = async (keys: ShardKeys, endpointId: EndpointId): Promise<SealedSecret[]> => {
    const [sec, sec2] = await redis.hmget(keys.endpoint(endpointId), 'sec', 'sec2');
    return [
      ...(sec == null ? [] : [{ ...{ keys, endpointId, sealed: sec }, field: 'sec' as const }]),
      ...(sec2 == null ? [] : [{ ...{ keys, endpointId, sealed: sec2 }, field: 'sec2' as const }]),
    ];
  };
  return {
    async *walk() {
      for await (const { endpoints, looked, total } of walkEndpoints(redis, keyspace)) {
        const secrets = await Promise.all(endpoints.map(({ keys, id }) => read(keys, id)));
        yield { secrets: secrets.flat(), looked, total };
      }
    },
    async move({ keys, endpointId, field, sealed }, sealedAnew, fingerprint) {
      const args = [field, sealed, sealedAnew, fingerprint];
      const reply = await move([keys.endpoint(endpointId), keys.generations], args);
      return reply === 'moved' ? 'moved' : 'changed';
    },
  };
}
