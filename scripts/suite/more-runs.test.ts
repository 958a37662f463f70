import { describeRuns, filesToRunAgain, type JestReport } from './more-runs.ts';

type File = JestReport['testResults'][number];

function file(name: string, ...statuses: readonly string[]): File {
  return {
    name,
    status: statuses.includes('failed') || statuses.length === 0 ? 'failed' : 'passed',
    assertionResults: statuses.map((status, index) => ({ fullName: `test ${String(index + 1)}`, status })),
  };
}

const report = (...testResults: readonly File[]): JestReport => ({ testResults });
const GOOD = file('/a.test.ts', 'passed', 'passed', 'pending', 'todo');
const BAD = file('/b.test.ts', 'passed', 'failed', 'passed');
const NOT_LOADED = file('/c.test.ts');

test('the files that failed run again, those that could not be loaded too', () => {
  expect(filesToRunAgain([report(GOOD, BAD, NOT_LOADED)])).toEqual(['/b.test.ts', '/c.test.ts']);
  expect(filesToRunAgain([report(GOOD)])).toEqual([]);
});

test('when four files fail, none runs again', () => {
  const failed = (count: number) => Array.from({ length: count }, (_, index) => file(`/${String(index)}`, 'failed'));
  expect(filesToRunAgain([report(...failed(3))])).toHaveLength(3);
  expect(filesToRunAgain([report(GOOD, ...failed(4))])).toEqual([]);
});

test('they run again once, and twice where the machine is slow', () => {
  const runs = (count: number) => Array.from({ length: count }, () => report(BAD));
  expect(filesToRunAgain(runs(2))).toEqual([]);
  expect(filesToRunAgain(runs(2), true)).toEqual(['/b.test.ts']);
  expect(filesToRunAgain(runs(3), true)).toEqual([]);
});

test('where the machine is slow, up to twenty do', () => {
  const failed = (count: number) => Array.from({ length: count }, (_, index) => file(`/${String(index)}`, 'failed'));
  expect(filesToRunAgain([report(...failed(20))], true)).toHaveLength(20);
  expect(filesToRunAgain([report(...failed(21))], true)).toEqual([]);
});

test('a file that was left out counts as skipped', () => {
  const leftOut: File = { ...file('/d.test.ts', 'pending'), status: 'skipped' };
  const lines = describeRuns([report(GOOD, BAD, leftOut), report(file('/b.test.ts', 'passed'))]).split('\n');
  expect(lines.at(-1)).toBe('3 passed, 0 failed, 3 skipped');
});

test.each([
  ['passes', report(file('/b.test.ts', 'passed', 'passed', 'passed')), '5 passed, 0 failed, 2 skipped'],
  ['fails in another test', report(file('/b.test.ts', 'failed', 'passed', 'passed')), '4 passed, 1 failed, 2 skipped'],
  ['can not be loaded', report(file('/b.test.ts')), '2 passed, 1 failed, 2 skipped'],
])('a second run that %s: all runs are told, the last line counts', (_what, second, line) => {
  const lines = describeRuns([report(GOOD, BAD), second]).split('\n');
  expect(lines.slice(1)).toEqual(['  /b.test.ts: test 2', line]);
});

test('a file that could not be loaded at first is named as a whole', () => {
  const lines = describeRuns([report(NOT_LOADED), report(file('/c.test.ts', 'passed'))]).split('\n');
  expect(lines.slice(1)).toEqual(['  /c.test.ts', '1 passed, 0 failed']);
});

test('of three runs each file counts as it ended last, and is named once', () => {
  const runs = [
    report(GOOD, BAD, NOT_LOADED),
    report(BAD, file('/c.test.ts', 'passed')),
    report(file('/b.test.ts', 'passed')),
  ];
  expect(describeRuns(runs).split('\n').slice(1)).toEqual([
    '  /b.test.ts: test 2',
    '  /c.test.ts',
    '4 passed, 0 failed, 2 skipped',
  ]);
});
