import { execFileSync } from 'node:child_process';
import type { CountedOutcome } from './attempt.ts';
import {
  createRetryPolicy,
  DEFAULT_SCHEDULE_MS,
  judgeAttempt,
  policyOf,
  retryAfterMs,
  type AttemptContext,
  type AttemptVerdict,
} from './retry-policy.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2030, 0, 1); // a Tuesday

const policy = createRetryPolicy();

function responded(status: number, retryAfter?: string): CountedOutcome {
  return { kind: 'responded', status, answer: '', ...(retryAfter !== undefined && { retryAfter }) };
}

/** The first try, just accepted, with a jitter that moves nothing. */
function context(changes: Partial<AttemptContext> = {}): AttemptContext {
  return { tries: 1, acceptedAt: NOW, now: NOW, random: 0.5, ...changes };
}

test('the default schedule is 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h', () => {
  expect(DEFAULT_SCHEDULE_MS).toEqual([
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
  ]);
  expect(policy.scheduleMs).toBe(DEFAULT_SCHEDULE_MS);
});

test('even the longest jitter leaves every slot of the default schedule within the five days', () => {
  let now = NOW;
  for (let tries = 1; tries <= DEFAULT_SCHEDULE_MS.length; tries++) {
    const verdict = judgeAttempt(responded(500), context({ tries, now, random: 0.999_999 }), policy);
    expect(verdict.kind).toBe('retry');
    if (verdict.kind === 'retry') now = verdict.at;
  }
  expect(now - NOW).toBeLessThan(5 * DAY);
});

test.each([
  [1, 5 * SECOND],
  [2, 5 * MINUTE],
  [3, 30 * MINUTE],
  [4, 2 * HOUR],
  [5, 5 * HOUR],
  [6, 10 * HOUR],
  [7, 14 * HOUR],
  [8, 20 * HOUR],
  [9, 24 * HOUR],
])('failed try %d is followed by another one %d ms after it ended', (tries, waitMs) => {
  const now = NOW + HOUR;
  expect(judgeAttempt(responded(500), context({ tries, now }), policy)).toEqual({ kind: 'retry', at: now + waitMs });
});

test.each<{ when: string; scheduleMs?: number[]; tries: number; verdict: AttemptVerdict }>([
  {
    when: 'the tenth try of the default schedule',
    tries: 10,
    verdict: { kind: 'failed', reason: 'schedule_exhausted' },
  },
  { when: 'a try past the schedule', tries: 11, verdict: { kind: 'failed', reason: 'schedule_exhausted' } },
  {
    when: 'the only try of an empty schedule',
    scheduleMs: [],
    tries: 1,
    verdict: { kind: 'failed', reason: 'schedule_exhausted' },
  },
  {
    when: 'the first try of a schedule of one wait',
    scheduleMs: [7],
    tries: 1,
    verdict: { kind: 'retry', at: NOW + 7 },
  },
  {
    when: 'the second try of a schedule of one wait',
    scheduleMs: [7],
    tries: 2,
    verdict: { kind: 'failed', reason: 'schedule_exhausted' },
  },
])('$when that fails → $verdict.kind', ({ scheduleMs, tries, verdict }) => {
  expect(judgeAttempt(responded(500), context({ tries }), createRetryPolicy(scheduleMs))).toEqual(verdict);
});

test('the last try may still deliver', () => {
  expect(judgeAttempt(responded(200), context({ tries: 10 }), policy)).toEqual({ kind: 'delivered' });
  expect(judgeAttempt(responded(200), context(), createRetryPolicy([]))).toEqual({ kind: 'delivered' });
});

test.each([
  [0, 8_000],
  [0.25, 9_000],
  [0.5, 10_000],
  [0.75, 11_000],
  [0.999_999, 12_000],
])('a random number of %p makes a wait of 10 s one of %d ms', (random, waitMs) => {
  const verdict = judgeAttempt(responded(500), context({ random }), createRetryPolicy([10_000]));
  expect(verdict).toEqual({ kind: 'retry', at: NOW + waitMs });
});

const FAILED_ONCE: AttemptVerdict = { kind: 'retry', at: NOW + 5_000 };

test.each<{ outcome: CountedOutcome; verdict: AttemptVerdict }>([
  ...[200, 201, 202, 204, 206, 299].map((status) => ({
    outcome: responded(status),
    verdict: { kind: 'delivered' } as const,
  })),
  ...[100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 408, 410, 418, 422, 429, 499].map((status) => ({
    outcome: responded(status),
    verdict: FAILED_ONCE,
  })),
  ...[500, 501, 502, 503, 504, 599, 999].map((status) => ({ outcome: responded(status), verdict: FAILED_ONCE })),
  { outcome: { kind: 'timed_out', phase: 'lookup' }, verdict: FAILED_ONCE },
  { outcome: { kind: 'timed_out', phase: 'connect' }, verdict: FAILED_ONCE },
  { outcome: { kind: 'timed_out', phase: 'tls' }, verdict: FAILED_ONCE },
  { outcome: { kind: 'timed_out', phase: 'response' }, verdict: FAILED_ONCE },
  { outcome: { kind: 'timed_out', phase: 'response' }, verdict: FAILED_ONCE },
  { outcome: { kind: 'unreachable', reason: 'dns_name_unknown' }, verdict: FAILED_ONCE },
  { outcome: { kind: 'unreachable', reason: 'tls_self_signed' }, verdict: FAILED_ONCE },
  { outcome: { kind: 'blocked' }, verdict: FAILED_ONCE },
])('$outcome → $verdict.kind', ({ outcome, verdict }) => {
  expect(judgeAttempt(outcome, context(), policy)).toEqual(verdict);
});

