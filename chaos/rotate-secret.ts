import type { KnownEndpoint } from './known-endpoint.ts';
import type { Insist } from './patient-client.ts';

/**
 * Rotates the signing secret of an endpoint. Tries without an answer may put secrets in force that were never shown.
 */
export async function rotateSecret(
  insist: Insist,
  key: string,
  path: string,
  { secret: known }: KnownEndpoint,
  overlapSeconds: number,
): Promise<void> {
  const answer = await insist('POST', `${path}/secret/rotate`, { key, body: { overlapSeconds } });
  if (answer.status !== 200) throw new Error(`a rotation was answered ${answer.text}`);
  const { secret } = answer.body as { secret: string };
  const { from, by, until, isUnclear } = answer.effect;
  if (isUnclear) known.change({ value: undefined, from, by: Infinity, until });
  // The old secret signs too until the overlap ends.
  known.change({ value: secret, from, by: by + overlapSeconds * 1_000, until: by });
}
