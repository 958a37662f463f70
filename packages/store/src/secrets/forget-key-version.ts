import type { EndpointId } from '@herald/core';
import type { ReencryptSecretsDeps } from './reencrypt-secrets.ts';

/** The endpoints are those whose secrets only the forgotten key decrypts. */
export type ForgetReport = {
  /** 'listed': SECRETS_KEY has the key, so it isn't lost. 'in_use': a secret was encrypted with it just now. */
  readonly kind: 'forgotten' | 'unknown' | 'listed' | 'in_use';
  readonly endpointIds: readonly EndpointId[];
};

/**
 * Forgets a key that is lost: processes then start without it, although secrets are encrypted with it. The cipher has
 * the keys that are left.
 */
export async function forgetKeyVersion(
  { keyVersions, secrets, cipher }: Omit<ReencryptSecretsDeps, 'onProgress'>,
  fingerprint: string,
): Promise<ForgetReport> {
  if (cipher.fingerprints.includes(fingerprint)) return { kind: 'listed', endpointIds: [] };
  const entries = (await keyVersions.list()).filter((keyVersion) => keyVersion.fingerprint === fingerprint);
  if (entries.length === 0) return { kind: 'unknown', endpointIds: [] };
  const endpointIds = new Set<EndpointId>();
  for await (const step of secrets.walk()) {
    for (const secret of step.secrets) if (secret.fingerprint === fingerprint) endpointIds.add(secret.endpointId);
  }
  // A shard must keep a key version: without one, the next process to start would register those of its secrets, and
  // with them the lost one.
  for (const { keys } of entries) await keyVersions.add(keys, new Map([[cipher.fingerprints[0], 0]]));
  const replies = await Promise.all(entries.map(keyVersions.forget));
  return { kind: replies.includes('changed') ? 'in_use' : 'forgotten', endpointIds: [...endpointIds] };
}
