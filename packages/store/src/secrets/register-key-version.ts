import { ConfigError } from '@herald/runtime/env/env';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keys/keys.ts';
import { createKeyVersionStore, type KeyVersion } from '../key-versions/key-version-store.ts';
import { createEncryptedSecretStore } from './encrypted-secret-store.ts';
import type { SecretCipher } from './secret-cipher.ts';

export type RegisterKeyVersionDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly cipher: Pick<SecretCipher, 'fingerprints'>;
  /** Whether this process encrypts, or only decrypts. */
  readonly encrypts: boolean;
};

/**
 * Makes sure that a process can decrypt every secret in this Redis, and registers the key that it encrypts with.
 * @throws ConfigError when its SECRETS_KEY lacks the key of a key version
 */
export async function registerKeyVersion({ redis, keyspace, cipher, encrypts }: RegisterKeyVersionDeps): Promise<void> {
  const keyVersions = createKeyVersionStore({ redis, keyspace });
  const secrets = createEncryptedSecretStore({ redis, keyspace });
  // Once for a Redis: its secrets may be older than the record of their key versions.
  const blank = await keyVersions.findBlankShards();
  if (blank.length > 0) {
    const found = new Map(blank.map((keys) => [keys, new Map<string, number>()]));
    for await (const step of secrets.walk()) {
      for (const { keys, fingerprint } of step.secrets) {
        const counts = found.get(keys);
        counts?.set(fingerprint, (counts.get(fingerprint) ?? 0) + 1);
      }
    }
    for (const [keys, counts] of found) await keyVersions.add(keys, counts);
  }
  const missing = await keyVersions.register(cipher.fingerprints, encrypts ? cipher.fingerprints[0] : undefined);
  if (missing) throw new ConfigError(describeMissingKey(missing));
}

/** Says which key version SECRETS_KEY lacks, and how to set it. */
export function describeMissingKey({ fingerprint, count }: KeyVersion): string {
  const remedy = 'add that key behind the first, separated by a comma.';
  return count > 0
    ? `Secrets in this Redis are encrypted with the key ${fingerprint}, which SECRETS_KEY doesn't list; ${remedy}`
    : `An API of this Redis encrypts with the key ${fingerprint}, which SECRETS_KEY doesn't list; ${remedy} ` +
        `If that API was started with it by mistake, "herald secrets reencrypt" forgets a key that encrypted nothing.`;
}
