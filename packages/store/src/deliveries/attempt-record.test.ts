import { digestOf } from '@herald/core';
import { anyCharacter } from '@herald/test-kit/any-character';
import fc from 'fast-check';
import {
  FIRST_ATTEMPT_CONTENT,
  readAttempt,
  readFirstAttempt,
  writeAttempt,
  writeFirstAttempt,
  type AttemptRecord,
} from './attempt-record.ts';

const attempt = { at: 1_700_000_000_000, durationMs: 12, status: 503, answer: 'later' };

test('an attempt is read as it was written', () => {
  const headers = {
    'content-type': 'text/plain',
    'retry-after': '120',
    location: '/x',
    server: 'nginx',
    'www-authenticate': 'Basic',
  };
  for (const each of [attempt, { ...attempt, headers }, { ...attempt, headers: { server: 'nginx' } }]) {
    expect(readAttempt(writeAttempt(each))).toEqual(each);
  }
});

test('without headers it takes no byte more than in release 0.1.0, and with them few beside their values', () => {
  expect(writeAttempt(attempt)).toBe(JSON.stringify(attempt));
  const headers = { 'content-type': 'application/json', server: 'nginx' };
  const values = Object.values(headers).join('').length;
  expect(writeAttempt({ ...attempt, headers }).length - writeAttempt(attempt).length - values).toBeLessThanOrEqual(20);
});

test('the same attempt is the same text, in whatever order its headers came', () => {
  const one = writeAttempt({ ...attempt, headers: { server: 'a', location: 'b' } });
  expect(writeAttempt({ ...attempt, headers: { location: 'b', server: 'a' } })).toBe(one);
});

test('an attempt of release 0.1.0 is read', () => {
  expect(readAttempt('{"at":1,"durationMs":2,"error":"dns_failed"}')).toEqual({
    at: 1,
    durationMs: 2,
    error: 'dns_failed',
  });
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6'],
  ['::1', '::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::', '::'],
])('an attempt to %s tells of %s, by which keys, and with which digest', (address, shown) => {
  const proof = { address, keyIds: ['5f2a90', '000000'] };
  const text = writeAttempt({ ...attempt, ...proof });
  expect(readAttempt(text)).toEqual({ ...attempt, ...proof, address: shown, digest: digestOf('later') });
  const digest = digestOf('later, and more');
  expect(readAttempt(writeAttempt({ ...attempt, ...proof, digest }))).toMatchObject({ address: shown, digest });
  expect(text.length - writeAttempt(attempt).length).toBeLessThanOrEqual(38);
});

test('what is no address is left out', () => {
  expect(writeAttempt({ ...attempt, address: 'localhost', keyIds: ['5f2a90'] })).toBe(writeAttempt(attempt));
});

const ACCEPTED = 1_700_000_000_000;
const sent = { at: ACCEPTED + 5, durationMs: 12, status: 200 };

/** What the record has of it, with the other fields of the record. */
function toFields(written: readonly string[] | undefined): Record<string, string> {
  const fields: Record<string, string> = { at: String(ACCEPTED), s: 'delivered', n: '1' };
  for (let index = 0; index < (written?.length ?? 0); index += 2) {
    fields[written?.[index] ?? ''] = written?.[index + 1] ?? '';
  }
  return fields;
}

