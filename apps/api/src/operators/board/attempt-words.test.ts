import { hasSucceeded, toLogLine, toWords } from './attempt-words.ts';

const attempt = { at: 1_000, durationMs: 12 };

test.each([
  { attempt: { ...attempt, status: 204 }, words: 'answered 204', succeeded: true },
  { attempt: { ...attempt, status: 301 }, words: 'answered 301', succeeded: false },
  { attempt: { ...attempt, status: 500 }, words: 'answered 500', succeeded: false },
  { attempt: { ...attempt, error: 'timeout_response' }, words: 'no answer (timeout_response)', succeeded: false },
])('an attempt that ended with $words has succeeded: $succeeded', ({ attempt: made, words, succeeded }) => {
  expect(toWords(made)).toBe(words);
  expect(hasSucceeded(made)).toBe(succeeded);
});

test('a line of the log has the time, what came of the attempt and how long it took', () => {
  expect(toLogLine({ ...attempt, error: 'dns_failed' })).toBe(
    '1970-01-01T00:00:01.000Z no answer (dns_failed) after 12 ms',
  );
  expect(toLogLine({ ...attempt, status: 500, answer: '' })).toBe('1970-01-01T00:00:01.000Z answered 500 after 12 ms');
});

test('an answer can’t control what it is printed to, nor reverse or hide a part of the line', () => {
  const line = toLogLine({ ...attempt, status: 500, answer: '\u001b[31mred\u202e\u0000 \u200bevil<b>' });
  expect(line).toBe('1970-01-01T00:00:01.000Z answered 500 after 12 ms: [31mred evil<b>');
});

test('it has the beginning of the answer, on one line', () => {
  const line = toLogLine({ ...attempt, status: 500, answer: ` out\n\tof  order ${'x'.repeat(300)}` });
  expect(line).toBe(`1970-01-01T00:00:01.000Z answered 500 after 12 ms: out of order ${'x'.repeat(187)}…`);
});
