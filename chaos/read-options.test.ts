import { readOptions } from './read-options.ts';

test('without a seed there is one run, of the drawn one', () => {
  expect(readOptions([], 17)).toEqual({ seconds: 60, seeds: [17], plan: false });
});

test('seeds may be repeated, and given as a range', () => {
  const args = ['--seed', '3', '--seed', '9', '--seeds', '11-13', '--topology', 'sentinel', '--seconds', '20'];
  expect(readOptions(args, 17)).toMatchObject({ seconds: 20, seeds: [3, 9, 11, 12, 13], topology: 'sentinel' });
});

test('a history may be asked for, or refused', () => {
  expect(readOptions(['--history'], 17)).toMatchObject({ history: true });
  expect(readOptions(['--no-history'], 17)).toMatchObject({ history: false });
});

test.each<[readonly string[], string]>([
  [['--seeds', '5'], '--seeds must be a range such as 1-20, not 5'],
  [['--seeds', '5-3'], '--seeds must be a whole number from 5 to 1004, not 3'],
  [['--topology', 'two'], '--topology must be one of single, sentinel, cluster, not two'],
  [['--seconds', '1'], '--seconds must be a whole number from 5 to 86400, not 1'],
])('%j is refused with what to change', (args, sentence) => {
  expect(() => readOptions(args, 17)).toThrow(sentence);
});
