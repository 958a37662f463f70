import { ConnectionError } from '../errors/connection-error.ts';
import { ProblemError } from '../errors/problem-error.ts';
import { judgeRepeat, repeatDelay } from './judge-repeat.ts';

const problem = (status: number, code = 'unknown') => new ProblemError({ status, code, detail: '' });
const broken = new ConnectionError('');
const once = { isSafe: true, hasIdempotencyKey: true };
const facts = { isSafe: true, hasIdempotencyKey: false };
const perhapsTwice = { isSafe: false, hasIdempotencyKey: false };

test.each([
  { when: 'a broken connection, of a safe call', fault: broken, call: facts, repeats: true },
  { when: 'a broken connection, of another call', fault: broken, call: perhapsTwice, repeats: false },
  { when: 'a 503 of a safe call', fault: problem(503, 'unavailable'), call: once, repeats: true },
  { when: 'a 503 of another call', fault: problem(503, 'unavailable'), call: perhapsTwice, repeats: false },
  { when: 'a 502 of a proxy', fault: problem(502), call: facts, repeats: true },
  { when: 'a 504 of a proxy', fault: problem(504), call: facts, repeats: true },
  { when: 'a 429 of any call', fault: problem(429, 'rate_limited'), call: perhapsTwice, repeats: true },
  { when: 'a first try in work', fault: problem(409, 'request_in_progress'), call: once, repeats: true },
  { when: 'one of no key', fault: problem(409, 'request_in_progress'), call: facts, repeats: false },
  { when: 'another 409', fault: problem(409, 'task_closed'), call: once, repeats: false },
  { when: 'a 500', fault: problem(500, 'internal'), call: once, repeats: false },
  { when: 'a 401', fault: problem(401, 'unauthenticated'), call: once, repeats: false },
  { when: 'a 422', fault: problem(422, 'validation_failed'), call: once, repeats: false },
])('after $when, it is $repeats that the call is repeated', ({ fault, call, repeats }) => {
  expect(judgeRepeat(fault, call)).toBe(repeats);
});

test('the delay doubles up to five seconds, half of it by chance', () => {
  const delays = (random: number) => [1, 2, 3, 6, 7, 20].map((repeat) => repeatDelay(repeat, undefined, () => random));
  expect(delays(1)).toEqual([100, 200, 400, 3_200, 5_000, 5_000]);
  expect(delays(0)).toEqual([50, 100, 200, 1_600, 2_500, 2_500]);
});

test('no repeat comes before the time that the service asks for', () => {
  expect(repeatDelay(1, 2_000, () => 0)).toBe(2_050);
});
