import { isErrorLike } from '@herald/runtime/errors/is-error-like';

/** Why a server refused a command, as far as it matters what to do about it. */
export type Refusal =
  | 'not_permitted'
  | 'unknown_command'
  | 'unknown_script'
  | 'full'
  | 'disk'
  | 'few_replicas'
  | 'replica'
  | 'loading'
  | 'cluster_down';

const REFUSALS: readonly (readonly [pattern: RegExp, refusal: Refusal])[] = [
  [/\bNOPERM\b/, 'not_permitted'],
  // A script says it in words of its own.
  [/unknown (?:redis )?command|command not allowed\b(?!.* when)/i, 'unknown_command'],
  [/\bNOSCRIPT\b/, 'unknown_script'],
  [/\bOOM\b/, 'full'],
  [/\bMISCONF\b/, 'disk'],
  [/\bNOREPLICAS\b/, 'few_replicas'],
  [/\b(?:READONLY|MASTERDOWN)\b/, 'replica'],
  [/\bLOADING\b/, 'loading'],
  [/\bCLUSTERDOWN\b/, 'cluster_down'],
];

/** Undefined for whatever isn't a refusal, or is one that nobody foresaw. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  if (!isErrorLike(thrown)) return undefined;
  return REFUSALS.find(([pattern]) => pattern.test(thrown.message))?.[1];
}

/**
 * What a server said, fit for people: without the words that it repeats of a command that it doesn't know, which may be a
 * password, a key or a script.
 */
export function sayRefusal({ message }: { readonly message: string }): string {
  return message
    .replace(/,? with args beginning with:.*$/s, '')
    .replace(/ script: .*$/s, '')
    .slice(0, 200);
}
