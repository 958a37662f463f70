import { digestOf } from '@herald/core';
import { anyCharacter } from '@herald/test-kit/any-character';
import fc from 'fast-check';
import type { AttemptRecord } from './attempt-record.ts';
import { FIRST_ATTEMPT_CONTENT, readFirstAttempt, writeFirstAttempt } from './first-attempt.ts';

const ACCEPTED = 1_700_000_000_000;
const attempt = { at: ACCEPTED + 5, durationMs: 12, status: 200 };

/** What the record has of it, with the other fields of the record. */
function toFields(written: readonly string[] | undefined): Record<string, string> {
  const fields: Record<string, string> = { at: String(ACCEPTED), s: 'delivered', n: '1' };
  for (let index = 0; index < (written?.length ?? 0); index += 2) {
    fields[written?.[index] ?? ''] = written?.[index + 1] ?? '';
  }
  return fields;
}

test.each<{ what: string; attempt: AttemptRecord; fields: string[] }>([
  { what: 'a status', attempt, fields: ['a', '5 12 200'] },
  { what: 'an error', attempt: { at: ACCEPTED, durationMs: 0, error: 'dns_failed' }, fields: ['a', '0 0 dns_failed'] },
  { what: 'neither', attempt: { at: ACCEPTED + 1, durationMs: 2 }, fields: ['a', '1 2'] },
  { what: 'a clock that is behind', attempt: { ...attempt, at: ACCEPTED - 3 }, fields: ['a', '-3 12 200'] },
  {
    what: 'a proof',
    attempt: { ...attempt, address: '203.0.113.7', keyIds: ['5f2a90'] },
    fields: ['a', '5 12 200 ywBxB18qkA'],
  },
  {
    what: 'a proof of an answer that was longer, over IPv6 and in a rotation',
    attempt: {
      ...attempt,
      address: '2001:db8::7',
      keyIds: ['5f2a90', '000000'],
      answer: 'ok',
      digest: 'f'.repeat(32),
    },
    fields: ['a', '5 12 200 IAENuAAAAAAAAAAAAAAAB18qkAAAAA', 'b', 'ok', 'bd', 'f'.repeat(32)],
  },
  { what: 'an answer', attempt: { ...attempt, answer: 'ok "ü"\n\0' }, fields: ['a', '5 12 200', 'b', 'ok "ü"\n\0'] },
  {
    what: 'headers',
    attempt: { ...attempt, headers: { server: 'nginx', 'content-type': 'text/plain' } },
    fields: ['a', '5 12 200', 'ht', 'text/plain', 'hs', 'nginx'],
  },
  { what: 'a note', attempt: { ...attempt, bodyNote: 'body_cut' }, fields: ['a', '5 12 200', 'bn', 'body_cut'] },
  {
    what: '64 bytes in each value',
    attempt: { ...attempt, answer: 'ü'.repeat(32), headers: { location: 'l'.repeat(64) } },
    fields: ['a', '5 12 200', 'b', 'ü'.repeat(32), 'hl', 'l'.repeat(64)],
  },
])('an attempt with $what lies in the record, and is read as it was', ({ attempt: each, fields }) => {
  expect(writeFirstAttempt(each, ACCEPTED)).toEqual(fields);
  expect(readFirstAttempt(toFields(fields))).toEqual(each);
});

test.each<{ what: string; attempt: AttemptRecord }>([
  { what: 'an answer of 65 bytes', attempt: { ...attempt, answer: `${'ü'.repeat(32)}x` } },
  { what: 'a header of 65 bytes', attempt: { ...attempt, headers: { location: 'l'.repeat(65) } } },
  { what: 'half of a surrogate pair', attempt: { ...attempt, answer: '\ud83d' } },
  { what: 'a part of a millisecond', attempt: { ...attempt, durationMs: 1.5 } },
  { what: 'both a status and an error', attempt: { ...attempt, error: 'dns_failed' } },
  { what: 'an error that is no code', attempt: { at: ACCEPTED, durationMs: 1, error: 'no code' } },
])('an attempt with $what doesn’t', ({ attempt: each }) => {
  expect(writeFirstAttempt(each, ACCEPTED)).toBeUndefined();
});

test('whatever lies in the record is read as it was, in values of at most 64 bytes', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 70 });
  const headers = fc.record({ 'content-type': text, server: text, location: text }, { requiredKeys: ['server'] });
  const attempts = fc.record(
    { at: fc.nat({ max: 2 * ACCEPTED }), durationMs: fc.nat(), status: fc.nat(), answer: text, headers },
    { requiredKeys: ['at', 'durationMs'] },
  );
  fc.assert(
    fc.property(attempts, (each) => {
      const fields = writeFirstAttempt(each, ACCEPTED);
      if (!fields) return Math.max(...[each.answer ?? '', ...Object.values(each.headers ?? {})].map(bytesOf)) > 64;
      expect(readFirstAttempt(toFields(fields))).toEqual(each);
      return fields.every((value) => bytesOf(value) <= 64);
    }),
  );
});

const bytesOf = (text: string) => Buffer.byteLength(text);

test('the digest of an answer that is kept whole is not stored, and is read all the same', () => {
  const proof = { address: '203.0.113.7', keyIds: ['5f2a90'] };
  const fields = writeFirstAttempt({ ...attempt, ...proof, answer: 'ok' }, ACCEPTED);
  expect(fields).not.toContain('bd');
  expect(readFirstAttempt(toFields(fields))).toMatchObject({ ...proof, digest: digestOf('ok') });
  // A former version may have kept only a part of it.
  const former = writeFirstAttempt({ ...attempt, answer: 'ok' }, ACCEPTED);
  expect(readFirstAttempt(toFields(former))).not.toHaveProperty('digest');
});

test('without its content, when, how long, with which status and where to stays', () => {
  const proof = { address: '203.0.113.7', keyIds: ['5f2a90'] };
  const content = { answer: 'a', digest: digestOf('abc'), headers: { server: 'b' } };
  const fields = toFields(writeFirstAttempt({ ...attempt, ...proof, ...content }, ACCEPTED));
  for (const name of FIRST_ATTEMPT_CONTENT) Reflect.deleteProperty(fields, name);
  expect(readFirstAttempt(fields)).toEqual({ ...attempt, ...proof });
});

test('a record without one has none, and one that is damaged is refused', () => {
  expect(readFirstAttempt({ at: '1', s: 'delivered', n: '1' })).toBeUndefined();
  expect(() => readFirstAttempt({ at: '1', a: 'x' })).toThrow('"x" is no attempt');
});
