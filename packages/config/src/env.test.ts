import { randomBytes } from 'node:crypto';
import { ConfigError, readEnv } from '@herald/runtime/env/env';
import { SecretsEnv, SharedEnv } from './shared-env.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const read = (text: string) => readEnv(SecretsEnv, { SECRETS_KEY: text }).SECRETS_KEY;

test.each([
  ['one key', first.toString('base64'), [first]],
  [
    'several, the first of which encrypts',
    `${first.toString('base64')}, ${second.toString('base64')}`,
    [first, second],
  ],
  ['the url-safe alphabet', first.toString('base64url'), [first]],
])('SECRETS_KEY may be %s', (_name, text, keys) => {
  expect(read(text)).toEqual(keys);
});

const key = first.toString('base64');
test.each([
  ['cut', key.slice(0, 40), 'must be base64 keys of 32 bytes'],
  ['longer', randomBytes(48).toString('base64'), 'must be base64 keys of 32 bytes'],
  ['quoted', `"${key}"`, 'must be base64 keys of 32 bytes'],
  ['a password', 'correct horse battery staple 1234567', 'must be base64 keys of 32 bytes'],
  ['hex', randomBytes(32).toString('hex'), 'must be base64 keys of 32 bytes'],
  ['a list that ends with a comma', `${key},`, 'number 2 of 2 is not'],
  ['a list whose second is cut', `${key},${key.slice(1)}`, 'number 2 of 2 is not'],
  ['missing', '', 'must be set'],
])('a SECRETS_KEY that is %s is refused with how to make one, and is not told', (_name, text, problem) => {
  let message = '';
  try {
    read(text);
  } catch (error) {
    if (error instanceof ConfigError) message = error.message;
  }
  expect(message).toContain(`SECRETS_KEY ${problem.startsWith('number') ? 'must be' : problem}`);
  expect(message).toContain(problem);
  expect(message).toContain('openssl rand -base64 32');
  expect(message).not.toContain(text.slice(1, 12) || key.slice(1, 12));
});

test.each([
  ['a port beyond all', 'redis://user:canary@redis.example:99999'],
  ['a blank in its host', 'redis://user:canary@redis example'],
  ['a bare percent sign in its password', 'redis://user:canary%zz@redis.example'],
  ['bytes in its password that are no UTF-8', 'redis://user:canary%E0%A4@redis.example'],
])('a REDIS_URL with %s is refused by name, without its password', (_name, url) => {
  const read = () => readEnv(SharedEnv, { REDIS_URL: url });
  expect(read).toThrow(/REDIS_URL must be a url; percent-encode/);
  expect(read).not.toThrow(/canary/);
});

test('special characters in the password of REDIS_URL may be percent-encoded', () => {
  const url = 'rediss://user:p%40ss%25%C3%A9@redis.example:6380/2';
  expect(readEnv(SharedEnv, { REDIS_URL: url }).REDIS_URL).toBe(url);
});
