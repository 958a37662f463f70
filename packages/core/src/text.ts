import { z } from 'zod';

// People type tabs and line breaks. The other control characters move cursors or end strings.
// oxlint-disable-next-line no-control-regex -- it must match them
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

// They move cursors, change colours, end or reverse a line, or are invisible.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]+/gu;

/** Text of others on one line, without characters that control a terminal or hide. */
export function plainText(text: string): string {
  return text.replace(UNPRINTABLE, ' ');
}

/** Text that a person types, and that operators and other people read. */
export const TypedText = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => !CONTROL.test(text), 'must not contain control characters other than tab and line break')
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode');

/** How JSON writes what no strict parser or database takes: half a surrogate pair and NUL. */
const ILL_FORMED = /\\u(?:d[89a-f]|0000)/;

/**
 * JSON for bodies that leave, with U+FFFD in place of each NUL and each half of a surrogate pair, in whatever field.
 * Executors cut texts in the middle of an emoji. Parsers of Rust, PHP, Ruby and Perl, jq and PostgreSQL refuse such a body
 * as a whole, at every try. The fact stays as it was reported.
 */
export function toLeavingJson(value: object): string {
  const json = JSON.stringify(value);
  // It may also be a backslash that somebody wrote: then nothing is replaced.
  if (!ILL_FORMED.test(json)) return json;
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '\ufffd') : part,
  );
}

/**
 * JSON with the members of each object in the order of their names: one text for all ways to write the same value.
 * @param levels values that are nested deeper are ignored
 */
export function canonicalJson(value: unknown, levels = Infinity): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (levels === 0) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, levels - 1)).join(',')}]`;
  const members = value as Readonly<Record<string, unknown>>;
  const texts = Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(members[name], levels - 1)}`);
  return `{${texts.join(',')}}`;
}

/**
 * States the rule of a field, as the rest of a sentence that begins with its name: `must be a time`. A missing field
 * breaks the general rule instead: `is required`.
 */
export function rule(text: string) {
  return ({ input }: { readonly input?: unknown }): string | undefined => (input === undefined ? undefined : text);
}

/** What is said of a former name beside its new one. */
export const formerNameRule = (name: string) => `is the former name of ${name}, which is given too: leave it out`;

/** Refuses a former name beside its new one, and two new ones that stand for the same. For `superRefine`. */
export function refuseBoth(former: string, ...names: readonly string[]) {
  return (input: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void => {
    const [first, second] = [...names, former].filter((name) => input[name] !== undefined);
    if (first === undefined || second === undefined) return;
    const message = second === former ? formerNameRule(first) : `must not be given beside ${first}`;
    context.addIssue({ code: 'custom', path: [second], message, params: { code: 'conflict' }, input: input[second] });
  };
}
