import type { EndpointId } from '@herald/core';
import type { GenerationStore } from '../key-versions/generation-store.ts';
import type { SealedSecretStore } from './sealed-secret-store.ts';
import { fingerprintOfSealed, type SecretBox } from './secret-box.ts';

/** What forgetting a key came to; the endpoints are those whose secrets nobody without it can open. */
export type ForgetReport = {
  /** 'listed': it isn't lost, SECRETS_KEY has it. 'in_use': something sealed with it just now. */
  readonly kind: 'forgotten' | 'unknown' | 'listed' | 'in_use';
  readonly endpointIds: readonly EndpointId[];
};

export type ForgetGenerationDeps = {
  readonly generations: Pick<GenerationStore, 'list' | 'enter' | 'forget'>;
  readonly secrets: Pick<SealedSecretStore, 'walk'>;
  /** The keys that are left. */
  readonly box: Pick<SecretBox, 'fingerprints'>;
};

/** For a key that is lost: lets processes start without it, although secrets are sealed with it. */
export async function forgetGeneration(
  { generations, secrets, box }: ForgetGenerationDeps,
  fingerprint: string,
): Promise<ForgetReport> {
  if (box.fingerprints.includes(fingerprint)) return { kind: 'listed', endpointIds: [] };
  const entries = (await generations.list()).filter((generation) => generation.fingerprint === fingerprint);
  if (entries.length === 0) return { kind: 'unknown', endpointIds: [] };
  const endpointIds = new Set<EndpointId>();
  for await (const step of secrets.walk()) {
    for (const { sealed, endpointId } of step.secrets) {
      if (fingerprintOfSealed(sealed) === fingerprint) endpointIds.add(endpointId);
    }
  }
  // A shard without any generation would be searched for those of its secrets, and the lost one found again.
  for (const { keys } of entries) await generations.enter(keys, new Map([[box.fingerprints[0], 0]]));
  const replies = await Promise.all(entries.map((entry) => generations.forget(entry)));
  return { kind: replies.includes('changed') ? 'in_use' : 'forgotten', endpointIds: [...endpointIds] };
}