const TOO_OLD: AttemptVerdict = { kind: 'failed', reason: 'too_old' };
const AT_TWO_HOURS: AttemptVerdict = { kind: 'retry', at: NOW + 2 * HOUR };
const AT_FIVE_DAYS: AttemptVerdict = { kind: 'retry', at: NOW + 5 * DAY };

test.each<{ when: string; tries?: number; now: number; retryAfter?: string; verdict: AttemptVerdict }>([
  { when: 'five days after acceptance to the millisecond', now: NOW + 5 * DAY - 5_000, verdict: AT_FIVE_DAYS },
  { when: 'a millisecond later than that', now: NOW + 5 * DAY - 4_999, verdict: TOO_OLD },
  { when: 'after a long slot, too late', tries: 9, now: NOW + 4 * DAY + 1, verdict: TOO_OLD },
  { when: 'after a Retry-After, too late', now: NOW + 4.5 * DAY, retryAfter: '43201', verdict: TOO_OLD },
  { when: 'after a Retry-After, just in time', now: NOW + 4.5 * DAY, retryAfter: '43200', verdict: AT_FIVE_DAYS },
])('a next try $when → $verdict.kind', ({ tries = 1, now, retryAfter, verdict }) => {
  expect(judgeAttempt(responded(503, retryAfter), context({ tries, now }), policy)).toEqual(verdict);
});

const policies = { usual: policy, callbacks: createRetryPolicy([7]) };

test.each<{ id: string; maxRetryHours?: number; scheduleMs: readonly number[]; giveUpAfterMs: number }>([
  { id: 'wh_1', scheduleMs: DEFAULT_SCHEDULE_MS, giveUpAfterMs: 5 * DAY },
  { id: 'platform', scheduleMs: DEFAULT_SCHEDULE_MS, giveUpAfterMs: 5 * DAY },
  { id: 'cb_1', scheduleMs: [7], giveUpAfterMs: 5 * DAY },
  { id: 'wh_1', maxRetryHours: 1, scheduleMs: DEFAULT_SCHEDULE_MS, giveUpAfterMs: HOUR },
  { id: 'wh_1', maxRetryHours: 120, scheduleMs: DEFAULT_SCHEDULE_MS, giveUpAfterMs: 5 * DAY },
  { id: 'wh_1', maxRetryHours: 121, scheduleMs: DEFAULT_SCHEDULE_MS, giveUpAfterMs: 5 * DAY },
])(
  '$id with maxRetryHours $maxRetryHours is given up after $giveUpAfterMs ms',
  ({ id, maxRetryHours, ...expected }) => {
    const endpoint = { id, ...(maxRetryHours !== undefined && { maxRetryHours }) };
    expect(policyOf(endpoint, policies)).toEqual({ ...policy, ...expected });
  },
);

test.each<{ when: string; tries?: number; now: number; retryAfter?: string; verdict: AttemptVerdict }>([
  { when: 'two hours after acceptance to the millisecond', now: NOW + 2 * HOUR - 5_000, verdict: AT_TWO_HOURS },
  { when: 'a millisecond later than that', now: NOW + 2 * HOUR - 4_999, verdict: TOO_OLD },
  { when: 'after a slot of two hours', tries: 4, now: NOW + 1, verdict: TOO_OLD },
  { when: 'after a Retry-After, just in time', now: NOW + HOUR, retryAfter: '3600', verdict: AT_TWO_HOURS },
  { when: 'after a Retry-After, too late', now: NOW + HOUR, retryAfter: '3601', verdict: TOO_OLD },
])('with two hours, a next try $when → $verdict.kind', ({ tries = 1, now, retryAfter, verdict }) => {
  const short = policyOf({ id: 'wh_1', maxRetryHours: 2 }, policies);
  expect(judgeAttempt(responded(503, retryAfter), context({ tries, now }), short)).toEqual(verdict);
});

test('a success is a success however late', () => {
  expect(judgeAttempt(responded(204), context({ now: NOW + 6 * DAY }), policy)).toEqual({ kind: 'delivered' });
});

