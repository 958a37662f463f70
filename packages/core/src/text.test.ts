import { plainText, toLeavingJson } from './text.ts';

test.each([
  { what: 'a line break, a tab and a return', text: 'a\nb\tc\r\nd', plain: 'a b c d' },
  { what: 'terminal escapes', text: '\x1b[2Jgone\x07\x7f\u009b31m', plain: ' [2Jgone 31m' },
  { what: 'a NUL', text: 'a\0b', plain: 'a b' },
  { what: 'overrides of direction', text: 'a\u202egpj.exe\u2066\u200f', plain: 'a gpj.exe ' },
  { what: 'invisible marks, fillers and tags', text: 'a\u200bb\u3164c\u{e0041}d\u00ad', plain: 'a b c d ' },
  { what: 'line separators and noncharacters', text: 'a\u2028b\ufffe', plain: 'a b ' },
  { what: 'half a surrogate pair', text: 'a\ud800b', plain: 'a b' },
])('$what become one blank', ({ text, plain }) => {
  expect(plainText(text)).toBe(plain);
});

test('text of any script, and markup, which is no matter of a terminal, stay', () => {
  const text = 'приёмник 収 👍 é <b>&amp;</b> \ufffd';
  expect(plainText(text)).toBe(text);
});

test.each([
  { what: 'half an emoji', text: 'cut \ud83d', leaves: 'cut \ufffd' },
  { what: 'the other half', text: '\ude00 cut', leaves: '\ufffd cut' },
  { what: 'halves in the wrong order', text: '\ude00\ud83d', leaves: '\ufffd\ufffd' },
  { what: 'a NUL', text: 'a\0b', leaves: 'a\ufffdb' },
  { what: 'a whole emoji', text: 'whole \ud83d\ude00', leaves: 'whole \ud83d\ude00' },
  { what: 'a backslash that looks like half an emoji', text: '\\ud83d \\u0000', leaves: '\\ud83d \\u0000' },
  { what: 'other control characters', text: '\u0001\u007f\u2028', leaves: '\u0001\u007f\u2028' },
])('$what leaves as text that every parser takes, however deep it lies', ({ text, leaves }) => {
  expect(JSON.parse(toLeavingJson({ a: text, b: [{ c: text }], n: 1 }))).toEqual({
    a: leaves,
    b: [{ c: leaves }],
    n: 1,
  });
});
