import { ApiAway, ApiProblem } from './api-problem.ts';
import { isTransient, judgeChartPace, judgePace, judgeWait } from './polling.ts';

const problem = (status: number, retryAfter: string | null = null) =>
  new ApiProblem(status, { detail: 'no' }, retryAfter);

test.each([
  ['no answer', new ApiAway('refused'), true],
  ['429', problem(429), true],
  ['503', problem(503), true],
  ['404', problem(404), false],
  ['401', problem(401), false],
  ['a bug', new TypeError('x'), false],
])('%s may succeed later: %p', (_what, error, expected) => {
  expect(isTransient(error)).toBe(expected);
});

test('a page asks less often when nobody has done anything with it for two minutes, and nothing has happened', () => {
  expect([0, 119_999, 120_000, 86_400_000].map(judgePace)).toEqual([5_000, 5_000, 20_000, 20_000]);
  expect([0, 119_999, 120_000].map(judgeChartPace)).toEqual([60_000, 60_000, 300_000]);
});

test('the more tries fail, the longer the wait, up to a minute', () => {
  expect([0, 1, 2, 3, 4, 50].map((failures) => judgeWait(failures, new ApiAway('x')))).toEqual([
    5_000, 10_000, 20_000, 40_000, 60_000, 60_000,
  ]);
});

test('Retry-After is honored, however long', () => {
  expect(judgeWait(0, problem(429, '120'))).toBe(120_000);
  expect(judgeWait(0, problem(429, 'Wed, 21 Oct 2030'))).toBe(5_000);
});

test('an answer that is no problem is one all the same', () => {
  expect(new ApiProblem(502, '<html>', null)).toMatchObject({ status: 502, code: 'unknown', errors: [] });
});
