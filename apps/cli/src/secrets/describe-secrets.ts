import type { ForgetReport } from '@herald/store/secrets/forget-key-version';
import type { ReencryptReport } from '@herald/store/secrets/reencrypt-secrets';
import { countOf } from '@herald/runtime/text/count-of';

/** Lines for stdout, and problems for stderr. Any problem makes the exit code 1. */
export type Told = { readonly lines: readonly string[]; readonly problems: readonly string[] };

/** A sentence names at most so many ids; --json has all. */
const NAMED = 20;

const ROTATE = 'or rotate their secrets with "overlapSeconds": 0';

export function describeReencrypt({ key, moved, inPlace, forgotten, inUse, unopenable }: ReencryptReport): Told {
  const secretsAre = `${countOf(inPlace, 'secret')} ${inPlace === 1 ? 'is' : 'are'}`;
  const lines = [
    moved > 0
      ? `Re-encrypted ${countOf(moved, 'secret')} with the key ${key}; now ${secretsAre} encrypted with it.`
      : `Nothing to re-encrypt: ${secretsAre} encrypted with the key ${key}.`,
    ...forgotten.map((old) => `No secret is left under the key ${old}: drop it from SECRETS_KEY everywhere.`),
  ];
  const byKey = Map.groupBy(unopenable, ({ key: old }) => old);
  const problems = [
    ...[...byKey].map(
      ([old, secrets]) =>
        `This SECRETS_KEY doesn't decrypt the secrets of ${listOf(secrets.map(({ endpointId }) => endpointId))}. ` +
        `They name the key ${old}: put it behind the first and run this again, ${ROTATE}.`,
    ),
    ...inUse.map(
      (old) =>
        `Something still encrypts with the key ${old}. Make ${key} the first of SECRETS_KEY in every API, restart them, ` +
        'and run this again.',
    ),
  ];
  return { lines, problems };
}

export function describeForget(fingerprint: string, { kind, endpointIds }: ForgetReport): Told {
  const refuse = (problem: string): Told => ({ lines: [], problems: [problem] });
  switch (kind) {
    case 'unknown':
      return refuse(`No secret of this Redis is encrypted with a key ${fingerprint}.`);
    case 'listed':
      return refuse(
        `SECRETS_KEY lists the key ${fingerprint}, so it isn't lost: "herald secrets reencrypt" retires it.`,
      );
    case 'in_use':
      return refuse(`Something still encrypts with the key ${fingerprint}: stop that API first.`);
    case 'forgotten': {
      const forgotten = `Forgot the key ${fingerprint}: processes start without it.`;
      const consequence =
        `Nothing is delivered to ${listOf(endpointIds)}, whose secrets are encrypted with it, until those are rotated ` +
        'with "overlapSeconds": 0, or the key is back in SECRETS_KEY.';
      return { lines: endpointIds.length === 0 ? [forgotten] : [forgotten, consequence], problems: [] };
    }
  }
}

function listOf(endpointIds: readonly string[]): string {
  const ids = [...new Set(endpointIds)];
  const named = ids.slice(0, NAMED).join(', ');
  return ids.length > NAMED ? `${named} and ${ids.length - NAMED} more (--json lists all)` : named;
}
