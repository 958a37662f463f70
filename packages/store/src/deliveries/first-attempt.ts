import type { AnswerHeaders } from '@herald/core';
import { HEADER_NAMES, readProof, toDigest, writeProof, type AttemptRecord } from './attempt-record.ts';

/**
 * The first attempt of a delivery lies in the fields of its record, since a list of one entry would cost as much as the
 * record. Later ones lie in the list, as does a first one that doesn't fit.
 *
 * `a`: ms since the delivery was accepted, duration in ms, and status or error code if there is one, then the proof (see
 * `writeProof`). `b`: the answer. `bd`: its digest, where that isn't the one of `b`. `h` and a letter: a header. `bn`: what
 * was odd about the answer. All but `a` is content, and goes when the payload is erased.
 */
export const FIRST_ATTEMPT = 'a';
const ANSWER = 'b';
const BODY_NOTE = 'bn';
const DIGEST = 'bd';
const HEADERS = HEADER_NAMES.map(([name, stored]) => [name, `h${stored}`] as const);
export const FIRST_ATTEMPT_CONTENT: readonly string[] = [
  ANSWER,
  BODY_NOTE,
  DIGEST,
  ...HEADERS.map(([, field]) => field),
];
export const FIRST_ATTEMPT_FIELDS: readonly string[] = [FIRST_ATTEMPT, ...FIRST_ATTEMPT_CONTENT];

/** With a longer value, Redis would turn the whole record into a table (hash-max-listpack-value). */
const LIMIT_BYTES = 64;
const FACTS = /^(-?\d+) (\d+)(?: (?:(\d+)|([a-z_]+))(?: ([\w-]{10}|[\w-]{14}|[\w-]{26}|[\w-]{30}))?)?$/;

/**
 * An attempt as fields of its delivery's record: [name, value, ...], `a` first. Undefined when it doesn't fit there.
 * @param createdAt that of the delivery, epoch ms
 */
export function writeFirstAttempt(attempt: AttemptRecord, createdAt: number): string[] | undefined {
  const { at, durationMs, status, error, answer, headers, bodyNote, digest } = attempt;
  if (status !== undefined && error !== undefined) return undefined;
  const outcome = status ?? error;
  const proof = writeProof({ address: attempt.address, keyIds: attempt.keyIds });
  const facts = [
    at - createdAt,
    durationMs,
    ...(outcome === undefined ? [] : [outcome]),
    ...(proof ? [proof] : []),
  ].join(' ');
  if (!FACTS.test(facts)) return undefined;
  const fields = [FIRST_ATTEMPT, facts];
  if (answer !== undefined) fields.push(ANSWER, answer);
  if (bodyNote !== undefined) fields.push(BODY_NOTE, bodyNote);
  if (digest !== undefined) fields.push(DIGEST, digest);
  if (headers) {
    for (const [name, field] of HEADERS) {
      const value = headers[name];
      if (value !== undefined) fields.push(field, value);
    }
  }
  return fields.every(fits) ? fields : undefined;
}

/** Half of a surrogate pair has no bytes of its own. */
function fits(value: string): boolean {
  return Buffer.byteLength(value) <= LIMIT_BYTES && value.isWellFormed();
}

/**
 * The first attempt, from the fields of its delivery's record. Undefined: the record has none.
 * @throws Error when it is damaged
 */
export function readFirstAttempt(fields: Readonly<Record<string, string>>): AttemptRecord | undefined {
  const facts = fields[FIRST_ATTEMPT];
  if (facts === undefined) return undefined;
  const [isRead, since, durationMs, status, error, proof] = FACTS.exec(facts) ?? [];
  if (isRead === undefined) throw new Error(`"${facts}" is no attempt`);
  const answer = fields[ANSWER];
  const bodyNote = fields[BODY_NOTE];
  const found = HEADERS.flatMap(([name, field]) => (fields[field] === undefined ? [] : [[name, fields[field]]]));
  return {
    at: Number(fields.at) + Number(since),
    durationMs: Number(durationMs),
    ...(status !== undefined && { status: Number(status) }),
    ...(error !== undefined && { error }),
    ...(answer !== undefined && { answer }),
    ...(found.length > 0 && { headers: Object.fromEntries(found) as AnswerHeaders }),
    ...(bodyNote !== undefined && { bodyNote }),
    ...(proof !== undefined && readProof(proof)),
    ...toDigest(fields[DIGEST], proof !== undefined, answer),
  };
}
