import fc from 'fast-check';
import { createCheckCredentials } from './check-credentials.ts';

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const olga = createCheckCredentials({ user: 'olga', password: 'päss:wörd' });

test('the user and his password are known, also with a colon in it and in any spelling of its letters', () => {
  expect(olga(basic('olga', 'päss:wörd'))).toBe(true);
  expect(olga(basic('olga', 'päss:wörd'.normalize('NFD')))).toBe(true);
  expect(olga(basic('olga', 'päss:wörd').replace('Basic', 'basic'))).toBe(true);
});

test.each([
  undefined,
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
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (user, password) => {
      expect(olga(basic(user, password))).toBe(false);
    }),
  );
});
