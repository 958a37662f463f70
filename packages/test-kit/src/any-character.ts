import fc from 'fast-check';

/**
 * Any character of Unicode, as a `unit` of `fc.string`. What fast-check has of its own (`'binary'`, `'grapheme'`) makes a
 * table of all of them first, which takes each test file a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_f7_ff })
  .map(toCharacter, (character) => {
    const code = typeof character === 'string' ? (character.codePointAt(0) ?? 0) : 0;
    const index = code > 0xdf_ff ? code - 0x8_00 : code;
    if (index < 0 || toCharacter(index) !== character) throw new Error('it is no character');
    return index;
  });

/** Halves of pairs, from U+D800 to U+DFFF, are no characters. */
function toCharacter(index: number): string {
  return String.fromCodePoint(index < 0xd8_00 ? index : index + 0x8_00);
}
