import { findNearest } from './find-nearest.ts';

const LIMIT_CHARACTERS = 64;

/** An unknown name as an answer shows it. */
export function toShownName(name: string): string {
  return name === '' ? '""' : name.slice(0, LIMIT_CHARACTERS);
}

/**
 * The rest of a sentence that begins with an unknown name, with the known name that is like it, or with all known ones.
 * @param rule such as `is not a field here`
 */
export function describeUnknownName(name: string, known: readonly string[], rule: string): string {
  const nearest = findNearest(name.slice(0, LIMIT_CHARACTERS), known);
  if (nearest !== undefined) return `${rule}; did you mean \`${nearest}\`?`;
  const [only, ...others] = known;
  if (only === undefined) return `${rule}; there are none`;
  return `${rule}; ${others.length === 0 ? `the only one is ${only}` : `known are ${known.join(', ')}`}`;
}
