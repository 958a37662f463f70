import { LockReceiver } from './disabling.ts';

const problemOf = (reason: unknown) => LockReceiver.safeParse({ reason }).error?.issues[0]?.message;

test('the reason of a lock may be left out, and has at most 200 characters', () => {
  expect(LockReceiver.parse({})).toEqual({});
  expect(LockReceiver.parse({ reason: 'x'.repeat(200) })).toEqual({ reason: 'x'.repeat(200) });
  expect(problemOf('x'.repeat(201))).toBe('must have at most 200 characters');
  expect(problemOf('')).toBe('must not be empty; leave it out to give no reason');
});

test.each(['two\nlines', 'a\u001b[31mred', ' blanks around ', 'hidden\u200b', 'turned \u202e round', '\ud800'])(
  'the reason %j is refused: others read it, on a terminal too',
  (reason) => {
    expect(problemOf(reason)).toBe('must be plain text on one line, without blanks around it');
  },
);
