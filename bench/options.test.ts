import { lengthsOf, readOptions, SCENARIO_NAMES } from './options.ts';

test('without a name every scenario runs', () => {
  expect(readOptions([]).scenarios).toEqual(SCENARIO_NAMES);
});

test('named scenarios run in their own order', () => {
  expect(readOptions(['through', 'accept']).scenarios).toEqual(['accept', 'through']);
});

test('only what was asked for replaces what a scenario has', () => {
  expect(readOptions(['drain', '--count', '500']).lengths).toEqual({ count: 500 });
});

test.each([
  { args: ['sprint'], message: /no scenario sprint; there are drain/ },
  { args: ['--count', '99'], message: /--count must be a whole number from 100/ },
  { args: ['--repeats', '1.5'], message: /--repeats must be a whole number from 1/ },
  { args: ['--deliveries', 'many'], message: /--deliveries must be a whole number/ },
  { args: ['--variant', 'none'], message: /no variant none/ },
  { args: ['history', '--beside', '.'], message: /history measures this build alone/ },
  { args: ['--beside', '/no/such/folder'], message: /there is no such directory/ },
])('$args is refused with what to change', ({ args, message }) => {
  expect(() => readOptions(args)).toThrow(message);
});

test('a full run has the lengths that the targets are for', () => {
  expect(lengthsOf('drain', false).count).toBe(50_000);
  expect(lengthsOf('memory', false).deliveries).toBe(1_000_000);
  expect(lengthsOf('isolation', false)).toMatchObject({ behind: 1_000_000, destinations: 20_000 });
  expect(lengthsOf('isolation', false).seconds).toBe(120);
});
