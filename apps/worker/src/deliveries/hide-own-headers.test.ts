import type { AttemptOutcome } from '@herald/core';
import { hideOwnHeaders } from './hide-own-headers.ts';

const TOKEN = 'canary-7c1f0b';
const own = { authorization: `Bearer ${TOKEN}`, 'x-pair': 'say "canary"', 'x-region': 'eu' };
const responded = (answer: string, more: object = {}): AttemptOutcome => ({
  kind: 'responded',
  status: 200,
  answer,
  ...more,
});

test.each([
  { answer: '', shown: '' },
  { answer: 'ok, eu, Bearer', shown: 'ok, eu, Bearer' },
  { answer: `got Bearer ${TOKEN}!`, shown: 'got [authorization]!' },
  { answer: `${TOKEN} and ${TOKEN}`, shown: '[authorization] and [authorization]' },
  { answer: '{"x-pair":"say \\"canary\\""}', shown: '{"x-pair":"[x-pair]"}' },
  { answer: 'a say "canary" b', shown: 'a [x-pair] b' },
  { answer: 'cut Bearer canary-', shown: 'cut [authorization]' },
  { answer: 'cut canary-7c1', shown: 'cut [authorization]' },
  { answer: 'cut canary-', shown: 'cut canary-' },
])('of the answer $answer is kept $shown', ({ answer, shown }) => {
  expect(hideOwnHeaders(responded(answer), own)).toEqual(responded(shown));
});

test('the headers of an answer are treated like its body', () => {
  const outcome = responded('', { headers: { location: `/?token=${TOKEN}&a=1`, server: 'nginx' } });
  expect(hideOwnHeaders(outcome, own)).toEqual(
    responded('', { headers: { location: '/?token=[authorization]&a=1', server: 'nginx' } }),
  );
});

test.each<AttemptOutcome>([{ kind: 'timed_out', phase: 'response' }, { kind: 'blocked' }, responded(TOKEN)])(
  '%j stays as it is without own headers',
  (outcome) => {
    expect(hideOwnHeaders(outcome, {})).toBe(outcome);
  },
);
