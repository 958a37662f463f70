import { markInvisible } from './foreign-text.ts';

const show = (text: string, hasLines = true) =>
  markInvisible(text, hasLines)
    .map((piece) => (piece.isMark ? `[${piece.text}]` : piece.text))
    .join('');

test.each([
  ['plain text stays', 'Grüße, 世界 🚀', 'Grüße, 世界 🚀'],
  ['an override of the direction', 'a\u202eb', String.raw`a[\u{202e}]b`],
  ['a terminal’s escape', '\u001b[31mred', String.raw`[\e][31mred`],
  ['a zero', 'a\0b', String.raw`a[\0]b`],
  ['what has no width', 'a\u200b\u2060b', String.raw`a[\u{200b}\u{2060}]b`],
  ['half a pair', 'a\ud800b', String.raw`a[\u{d800}]b`],
  ['tags', 'a\u{e0041}', String.raw`a[\u{e0041}]`],
  ['line ends of a body stay', 'a\r\n\tb', 'a\n\tb'],
  ['a CR alone, or one too many, is none', 'a\rb\r\r\n', 'a[\\r]b[\\r]\n'],
  ['many', '\u202e'.repeat(500), `[${String.raw`\u{202e}`.repeat(8)}… +492]`],
])('%s', (_what, text, shown) => {
  expect(show(text)).toBe(shown);
});

test('in one line, a line break is no line break', () => {
  expect(show('a\nb\tc', false)).toBe(String.raw`a[\n]b[\t]c`);
});

test('nothing is lost: the pieces without marks are the text without what can’t be seen', () => {
  const text = 'one\u202etwo\u0007three';
  expect(markInvisible(text, true).flatMap(({ text: piece, isMark }) => (isMark ? [] : [piece]))).toEqual([
    'one',
    'two',
    'three',
  ]);
});
