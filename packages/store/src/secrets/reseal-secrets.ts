import type { EndpointId } from '@herald/core';
import { ConfigError } from '@herald/runtime/env/env';
import type { ShardKeys } from '../keyspace/keys.ts';
import type { Generation, GenerationStore } from '../key-versions/generation-store.ts';
import type { SealedSecret, SealedSecretStore } from './sealed-secret-store.ts';
import { fingerprintOfSealed, UnopenableSecretError, type SecretBox } from './secret-box.ts';

/** Rounds after which whatever is still added under an old key is somebody's who still seals with it. */
const ROUND_LIMIT = 10;

export type ResealProgress = { readonly round: number; readonly looked: number; readonly total: number };

export type ResealSecretsDeps = {
  readonly generations: Pick<GenerationStore, 'list' | 'forget'>;
  readonly secrets: SealedSecretStore;
  readonly box: SecretBox;
  readonly onProgress: (progress: ResealProgress) => void;
};

export type ResealReport = {
  /** Fingerprint of the first key, under which the secrets are now. */
  readonly key: string;
  readonly moved: number;
  /** Secrets that were under it when the last round came by. */
  readonly inPlace: number;
  /** Fingerprints of keys under which nothing is left. */
  readonly forgotten: readonly string[];
  /** Fingerprints of keys that something still seals with. */
  readonly inUse: readonly string[];
  /** Secrets that couldn't be opened: whose, and the fingerprint of the key that each says sealed it. */
  readonly unopenable: readonly { readonly endpointId: EndpointId; readonly key: string }[];
};

/**
 * Moves every secret to the first key while the service runs, in rounds: the first moves, and one that finds nothing to
 * move proves it. Each secret is exchanged only for itself, so that a rotation or a removal meanwhile wins; a run that is
 * killed leaves every secret under one key or the other, and another run goes on.
 * @throws ConfigError when no API seals with the first key yet
 */
export async function resealSecrets(deps: ResealSecretsDeps): Promise<ResealReport> {
  const { generations, box } = deps;
  const [key] = box.fingerprints;
  const forgotten = new Set<string>();
  let moved = 0;
  for (let round = 1; ; round++) {
    // Read before the round: one whose count stands still has got no secret since.
    const before = await generations.list();
    if (round === 1) refuseUnknownKey(key, before);
    const seen = await goRound(deps, round);
    moved += seen.moved;
    const outcome = await forgetUnused(generations, before, seen.left, key);
    for (const fingerprint of outcome.forgotten) forgotten.add(fingerprint);
    const isDone = seen.moved === 0 && seen.changed === 0 && outcome.changed.length === 0;
    if (!isDone && round < ROUND_LIMIT) continue;
    const remaining = new Set((await generations.list()).map(({ fingerprint }) => fingerprint));
    const stuck = new Set(seen.unopenable.map((secret) => secret.key));
    return {
      ...{ key, moved, inPlace: seen.inPlace, unopenable: seen.unopenable },
      forgotten: [...forgotten].filter((fingerprint) => !remaining.has(fingerprint)),
      inUse: [...remaining].filter((fingerprint) => fingerprint !== key && !stuck.has(fingerprint)),
    };
  }
}

/** Secrets that were moved to a key that no process has would leave every delivery unsigned. */
function refuseUnknownKey(key: string, generations: readonly Generation[]): void {
  if (generations.some(({ fingerprint }) => fingerprint === key)) return;
  // A key that sealed nothing can be forgotten whatever the first key is: nothing moves.
  if (generations.length > 0 && generations.every(({ count }) => count === 0)) return;
  throw new ConfigError(
    `No API seals with the key ${key}, the first of this SECRETS_KEY, so nothing was changed. ` +
      "List it in every worker's SECRETS_KEY, make it the first in every API's, restart them, and run this again.",
  );
}

type Round = {
  moved: number;
  /** Secrets that somebody else changed meanwhile: the next round looks again. */
  changed: number;
  inPlace: number;
  readonly unopenable: { endpointId: EndpointId; key: string }[];
  /** Fingerprints, other than the first key's, of the secrets that were found in a shard. */
  readonly left: Map<ShardKeys, Set<string>>;
};

async function goRound({ secrets, box, onProgress }: ResealSecretsDeps, number: number): Promise<Round> {
  const [key] = box.fingerprints;
  const round: Round = { moved: 0, changed: 0, inPlace: 0, unopenable: [], left: new Map() };
  const look = async (secret: SealedSecret) => {
    const { keys, endpointId, sealed } = secret;
    const fingerprint = fingerprintOfSealed(sealed);
    if (fingerprint === key) {
      round.inPlace++;
      return;
    }
    round.left.set(keys, (round.left.get(keys) ?? new Set()).add(fingerprint));
    const opened = openOr(box, secret);
    if (opened === undefined) round.unopenable.push({ endpointId, key: fingerprint });
    else round[await secrets.move(secret, box.seal(opened, endpointId), key)]++;
  };
  for await (const { secrets: found, looked, total } of secrets.walk()) {
    await Promise.all(found.map(look));
    onProgress({ round: number, looked, total });
  }
  return round;
}

function openOr(box: SecretBox, { sealed, endpointId }: SealedSecret): string | undefined {
  try {
    return box.open(sealed, endpointId);
  } catch (error) {
    if (error instanceof UnopenableSecretError) return undefined;
    throw error;
  }
}

async function forgetUnused(
  generations: Pick<GenerationStore, 'forget'>,
  before: readonly Generation[],
  left: ReadonlyMap<ShardKeys, ReadonlySet<string>>,
  key: string,
) {
  const forgotten: string[] = [];
  const changed: string[] = [];
  for (const generation of before) {
    const { keys, fingerprint } = generation;
    if (fingerprint === key || left.get(keys)?.has(fingerprint)) continue;
    ((await generations.forget(generation)) === 'forgotten' ? forgotten : changed).push(fingerprint);
  }
  return { forgotten, changed };
}