test.each([
  { header: '120', waitMs: 120_000 },
  { header: ' 120 ', waitMs: 120_000 },
  { header: '6', waitMs: 6_000 },
  { header: '5', waitMs: 5_000 },
  { header: '4', waitMs: 5_000, because: 'never earlier than scheduled' },
  { header: '0', waitMs: 5_000, because: 'never earlier than scheduled' },
  { header: '86400', waitMs: DAY },
  { header: '86401', waitMs: DAY, because: 'capped' },
  { header: '9'.repeat(400), waitMs: DAY, because: 'capped' },
  { header: 'Tue, 01 Jan 2030 00:02:00 GMT', waitMs: 120_000, because: 'IMF-fixdate' },
  { header: 'Tuesday, 01-Jan-30 00:02:00 GMT', waitMs: 120_000, because: 'RFC 850' },
  { header: 'Wednesday, 02-Jan-30 00:00:00 GMT', waitMs: DAY, because: 'RFC 850' },
  { header: 'Monday, 07-Jan-30 00:00:00 GMT', waitMs: DAY, because: 'RFC 850, capped' },
  { header: 'Tue Jan  1 00:02:00 2030', waitMs: 120_000, because: 'asctime' },
  { header: 'Tue Jan 15 00:00:00 2030', waitMs: DAY, because: 'asctime, capped' },
  { header: 'Wed, 01 Jan 2031 00:00:00 GMT', waitMs: DAY, because: 'capped' },
  { header: 'Mon, 31 Dec 2029 23:59:59 GMT', waitMs: 5_000, because: 'in the past' },
  { header: 'Sunday, 06-Nov-94 08:49:37 GMT', waitMs: 5_000, because: 'in the past' },
  { header: 'Sun Nov  6 08:49:37 1994', waitMs: 5_000, because: 'in the past' },
  { header: '-120', waitMs: 5_000, because: 'not in the grammar' },
  { header: '+120', waitMs: 5_000, because: 'not in the grammar' },
  { header: '1.5', waitMs: 5_000, because: 'not in the grammar' },
  { header: '1e9', waitMs: 5_000, because: 'not in the grammar' },
  { header: '0x100', waitMs: 5_000, because: 'not in the grammar' },
  { header: '120s', waitMs: 5_000, because: 'not in the grammar' },
  { header: '120, 240', waitMs: 5_000, because: 'not in the grammar' },
  { header: '2030-01-01T00:02:00Z', waitMs: 5_000, because: 'not in the grammar' },
  { header: 'Retry 2031', waitMs: 5_000, because: 'not in the grammar' },
  { header: 'Soon 3600', waitMs: 5_000, because: 'not in the grammar' },
  { header: 'Tue, 99 Jan 2030 99:99:99 GMT', waitMs: 5_000, because: 'no such time' },
  { header: '', waitMs: 5_000, because: 'nothing said' },
  { header: '   ', waitMs: 5_000, because: 'nothing said' },
  { header: undefined, waitMs: 5_000, because: 'nothing said' },
])('a 503 with Retry-After $header is tried again after $waitMs ms ($because)', ({ header, waitMs }) => {
  expect(judgeAttempt(responded(503, header), context(), policy)).toEqual({ kind: 'retry', at: NOW + waitMs });
});

test('a Retry-After is not moved by the jitter, and the jittered wait still holds below it', () => {
  const after = (header: string, random: number) => judgeAttempt(responded(429, header), context({ random }), policy);
  expect(after('60', 0)).toEqual({ kind: 'retry', at: NOW + 60_000 });
  expect(after('60', 0.999_999)).toEqual({ kind: 'retry', at: NOW + 60_000 });
  expect(after('5', 0.999_999)).toEqual({ kind: 'retry', at: NOW + 6_000 });
});

test('a Retry-After on the last try doesn’t make one more', () => {
  const verdict = judgeAttempt(responded(503, '60'), context({ tries: 10 }), policy);
  expect(verdict).toEqual({ kind: 'failed', reason: 'schedule_exhausted' });
});

test.each<{ outcome: CountedOutcome; ms: number | undefined }>([
  { outcome: responded(429, '60'), ms: 60_000 },
  { outcome: responded(503, '60'), ms: 60_000 },
  { outcome: responded(503, '0'), ms: 0 },
  { outcome: responded(503, 'Mon, 31 Dec 2029 23:59:59 GMT'), ms: 0 },
  { outcome: responded(503, 'soon'), ms: undefined },
  { outcome: responded(503), ms: undefined },
  ...[200, 301, 400, 408, 410, 413, 428, 430, 500, 502, 504].map((status) => ({
    outcome: responded(status, '60'),
    ms: undefined,
  })),
  { outcome: { kind: 'timed_out', phase: 'response' }, ms: undefined },
  { outcome: { kind: 'blocked' }, ms: undefined },
])('$outcome asks for a wait of $ms ms', ({ outcome, ms }) => {
  expect(retryAfterMs(outcome, NOW)).toBe(ms);
});

test('an asctime date, which names no zone, is read as GMT wherever the worker runs', () => {
  const script = `
    import { retryAfterMs } from ${JSON.stringify(new URL('retry-policy.ts', import.meta.url).href)};
    const outcome = { kind: 'responded', status: 503, answer: '', retryAfter: 'Tue Jan  1 00:02:00 2030' };
    console.log(new Date(${NOW}).getTimezoneOffset(), retryAfterMs(outcome, ${NOW}));`;
  // Jest's own process can't change its zone.
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    env: { TZ: 'America/New_York' },
    encoding: 'utf8',
  });
  expect(output).toBe('300 120000\n');
});
