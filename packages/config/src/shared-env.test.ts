import { randomBytes } from 'node:crypto';
import { ConfigError, readEnv } from '@herald/runtime/env';
import { SecretsEnv, SharedEnv } from './shared-env.ts';
import { readWorkerConfig } from './worker-config.ts';

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

describe('history env', () => {
  const URL = 'postgres://herald:canary@10.0.0.5/herald';
  const HOUR_MS = 3_600_000;
  const read = (env: Record<string, string>) =>
    readWorkerConfig({ SECRETS_KEY: randomBytes(32).toString('base64'), ...env });

  test.each<[env: Record<string, string>, retentionMs: number, history: object | undefined]>([
    [{}, 168 * HOUR_MS, undefined],
    [{ HISTORY_URL: '' }, 168 * HOUR_MS, undefined],
    [{ HISTORY_URL: URL }, HOUR_MS, { url: URL, retentionMs: 2_160 * HOUR_MS, keepsBodies: true }],
    [
      { HISTORY_URL: `${URL}?sslmode=verify-full`, RETENTION: '2h', HISTORY_RETENTION: '3d', HISTORY_BODIES: 'false' },
      2 * HOUR_MS,
      { url: `${URL}?sslmode=verify-full`, retentionMs: 72 * HOUR_MS, keepsBodies: false },
    ],
    [
      { HISTORY_URL: 'postgres://u:p%40,@db1:5433,[::1],db3/herald?target_session_attrs=read-write' },
      HOUR_MS,
      { url: 'postgres://u:p%40,@db1:5433,[::1],db3/herald?target_session_attrs=read-write' },
    ],
  ])('%j', (env, retentionMs, history) => {
    expect(read(env)).toMatchObject({ retentionMs, replayRetentionMs: 168 * HOUR_MS, history });
  });

  test.each<[env: Record<string, string>, problem: RegExp]>([
    [{ HISTORY_URL: 'mysql://herald:canary@10.0.0.5/herald' }, /^HISTORY_URL must be a url with a database, such as/],
    [{ HISTORY_URL: 'postgres://herald:canary@10.0.0.5' }, /^HISTORY_URL must be a url with a database/],
    [{ HISTORY_URL: '10.0.0.5' }, /^HISTORY_URL must be a url with a database/],
    [{ HISTORY_URL: 'postgres://herald:canary@db1,/herald' }, /^HISTORY_URL must be a url with a database/],
    [{ HISTORY_URL: 'postgres://herald:canary@db1,db2:x/herald' }, /^HISTORY_URL must be a url .* separated by commas/],
    [
      { HISTORY_URL: `${URL}?target_session_attrs=writable` },
      /target_session_attrs is one of any, read-write, read-only/,
    ],
    [{ HISTORY_RETENTION: '1h' }, /^HISTORY_RETENTION must be at least 1d$/],
    [{ HISTORY_BODIES: 'no' }, /^HISTORY_BODIES must be true or false$/],
    [
      { HISTORY_URL: URL, RETENTION: '7d', HISTORY_RETENTION: '2d' },
      /^HISTORY_RETENTION must be longer than RETENTION/,
    ],
  ])('%j is refused with what to change, and without the password', (env, problem) => {
    let problems: readonly string[] = [];
    try {
      read(env);
    } catch (error) {
      if (error instanceof ConfigError) problems = error.problems;
    }
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems.join()).not.toContain('canary');
  });
});
