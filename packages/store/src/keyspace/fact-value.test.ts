import type { KnownFact } from '@herald/core';
import { readFactValue, writeFactValue } from './fact-value.ts';

test.each<{ fact: KnownFact; value: string }>([
  { fact: { sequence: 0 }, value: '0' },
  { fact: { sequence: 12 }, value: '12' },
  { fact: { sequence: 0, digest: '0000001' }, value: '0.0000001' },
  { fact: { sequence: 12, digest: '7654321' }, value: '12.7654321' },
])('$fact is kept as $value, and read back', ({ fact, value }) => {
  expect(writeFactValue(fact)).toBe(value);
  expect(readFactValue(value)).toStrictEqual(fact);
});

test('a former version, which reads a number, finds the facts in their order', () => {
  const values = [2, 10, 1].map((sequence) => writeFactValue({ sequence, digest: '9999999' }));
  expect(values.map(Number).sort((a, b) => a - b)).toEqual([1.9999999, 2.9999999, 10.9999999]);
});
