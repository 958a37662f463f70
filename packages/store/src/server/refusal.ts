import { isErrorLike } from '@herald/runtime/errors/is-error-like';

const REFUSALS = [
  ['not_permitted', /\bNOPERM\b/],
  // Redis words it differently when a script calls the command.
  ['unknown_command', /unknown (?:redis )?command|command not allowed\b(?!.* when)/i],
  ['unknown_script', /\bNOSCRIPT\b/],
  ['full', /\bOOM\b/],
  ['disk', /\bMISCONF\b/],
  ['few_replicas', /\bNOREPLICAS\b/],
  ['replica', /\b(?:READONLY|MASTERDOWN)\b/],
  ['loading', /\bLOADING\b/],
  ['cluster_down', /\bCLUSTERDOWN\b/],
] as const;

/** Why a server refused a command, as far as it decides what to do about it. */
export type Refusal = (typeof REFUSALS)[number][0];

/** Undefined for an error that is no refusal, or an unforeseen one. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  if (!isErrorLike(thrown)) return undefined;
  return REFUSALS.find(([, pattern]) => pattern.test(thrown.message))?.[0];
}

/**
 * The message of a refusal, fit for people. Leaves out the words of an unknown command that a server repeats: they may
 * be a password, a key or a script.
 */
export function sayRefusal({ message }: { readonly message: string }): string {
  return message
    .replace(/,? with args beginning with:.*$/s, '')
    .replace(/ script: .*$/s, '')
    .slice(0, 200);
}
