import type { EndpointId } from '@herald/core';
import { ConfigError } from '@herald/runtime/env/env';
import type { ShardKeys } from '../keys/keys.ts';
import type { KeyVersion, KeyVersionStore } from '../key-versions/key-version-store.ts';
import { purposeOf, type EncryptedSecret, type EncryptedSecretStore } from './encrypted-secret-store.ts';
import { UndecryptableSecretError, type SecretCipher } from './secret-cipher.ts';

/** Secrets that are still added under an old key after this many rounds come from an API that encrypts with it. */
const ROUND_LIMIT = 10;

export type ReencryptProgress = { readonly round: number; readonly looked: number; readonly total: number };

export type ReencryptSecretsDeps = {
  readonly keyVersions: KeyVersionStore;
  readonly secrets: EncryptedSecretStore;
  readonly cipher: SecretCipher;
  readonly onProgress: (progress: ReencryptProgress) => void;
};

/**
 * Re-encrypts every secret with the first key while the service runs. It works in rounds, and the last one finds
 * nothing left to do. A secret is only ever exchanged for itself, so that a rotation or a removal meanwhile wins. A run
 * that is killed leaves every secret under one key or the other, and another run goes on.
 * @throws ConfigError when no API encrypts with the first key yet
 */
export async function reencryptSecrets(deps: ReencryptSecretsDeps) {
  const { keyVersions, cipher } = deps;
  const [key] = cipher.fingerprints;
  const forgotten = new Set<string>();
  let replaced = 0;
  for (let round = 1; ; round++) {
    // Read before the round: a key version whose count stays the same has not been used since.
    const before = await keyVersions.list();
    if (round === 1) refuseUnknownKey(key, before);
    const seen = await goRound(deps, round);
    replaced += seen.replaced;
    let isDone = seen.replaced === 0 && seen.changed === 0;
    for (const keyVersion of before) {
      const { keys, fingerprint } = keyVersion;
      if (fingerprint === key || seen.left.get(keys)?.has(fingerprint)) continue;
      if ((await keyVersions.forget(keyVersion)) === 'forgotten') forgotten.add(fingerprint);
      else isDone = false;
    }
    if (!isDone && round < ROUND_LIMIT) continue;
    const remaining = new Set((await keyVersions.list()).map(({ fingerprint }) => fingerprint));
    const stuck = new Set(seen.undecryptable.map((secret) => secret.key));
    // The names are those of `herald secrets reencrypt --json`.
    return {
      /** Fingerprint of the first key, which the secrets are encrypted with now. */
      key,
      /** Secrets that were re-encrypted with it. */
      moved: replaced,
      /** Secrets that the last round found encrypted with it. */
      inPlace: seen.inPlace,
      /** Secrets that couldn't be decrypted: the endpoint, and the fingerprint of the key that each names. */
      unopenable: seen.undecryptable,
      /** Fingerprints of keys that no secret is encrypted with any more. */
      forgotten: [...forgotten].filter((fingerprint) => !remaining.has(fingerprint)),
      /** Fingerprints of keys that an API still encrypts with. */
      inUse: [...remaining].filter((fingerprint) => fingerprint !== key && !stuck.has(fingerprint)),
    };
  }
}
export type ReencryptReport = Awaited<ReturnType<typeof reencryptSecrets>>;

/** No worker could sign with secrets that are encrypted with a key that only this run has. */
function refuseUnknownKey(key: string, keyVersions: readonly KeyVersion[]): void {
  if (keyVersions.some(({ fingerprint }) => fingerprint === key)) return;
  // Key versions that encrypted nothing can be forgotten under any first key: there is nothing to re-encrypt.
  if (keyVersions.length > 0 && keyVersions.every(({ count }) => count === 0)) return;
  throw new ConfigError(
    `No API encrypts with the key ${key}, the first of this SECRETS_KEY, so nothing was changed. ` +
      "List it in every worker's SECRETS_KEY, make it the first in every API's, restart them, and run this again.",
  );
}

async function goRound({ secrets, cipher, onProgress }: ReencryptSecretsDeps, number: number) {
  const [key] = cipher.fingerprints;
  const undecryptable: { endpointId: EndpointId; key: string }[] = [];
  /** Fingerprints, other than the first key's, of the secrets that were found in a shard. */
  const left = new Map<ShardKeys, Set<string>>();
  /** `changed`: secrets that changed meanwhile; the next round looks at them again. */
  const counts = { replaced: 0, changed: 0, inPlace: 0 };
  const look = async (secret: EncryptedSecret) => {
    const { keys, endpointId, field, encrypted, fingerprint } = secret;
    if (fingerprint === key) {
      counts.inPlace++;
      return;
    }
    left.set(keys, (left.get(keys) ?? new Set()).add(fingerprint));
    try {
      const purpose = purposeOf(field);
      const reencrypted = cipher.encrypt(cipher.decrypt(encrypted, endpointId, purpose), endpointId, purpose);
      counts[await secrets.replace(secret, reencrypted, key)]++;
    } catch (error) {
      if (!(error instanceof UndecryptableSecretError)) throw error;
      undecryptable.push({ endpointId, key: fingerprint });
    }
  };
  for await (const { secrets: found, looked, total } of secrets.walk()) {
    await Promise.all(found.map(look));
    onProgress({ round: number, looked, total });
  }
  return { ...counts, undecryptable, left };
}
