import { ATTEMPT_ERRORS } from '@herald/core/codes/attempt-errors';
import { DELIVERY_REASONS } from '@herald/core/codes/delivery-reasons';
import { explainAttempt, explainNote, explainCode, whyItWaits } from './explain-attempt.ts';

/** Not only what ends like one. */
const SENTENCE = /^(?!.*(undefined|NaN|\[object))[A-Z].{15,}\.$/s;

test.each([...Object.keys(ATTEMPT_ERRORS), ...Object.keys(DELIVERY_REASONS)])(
  '%s has a sentence and what to do',
  (code) => {
    expect(explainCode(code)?.meaning).toMatch(SENTENCE);
    expect(explainCode(code)?.action).toMatch(SENTENCE);
  },
);

test.each([301, 308, 400, 404, 418, 429, 500, 503, 599, 700, 999])('%d is explained', (status) => {
  expect(explainAttempt({ status })?.meaning).toMatch(SENTENCE);
  expect(explainAttempt({ status })?.action).toMatch(SENTENCE);
});

test('a success needs no explanation, and a code of a newer service has none', () => {
  expect(explainAttempt({ status: 204 })).toBeUndefined();
  expect(explainAttempt({ error: 'of_tomorrow' })).toBeUndefined();
});

test('what was odd about an answer has a sentence, unless a newer service found it', () => {
  expect(explainNote('extra_bytes')?.meaning).toBe('It sent more bytes than it said.');
  expect(explainNote('of_tomorrow')).toBeUndefined();
  expect(explainNote(undefined)).toBeUndefined();
});

const AT = '2030-01-31T12:00:00.000Z';
const healthy = { state: 'healthy', since: AT, consecutiveFailures: 0, backlog: 0, lastSuccessAt: null } as const;
const paused = { ...healthy, state: 'paused' } as const;

test.each([
  [undefined, { health: healthy }],
  [undefined, { health: { ...healthy, state: 'failing' as const } }],
  ['unanswered', { health: { ...paused, nextProbeAt: AT } }],
  ['held', { health: { ...paused, pausedUntil: AT } }],
  ['pausedByPlatform', { health: { ...paused, nextProbeAt: AT }, pausedAt: AT }],
  ['rate', { health: { ...healthy, waitingForRate: 1 } }],
])('what is due waits because of: %s', (why, receiver) => {
  expect(whyItWaits(receiver)).toBe(why);
});
