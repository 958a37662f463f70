import { plainText } from './text.ts';

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
