import { anyCharacter } from '@herald/test-kit/any-character';
import fc from 'fast-check';
import { readAnswerHeaders, readAnswerText } from './start-exchange.ts';

/** Bytes as Node hands them over in a header. */
const asRead = (text: string) => Buffer.from(text).toString('latin1');

test('the headers that explain an answer are kept, and no others', () => {
  expect(
    readAnswerHeaders({
      'content-type': 'text/html; charset=utf-8',
      'retry-after': '120',
      location: 'https://example.com/sign-in?next=%2F',
      server: 'nginx',
      'www-authenticate': 'Basic realm="hooks"',
      'set-cookie': ['session=1'],
      'content-length': '12',
      'x-internal': 'no',
    }),
  ).toEqual({
    'content-type': 'text/html; charset=utf-8',
    'retry-after': '120',
    location: 'https://example.com/sign-in?next=%2F',
    server: 'nginx',
    'www-authenticate': 'Basic realm="hooks"',
  });
});

test.each([{}, { date: 'now' }, { server: '' }])('of %j nothing is kept', (headers) => {
  expect(readAnswerHeaders(headers)).toBeUndefined();
});

test.each([
  { what: 'UTF-8', value: asRead('/ключ?é'), kept: '/ключ?é' },
  { what: 'bytes that are no UTF-8', value: 'a\xff\xc0b', kept: 'a\ufffd\ufffdb' },
  { what: 'control characters', value: `a\tb${asRead('\u009b31m')}`, kept: 'a\ufffdb\ufffd31m' },
  { what: 'a long value', value: 'x'.repeat(5_000), kept: 'x'.repeat(256) },
  { what: 'a character across the cut', value: `${'x'.repeat(255)}${asRead('é')}`, kept: 'x'.repeat(255) },
])('of $what stays what is text, within 256 bytes', ({ value, kept }) => {
  expect(readAnswerHeaders({ location: value })).toEqual({ location: kept });
});

test.each([
  { what: 'plain text', text: 'ok\n\tdone' },
  { what: 'nothing', text: '' },
  { what: 'markup', text: '<script>alert(1)</script> &amp;' },
  { what: 'other scripts and emoji', text: 'приёмник 収 👩‍👩‍👧 می\u200cخواهم ❤\ufe0f' },
  { what: 'every kind of line end', text: 'a\r\nb\rc\u2028d\u2029' },
  { what: 'terminal escapes', text: '\x1b[2Jgone\x07\x7f\u009b31m' },
  { what: 'a NUL', text: 'a\0b' },
  { what: 'overrides of direction and invisible marks', text: 'a\u202egpj.exe\u200b\u00ad\u3164\u{e0041}' },
  { what: 'noncharacters', text: 'a\ufffe\u{1ffff}' },
  { what: 'a byte order mark', text: '\ufeffa\ufeff' },
])('keeps $what as it came', ({ text }) => {
  expect(readAnswerText(Buffer.from(text))).toBe(text);
});

test.each([
  { what: 'what is no UTF-8', bytes: [0x61, 0xff, 0xc0, 0x80, 0x62], text: 'a\ufffd\ufffd\ufffdb' },
  { what: 'half a surrogate pair', bytes: [0x61, 0xed, 0xa0, 0x80], text: 'a\ufffd\ufffd\ufffd' },
  { what: 'a character that the body itself cuts off', bytes: [0x61, 0xf0, 0x9f], text: 'a\ufffd' },
])('replaces $what', ({ bytes, text }) => {
  expect(readAnswerText(Buffer.from(bytes))).toBe(text);
});

test.each([
  { what: 'one-byte characters', body: 'a'.repeat(2_000), text: 'a'.repeat(1_024) },
  { what: 'a two-byte character across the cut', body: `${'a'.repeat(1_023)}éé`, text: 'a'.repeat(1_023) },
  { what: 'a four-byte character across the cut', body: `${'a'.repeat(1_021)}👍👍`, text: 'a'.repeat(1_021) },
  { what: 'a character that just fits', body: `${'a'.repeat(1_020)}👍b`, text: `${'a'.repeat(1_020)}👍` },
])('keeps 1 KiB and cuts between characters: $what', ({ body, text }) => {
  expect(readAnswerText(Buffer.from(body))).toBe(text);
});

test('stays within 1 KiB of UTF-8 when every byte has to be replaced', () => {
  expect(readAnswerText(Buffer.alloc(5_000, 0xff))).toBe('\ufffd'.repeat(341));
});

describe('whatever comes', () => {
  const texts = fc.string({ unit: anyCharacter, maxLength: 1_500 });
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }),
    texts.map((text) => Buffer.from(text)),
  );

  test('the text is well-formed, has at most 1 KiB, and is read again as itself', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const text = readAnswerText(body);
        const bytes = Buffer.from(text);
        return text.isWellFormed() && bytes.length <= 1_024 && readAnswerText(bytes) === text;
      }),
      { numRuns: 300 },
    );
  });

  test('text is kept from its first byte on, as far as it fits', () => {
    fc.assert(
      fc.property(texts, (body) => {
        const kept = readAnswerText(Buffer.from(body));
        return body.startsWith(kept) && Buffer.byteLength(body.slice(0, kept.length + 2)) >= Buffer.byteLength(kept);
      }),
    );
  });
});
