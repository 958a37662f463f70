import type { ForgetReport } from '@herald/store/secrets/forget-generation';
import type { ResealReport } from '@herald/store/secrets/reseal-secrets';
import { countOf } from '../output/count-of.ts';

/** What a command says: lines on stdout, and problems on stderr, any of which means exit code 1. */
export type Told = { readonly lines: readonly string[]; readonly problems: readonly string[] };

/** Ids that a sentence names; --json has all of them. */
const NAMED = 20;

const ROTATE = 'or rotate their secrets with "overlapSeconds": 0';

export function describeReseal({ key, moved, inPlace, forgotten, inUse, unopenable }: ResealReport): Told {
  const lines = [
    moved > 0
      ? `Moved ${countOf(moved, 'secret')} to the key ${key}; now ${countOf(inPlace, 'secret')} ${inPlace === 1 ? 'is' : 'are'} sealed with it.`
      : `Nothing to move: ${countOf(inPlace, 'secret')} ${inPlace === 1 ? 'is' : 'are'} sealed with the key ${key}.`,
    ...forgotten.map((old) => `No secret is left under the key ${old}: drop it from SECRETS_KEY everywhere.`),
  ];
  const byKey = Map.groupBy(unopenable, ({ key: old }) => old);
  const problems = [
    ...[...byKey].map(
      ([old, secrets]) =>
        `This SECRETS_KEY doesn't open the secrets of ${listOf(secrets.map(({ endpointId }) => endpointId))}. ` +
        `They name the key ${old}: put it behind the first and run this again, ${ROTATE}.`,
    ),
    ...inUse.map(
      (old) =>
        `Something still seals with the key ${old}. Make ${key} the first of SECRETS_KEY in every API, restart them, ` +
        'and run this again.',
    ),
  ];
  return { lines, problems };
}

export function describeForget(fingerprint: string, { kind, endpointIds }: ForgetReport): Told {
  switch (kind) {
    case 'unknown':
      return { lines: [], problems: [`No secret of this Redis is sealed with a key ${fingerprint}.`] };
    case 'listed':
      return {
        lines: [],
        problems: [`SECRETS_KEY lists the key ${fingerprint}, so it isn't lost: "herald secrets reseal" retires it.`],
      };
    case 'in_use':
      return { lines: [], problems: [`Something still seals with the key ${fingerprint}: stop that API first.`] };
    case 'forgotten':
      return {
        lines: [
          `Forgot the key ${fingerprint}: processes start without it.`,
          ...(endpointIds.length === 0
            ? []
            : [
                `Nothing is delivered to ${listOf(endpointIds)}, whose secrets it sealed, until those are rotated ` +
                  'with "overlapSeconds": 0, or the key is back in SECRETS_KEY.',
              ]),
        ],
        problems: [],
      };
  }
}

function listOf(endpointIds: readonly string[]): string {
  const ids = [...new Set(endpointIds)];
  const named = ids.slice(0, NAMED).join(', ');
  return ids.length > NAMED ? `${named} and ${ids.length - NAMED} more (--json lists all)` : named;
}
