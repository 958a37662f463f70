import { readAnswerText } from './answer-text.ts';

test.each([
  { what: 'plain text', bytes: 'ok\n\tdone', text: 'ok\n\tdone' },
  { what: 'nothing', bytes: '', text: '' },
  { what: 'markup, as the text that it is', bytes: '<script>alert(1)</script>', text: '<script>alert(1)</script>' },
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
  { what: 'line separators', bytes: 'a\u2028b\u2029', text: 'a\ufffdb\ufffd' },
  { what: 'a byte order mark at the start', bytes: '\ufeffa', text: 'a' },
])('shows $what', ({ bytes, text }) => {
  expect(readAnswerText(Buffer.from(bytes))).toBe(text);
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