test.each<{ what: string; attempt: AttemptRecord; fields: string[] }>([
  { what: 'a status', attempt: sent, fields: ['a', '5 12 200'] },
  { what: 'an error', attempt: { at: ACCEPTED, durationMs: 0, error: 'dns_failed' }, fields: ['a', '0 0 dns_failed'] },
  { what: 'neither', attempt: { at: ACCEPTED + 1, durationMs: 2 }, fields: ['a', '1 2'] },
  { what: 'a clock that is behind', attempt: { ...sent, at: ACCEPTED - 3 }, fields: ['a', '-3 12 200'] },
  {
    what: 'a proof',
    attempt: { ...sent, address: '203.0.113.7', keyIds: ['5f2a90'] },
    fields: ['a', '5 12 200 ywBxB18qkA'],
  },
  {
    what: 'a proof of an answer that was longer, over IPv6 and in a rotation',
    attempt: {
      ...sent,
      address: '2001:db8::7',
      keyIds: ['5f2a90', '000000'],
      answer: 'ok',
      digest: 'f'.repeat(32),
    },
    fields: ['a', '5 12 200 IAENuAAAAAAAAAAAAAAAB18qkAAAAA', 'b', 'ok', 'bd', 'f'.repeat(32)],
  },
  { what: 'an answer', attempt: { ...sent, answer: 'ok "ü"\n\0' }, fields: ['a', '5 12 200', 'b', 'ok "ü"\n\0'] },
  {
    what: 'headers',
    attempt: { ...sent, headers: { server: 'nginx', 'content-type': 'text/plain' } },
    fields: ['a', '5 12 200', 'ht', 'text/plain', 'hs', 'nginx'],
  },
  { what: 'a note', attempt: { ...sent, bodyNote: 'body_cut' }, fields: ['a', '5 12 200', 'bn', 'body_cut'] },
  {
    what: '64 bytes in each value',
    attempt: { ...sent, answer: 'ü'.repeat(32), headers: { location: 'l'.repeat(64) } },
    fields: ['a', '5 12 200', 'b', 'ü'.repeat(32), 'hl', 'l'.repeat(64)],
  },
])('an attempt with $what lies in the record, and is read as it was', ({ attempt: each, fields }) => {
  expect(writeFirstAttempt(each, ACCEPTED)).toEqual(fields);
  expect(readFirstAttempt(toFields(fields))).toEqual(each);
});

test.each<{ what: string; attempt: AttemptRecord }>([
  { what: 'an answer of 65 bytes', attempt: { ...sent, answer: `${'ü'.repeat(32)}x` } },
  { what: 'a header of 65 bytes', attempt: { ...sent, headers: { location: 'l'.repeat(65) } } },
  { what: 'half of a surrogate pair', attempt: { ...sent, answer: '\ud83d' } },
  { what: 'a part of a millisecond', attempt: { ...sent, durationMs: 1.5 } },
  { what: 'both a status and an error', attempt: { ...sent, error: 'dns_failed' } },
  { what: 'an error that is no code', attempt: { at: ACCEPTED, durationMs: 1, error: 'no code' } },
])('an attempt with $what doesn’t', ({ attempt: each }) => {
  expect(writeFirstAttempt(each, ACCEPTED)).toBeUndefined();
});

const bytesOf = (text: string) => Buffer.byteLength(text);

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

test('the digest of an answer that is kept whole is not stored, and is read all the same', () => {
  const proof = { address: '203.0.113.7', keyIds: ['5f2a90'] };
  const fields = writeFirstAttempt({ ...sent, ...proof, answer: 'ok' }, ACCEPTED);
  expect(fields).not.toContain('bd');
  expect(readFirstAttempt(toFields(fields))).toMatchObject({ ...proof, digest: digestOf('ok') });
  // A former version may have kept only a part of it.
  const former = writeFirstAttempt({ ...sent, answer: 'ok' }, ACCEPTED);
  expect(readFirstAttempt(toFields(former))).not.toHaveProperty('digest');
});

test('without its content, when, how long, with which status and where to stays', () => {
  const proof = { address: '203.0.113.7', keyIds: ['5f2a90'] };
  const content = { answer: 'a', digest: digestOf('abc'), headers: { server: 'b' } };
  const fields = toFields(writeFirstAttempt({ ...sent, ...proof, ...content }, ACCEPTED));
  for (const name of FIRST_ATTEMPT_CONTENT) Reflect.deleteProperty(fields, name);
  expect(readFirstAttempt(fields)).toEqual({ ...sent, ...proof });
});

test('a record without one has none, and one that is damaged is refused', () => {
  expect(readFirstAttempt({ at: '1', s: 'delivered', n: '1' })).toBeUndefined();
  expect(() => readFirstAttempt({ at: '1', a: 'x' })).toThrow('"x" is no attempt');
});
