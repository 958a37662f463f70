import fc from 'fast-check';
import { readAnswerText } from './answer-text.ts';

test.each([
  { what: 'plain text', bytes: 'ok\n\tdone', text: 'ok\n\tdone' },
  { what: 'nothing', bytes: '', text: '' },
  { what: 'markup, which is none any more', bytes: '<script>alert(1)</script>', text: '‹script›alert(1)‹/script›' },
  { what: 'JSON, as it is', bytes: '{"error":"a & b","ok":false}', text: '{"error":"a & b","ok":false}' },
  { what: 'other scripts and emoji', bytes: 'приёмник 収 👩‍👩‍👧', text: 'приёмник 収 👩‍👩‍👧' },
  { what: 'Windows line ends', bytes: 'a\r\nb', text: 'a\nb' },
  { what: 'a lone carriage return, which would overwrite the line', bytes: 'safe\revil', text: 'safe\ufffdevil' },
  { what: 'terminal escapes', bytes: '\x1b[2Jgone\x07\x7f\u009b31m', text: '\ufffd[2Jgone\ufffd\ufffd\ufffd31m' },
  { what: 'a NUL', bytes: 'a\0b', text: 'a\ufffdb' },
  {
    what: 'overrides of direction',
    bytes: 'a\u202egpj.exe\u2066\u200f\u061c',
    text: 'a\ufffdgpj.exe\ufffd\ufffd\ufffd',
  },
  { what: 'invisible marks and tags', bytes: 'a\u200bb\u2060c\u{e0041}', text: 'a\ufffdb\ufffdc\ufffd' },
  { what: 'a soft hyphen, fillers and numbered tags', bytes: 'a\u00ad\u3164\u{e0100}', text: 'a\ufffd\ufffd\ufffd' },
  { what: 'noncharacters', bytes: 'a\ufffe\u{1ffff}', text: 'a\ufffd\ufffd' },
  { what: 'half a surrogate pair', bytes: Buffer.from([0x61, 0xed, 0xa0, 0x80]), text: 'a\ufffd\ufffd\ufffd' },
  { what: 'joined letters and emoji', bytes: 'می\u200cخواهم ❤\ufe0f', text: 'می\u200cخواهم ❤\ufe0f' },
  { what: 'line separators', bytes: 'a\u2028b\u2029', text: 'a\ufffdb\ufffd' },
  { what: 'a byte order mark at the start', bytes: '\ufeffa', text: 'a' },
])('shows $what', ({ bytes, text }: { bytes: string | Buffer; text: string }) => {
  expect(readAnswerText(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)).toBe(text);
});

test('replaces what is no UTF-8', () => {
  expect(readAnswerText(Buffer.from([0x61, 0xff, 0xc0, 0x80, 0x62]))).toBe('a\ufffd\ufffd\ufffdb');
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

test('replaces a character that the body itself cuts off', () => {
  expect(readAnswerText(Buffer.from([0x61, 0xf0, 0x9f]))).toBe('a\ufffd');
});

describe('whatever comes', () => {
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }),
    fc.string({ unit: 'binary', maxLength: 1_500 }).map((text) => Buffer.from(text)),
    fc
      .string({
        unit: fc.constantFrom('<', '>', '\r', '\n', '\0', '\u202e', '\ufeff', '€', 'a', '👍'),
        maxLength: 1_500,
      })
      .map((text) => Buffer.from(text)),
  );

  test('the text has at most 1 KiB, no control, no mark that hides, and no tag', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const text = readAnswerText(body);
        const isHarmless =
          !/[<>\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[^\P{Cc}\t\n]/u.test(text);
        return isHarmless && text.isWellFormed() && Buffer.byteLength(text) <= 1_024;
      }),
      { numRuns: 1_000 },
    );
  });

  test('it is not changed by being made safe again', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const text = readAnswerText(body);
        return readAnswerText(Buffer.from(text)) === text;
      }),
      { numRuns: 1_000 },
    );
  });
});
