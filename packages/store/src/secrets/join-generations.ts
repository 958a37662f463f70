import { ConfigError } from '@herald/runtime/env/env';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keyspace/keys.ts';
import { createGenerationStore, type Generation } from '../key-versions/generation-store.ts';
import { createSealedSecretStore } from './sealed-secret-store.ts';
import { fingerprintOfSealed, type SecretBox } from './secret-box.ts';

export type JoinGenerationsDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly box: Pick<SecretBox, 'fingerprints'>;
  /** Whether this process seals, or only opens. */
  readonly seals: boolean;
};

/**
 * Lets a process start that can open every secret in this Redis, and enters the key that it seals with.
 * @throws ConfigError when there is a generation that its SECRETS_KEY doesn't list
 */
export async function joinGenerations({ redis, keyspace, box, seals }: JoinGenerationsDeps): Promise<void> {
  const generations = createGenerationStore({ redis, keyspace });
  const secrets = createSealedSecretStore({ redis, keyspace });
  // Once for a Redis: its secrets may be older than the record of their generations.
  const blank = await generations.findBlankShards();
  if (blank.length > 0) {
    const found = new Map(blank.map((keys) => [keys, new Map<string, number>()]));
    for await (const step of secrets.walk()) {
      for (const { keys, sealed } of step.secrets) {
        const fingerprint = fingerprintOfSealed(sealed);
        found.get(keys)?.set(fingerprint, (found.get(keys)?.get(fingerprint) ?? 0) + 1);
      }
    }
    for (const [keys, counts] of found) await generations.enter(keys, counts);
  }
  const [unlisted] = await generations.join(box.fingerprints, seals ? box.fingerprints[0] : undefined);
  if (unlisted) throw new ConfigError(describeUnlisted(unlisted));
}

/** What is wrong when SECRETS_KEY lacks the key of a generation, and what to set. */
export function describeUnlisted({ fingerprint, count }: Generation): string {
  const remedy = 'add that key behind the first, separated by a comma.';
  return count > 0
    ? `Secrets in this Redis are sealed with the key ${fingerprint}, which SECRETS_KEY doesn't list; ${remedy}`
    : `An API of this Redis seals with the key ${fingerprint}, which SECRETS_KEY doesn't list; ${remedy} ` +
        `If that API was started with it by mistake, "herald secrets reseal" forgets a key that sealed nothing.`;
}
