import { anyCharacter } from '@herald/test-kit/any-character';
import fc from 'fast-check';
import { createCheckCredentials, createCheckSecret } from './check-credentials.ts';

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const { check, user } = createCheckCredentials({ user: 'olga', password: 'päss:wörd' });
const olga = (header: string) => check(header)?.isRight === true;

test('the user and his password are known, also with a colon in it and in any spelling of its letters', () => {
  expect(olga(basic('olga', 'päss:wörd'))).toBe(true);
  expect(olga(basic('olga', 'päss:wörd'.normalize('NFD')))).toBe(true);
  expect(olga(basic('olga', 'päss:wörd').replace('Basic', 'basic'))).toBe(true);
});

test.each([
  '',
  'Basic',
  'Basic ',
  'Basic !!!!',
  basic('', ''),
  basic('olga', ''),
  basic('', 'päss:wörd'),
  basic('olga', 'päss'),
  basic('olga', 'päss:wörd '),
  basic('Olga', 'päss:wörd'),
  basic('olga:päss', 'wörd:'),
  `${basic('olga', 'päss:wörd')},x`,
  basic('olga', 'päss:wörd').replace('Basic', 'Bearer'),
])('%j is nobody', (header) => {
  expect(olga(header)).toBe(false);
});

test('whatever is sent is nobody, unless it is the very same', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (user, password) => {
      expect(olga(basic(user, password))).toBe(false);
    }),
  );
});

test('whoever gets credentials can tell users and guesses apart, and can read neither', () => {
  const [first, again, otherPassword, otherUser] = [
    basic('olga', 'päss'),
    basic('olga', 'päss'),
    basic('olga', 'wörd'),
    basic('otto', 'päss'),
  ].map((header) => check(header));
  expect(first).toEqual(again);
  expect([first?.user, otherPassword?.user]).toEqual([user, user]);
  expect(otherPassword?.guess).not.toBe(first?.guess);
  expect(otherUser?.user).not.toBe(user);
  expect(JSON.stringify(first)).not.toMatch(/olga|päss/);
});

test('what is no Basic at all is no guess, and what is unreadable is one', () => {
  expect(check('Bearer hrld_x')).toBeUndefined();
  expect(check('')).toBeUndefined();
  expect(check('Basic !!!!')).toMatchObject({ isRight: false });
});

test('a token is known, and nothing else is it', () => {
  const isToken = createCheckSecret('a-token-of-some-length');
  expect(isToken('a-token-of-some-length')).toBe(true);
  expect(['', 'a-token-of-some-lengtH', 'a-token-of-some-length ', 'a'].filter(isToken)).toEqual([]);
});
