import { createKeyVersionStore } from '@herald/store/key-versions/key-version-store';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { describeMissingKey } from '@herald/store/secrets/register-key-version';
import type { Finding } from '@herald/runtime/findings/finding';
import type { Herald } from '../context/open-herald.ts';
import { error, type Check } from './check.ts';

/** Whether SECRETS_KEY has every key that secrets in this Redis are encrypted with. */
export async function checkSecrets(herald: Pick<Herald, 'redis' | 'keyspace'>, keys: SecretsKeys): Promise<Check> {
  const { fingerprints } = createSecretCipher(keys);
  const keyVersions = await createKeyVersionStore(herald).list();
  const byFingerprint = Map.groupBy(keyVersions, ({ fingerprint }) => fingerprint);
  const findings: Finding[] = [];
  for (const [fingerprint, of] of byFingerprint) {
    if (fingerprints.includes(fingerprint)) continue;
    // The shard with most of its secrets tells best what it is.
    const [worst] = of.toSorted((a, b) => b.count - a.count);
    if (worst) findings.push(error('secrets_key_unlisted', describeMissingKey(worst)));
  }
  const well =
    byFingerprint.size === 0
      ? 'there is no secret yet'
      : `SECRETS_KEY decrypts every secret (${[...byFingerprint.keys()].join(', ')})`;
  return { name: 'secrets', findings, well };
}

export type SecretsKeys = Parameters<typeof createSecretCipher>[0];
