import type { EndpointId } from '@herald/core';
import { ConfigError } from '@herald/runtime/env';
import { z } from 'zod';
import { walkEndpoints } from '../endpoints/receiver-store.ts';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { REPLACE_SECRET_LUA } from '../redis/key-version-scripts.ts';
import { defineScript } from '../redis/script.ts';
import { createKeyVersionStore, type KeyVersion, type KeyVersionStore } from './key-version-store.ts';
import { keyFingerprintOf, UndecryptableSecretError, type SecretCipher, type SecretPurpose } from './secret-cipher.ts';

/** Secrets that are still added under an old key after this many rounds come from an API that encrypts with it. */
const ROUND_LIMIT = 10;

export type ReencryptProgress = { readonly round: number; readonly looked: number; readonly total: number };

type ReencryptSecretsDeps = {
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

type RegisterKeyVersionDeps = {
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

/**
 * A secret in an endpoint's hash: the current one (`sec`), the old one during a rotation's overlap (`sec2`), or the
 * headers of its own (`hdr`).
 */
type EncryptedSecret = {
  readonly keys: ShardKeys;
  readonly endpointId: EndpointId;
  readonly field: (typeof FIELDS)[number];
  readonly encrypted: string;
  /** Names the key that it is encrypted with. */
  readonly fingerprint: string;
};

const FIELDS = ['sec', 'sec2', 'hdr'] as const;

/** What the secret in a field is for, which its encryption is bound to. */
const purposeOf = (field: EncryptedSecret['field']): SecretPurpose => (field === 'hdr' ? 'headers' : 'signing');
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
