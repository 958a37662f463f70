import { judgeTestFile } from './judge-test-file.ts';

const NEEDY = 'Error: this test needs one Redis server, and runs on the topology cluster\n    at somewhere';

const toResult = (fullName: string, ...failureMessages: string[]) => ({
  fullName,
  failureMessages,
  status: failureMessages.length > 0 ? 'failed' : 'passed',
});

test.each([
  ['nothing failed', [toResult('a'), toResult('b')], { kind: 'passed', details: [] }],
  [
    'some tests need one server',
    [toResult('a'), toResult('b', NEEDY)],
    { kind: 'needs one server', details: ['1 of 2 tests need one server'] },
  ],
  [
    'one failed for another reason too',
    [toResult('a', 'Error: no\n    at x'), toResult('b', 'TypeError: it ended', NEEDY)],
    { kind: 'failed', details: ['1 of 2 tests need one server', 'failed: a', '  Error: no'] },
  ],
])('of a file where %s', (_, assertionResults, verdict) => {
  expect(judgeTestFile(JSON.stringify({ testResults: [{ message: '', assertionResults }] }))).toEqual(verdict);
});

test('a file without a report, or without tests, has failed', () => {
  expect(judgeTestFile(undefined).kind).toBe('failed');
  const report = { testResults: [{ message: 'Cannot find module', assertionResults: [] }] };
  expect(judgeTestFile(JSON.stringify(report))).toEqual({ kind: 'failed', details: ['Cannot find module'] });
});
