import { ATTEMPT_ERRORS } from '@herald/core/codes/attempt-errors';
import { DELIVERY_REASONS } from '@herald/core/codes/delivery-reasons';
import { explainAttempt, explainNote, explainCode } from './explain-attempt.ts';

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
