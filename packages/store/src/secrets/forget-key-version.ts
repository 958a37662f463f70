import type { EndpointId } from '@herald/core';
import type { KeyVersionStore } from '../key-versions/key-version-store.ts';
import type { EncryptedSecretStore } from './encrypted-secret-store.ts';
import { keyFingerprintOf, type SecretCipher } from './secret-cipher.ts';

/** What forgetting a key came to; the endpoints are those whose secrets only it can decrypt. */
export type ForgetReport = {
  /** 'listed': it isn't lost, SECRETS_KEY has it. 'in_use': something encrypted with it just now. */
  readonly kind: 'forgotten' | 'unknown' | 'listed' | 'in_use';
  readonly endpointIds: readonly EndpointId[];
};

export type ForgetKeyVersionDeps = {
  readonly keyVersions: Pick<KeyVersionStore, 'list' | 'add' | 'forget'>;
  readonly secrets: Pick<EncryptedSecretStore, 'walk'>;
  /** The keys that are left. */
  readonly cipher: Pick<SecretCipher, 'fingerprints'>;
};

/** For a key that is lost: lets processes start without it, although secrets are encrypted with it. */
export async function forgetKeyVersion(
  { keyVersions, secrets, cipher }: ForgetKeyVersionDeps,
  fingerprint: string,
): Promise<ForgetReport> {
  if (cipher.fingerprints.includes(fingerprint)) return { kind: 'listed', endpointIds: [] };
  const entries = (await keyVersions.list()).filter((keyVersion) => keyVersion.fingerprint === fingerprint);
  if (entries.length === 0) return { kind: 'unknown', endpointIds: [] };
  const endpointIds = new Set<EndpointId>();
  for await (const step of secrets.walk()) {
    for (const { encrypted, endpointId } of step.secrets) {
      if (keyFingerprintOf(encrypted) === fingerprint) endpointIds.add(endpointId);
    }
  }
  // In a shard without any key version, the next process to start would look for those of its secrets, and find the
  // lost one again.
  for (const { keys } of entries) await keyVersions.add(keys, new Map([[cipher.fingerprints[0], 0]]));
  const replies = await Promise.all(entries.map((entry) => keyVersions.forget(entry)));
  return { kind: replies.includes('changed') ? 'in_use' : 'forgotten', endpointIds: [...endpointIds] };
}
