import type { ANSWER_HEADERS, AnswerHeaders } from '@herald/core';

/** An entry in a delivery's log. */
export type AttemptRecord = {
  /** Epoch ms. */
  readonly at: number;
  readonly durationMs: number;
  /** The receiver's HTTP status; absent when there was no answer. */
  readonly status?: number;
  /** Why there was no answer. */
  readonly error?: string;
  /** The first 1 KiB of the answer, as it came: whoever shows it must escape it. */
  readonly answer?: string;
  /** Headers that explain the answer; absent when it had none of them. */
  readonly headers?: AnswerHeaders;
  /** What was odd about the answer, a code. */
  readonly bodyNote?: string;
};

/** The name under which each header is stored: a million attempts pay for it. */
const STORED_NAMES = {
  'content-type': 't',
  'retry-after': 'r',
  location: 'l',
  server: 's',
  'www-authenticate': 'a',
} as const satisfies Record<(typeof ANSWER_HEADERS)[number], string>;
export const HEADER_NAMES = Object.entries(STORED_NAMES) as [keyof AnswerHeaders, string][];

type StoredAttempt = Omit<AttemptRecord, 'headers'> & { readonly h?: Readonly<Record<string, string>> };

/** An attempt as it is stored. The same attempt is always the same text. */
export function writeAttempt({ headers, ...attempt }: AttemptRecord): string {
  if (!headers) return JSON.stringify(attempt);
  const h = HEADER_NAMES.flatMap(([name, stored]) => (headers[name] === undefined ? [] : [[stored, headers[name]]]));
  return JSON.stringify({ ...attempt, h: Object.fromEntries(h) as StoredAttempt['h'] });
}

/** Parses what `writeAttempt` wrote. An attempt that release 0.1.0 recorded has no headers. */
export function readAttempt(text: string): AttemptRecord {
  const { h, ...attempt } = JSON.parse(text) as StoredAttempt;
  if (!h) return attempt;
  const headers = HEADER_NAMES.flatMap(([name, stored]) => (h[stored] === undefined ? [] : [[name, h[stored]]]));
  return { ...attempt, headers: Object.fromEntries(headers) as AnswerHeaders };
}
