import { sortableId } from './sortable-id.ts';

const zeros = new Uint8Array(16);
const ones = new Uint8Array(16).fill(255);

test.each([
  [0, '0000000000'],
  [31, '000000000z'],
  [32, '0000000010'],
  [1_469_918_176_385, '01aryz6s41'], // the example of the ULID library
  [281_474_976_710_655, '7zzzzzzzzz'], // 48 bits
])('the time %d ms is written as %s', (now, text) => {
  expect(sortableId(now, zeros)).toBe(text + '0'.repeat(16));
});

test('the random part uses five bits of every byte', () => {
  const counting = Uint8Array.from({ length: 16 }, (_, index) => index * 2 + 1);
  expect(sortableId(0, ones)).toBe(`${'0'.repeat(10)}${'z'.repeat(16)}`);
  expect(sortableId(0, counting)).toBe(`${'0'.repeat(10)}13579bdfhknqsvxz`);
});

test('a thousand ids of one millisecond are all different', () => {
  const ids = Array.from({ length: 1_000 }, () => sortableId(1_700_000_000_000));
  expect(new Set(ids).size).toBe(1_000);
});
