import { createGenerationStore } from '@herald/store/key-versions/generation-store';
import { createSecretBox } from '@herald/store/secrets/secret-box';
import { describeUnlisted } from '@herald/store/secrets/join-generations';
import type { Finding } from '@herald/runtime/findings/finding';
import type { Herald } from '../context/open-herald.ts';
import { error, type Check } from './check.ts';

/** Whether SECRETS_KEY opens every secret that is sealed in this Redis. */
export async function checkSecrets(herald: Pick<Herald, 'redis' | 'keyspace'>, keys: SecretsKeys): Promise<Check> {
  const { fingerprints } = createSecretBox(keys);
  const generations = await createGenerationStore(herald).list();
  const byFingerprint = Map.groupBy(generations, ({ fingerprint }) => fingerprint);
  const findings: Finding[] = [];
  for (const [fingerprint, of] of byFingerprint) {
    if (fingerprints.includes(fingerprint)) continue;
    // The shard with most of its secrets tells best what it is.
    const [worst] = of.toSorted((a, b) => b.count - a.count);
    if (worst) findings.push(error('secrets_key_unlisted', describeUnlisted(worst)));
  }
  const well =
    byFingerprint.size === 0
      ? 'no secret is sealed yet'
      : `SECRETS_KEY opens what is sealed (${[...byFingerprint.keys()].join(', ')})`;
  return { name: 'secrets', findings, well };
}

export type SecretsKeys = Parameters<typeof createSecretBox>[0];
