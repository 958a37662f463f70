import type { EndpointId } from '@herald/core';
import { z } from 'zod';
import { walkEndpoints } from '../endpoints/walk-endpoints.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import { defineScript } from '../redis/script.ts';
import { REPLACE_SECRET_LUA } from '../redis/key-version-scripts.ts';
import { keyFingerprintOf, type SecretPurpose } from './secret-cipher.ts';

/**
 * A secret in an endpoint's hash: the current one (`sec`), the old one during a rotation's overlap (`sec2`), or the
 * headers of its own (`hdr`).
 */
export type EncryptedSecret = {
  readonly keys: ShardKeys;
  readonly endpointId: EndpointId;
  readonly field: (typeof FIELDS)[number];
  readonly encrypted: string;
  /** Names the key that it is encrypted with. */
  readonly fingerprint: string;
};

const FIELDS = ['sec', 'sec2', 'hdr'] as const;

/** What the secret in a field is for, which its encryption is bound to. */
export const purposeOf = (field: EncryptedSecret['field']): SecretPurpose => (field === 'hdr' ? 'headers' : 'signing');
const ReplaceReply = z.enum(['replaced', 'changed']);

export function createEncryptedSecretStore({ redis, keyspace }: { redis: RedisClient; keyspace: Keyspace }) {
  const replace = defineScript(redis, REPLACE_SECRET_LUA);
  const read = async (keys: ShardKeys, endpointId: EndpointId): Promise<EncryptedSecret[]> => {
    const values = await redis.hmget(keys.endpoint(endpointId), ...FIELDS);
    return FIELDS.flatMap((field, index) => {
      const encrypted = values[index];
      if (encrypted == null) return [];
      return [{ keys, endpointId, field, encrypted, fingerprint: keyFingerprintOf(encrypted) }];
    });
  };
  return {
    /** All secrets of this Redis, step by step; see `walkEndpoints`. */
    async *walk() {
      for await (const { endpoints, looked, total } of walkEndpoints(redis, keyspace)) {
        const secrets = await Promise.all(endpoints.map(({ keys, id }) => read(keys, id)));
        yield { secrets: secrets.flat(), looked, total };
      }
    },
    /** Exchanges a secret for the same one, re-encrypted; 'changed' when it is no longer there. */
    async replace({ keys, endpointId, field, encrypted }: EncryptedSecret, reencrypted: string, fingerprint: string) {
      const args = [field, encrypted, reencrypted, fingerprint];
      return ReplaceReply.parse(await replace([keys.endpoint(endpointId), keys.keyVersions], args));
    },
  };
}
export type EncryptedSecretStore = ReturnType<typeof createEncryptedSecretStore>;
