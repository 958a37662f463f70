import { randomBytes } from 'node:crypto';
import { DEFAULT_SCHEDULE_MS } from '@herald/core';
import { ConfigError } from '@herald/runtime/env';
import { readWorkerConfig } from './worker-config.ts';

const env = { SECRETS_KEY: randomBytes(32).toString('base64') };

test.each<{ given: Record<string, string>; usual: readonly number[]; callbacks: readonly number[] }>([
  { given: {}, usual: DEFAULT_SCHEDULE_MS, callbacks: DEFAULT_SCHEDULE_MS },
  { given: { RETRY_SCHEDULE: '1s,2s' }, usual: [1_000, 2_000], callbacks: [1_000, 2_000] },
  { given: { RETRY_SCHEDULE: '' }, usual: [], callbacks: [] },
  { given: { CALLBACK_RETRY_SCHEDULE: '1s' }, usual: DEFAULT_SCHEDULE_MS, callbacks: [1_000] },
  { given: { CALLBACK_RETRY_SCHEDULE: '' }, usual: DEFAULT_SCHEDULE_MS, callbacks: [] },
  { given: { RETRY_SCHEDULE: '', CALLBACK_RETRY_SCHEDULE: '1s' }, usual: [], callbacks: [1_000] },
])('of $given, receivers have the schedule $usual and callbacks $callbacks', ({ given, usual, callbacks }) => {
  const { retryScheduleMs, callbackRetryScheduleMs } = readWorkerConfig({ ...env, ...given });
  expect([retryScheduleMs, callbackRetryScheduleMs]).toEqual([usual, callbacks]);
});

test.each([
  ['soon', 'must be durations separated by commas, such as 5s,5m,2h'],
  [Array(41).fill('1s').join(), 'must be at most 40 durations'],
])('the schedule %s of callbacks is refused', (text, problem) => {
  expect(() => readWorkerConfig({ ...env, CALLBACK_RETRY_SCHEDULE: text })).toThrow(
    `CALLBACK_RETRY_SCHEDULE ${problem}`,
  );
});

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const URL = 'https://platform.example.com/notices';
const read = (env: Record<string, string>) =>
  readWorkerConfig({ SECRETS_KEY: randomBytes(32).toString('base64'), ...env });

test('without both variables there are no notices', () => {
  expect(read({}).notices).toBeUndefined();
  expect(read({ NOTICE_URL: '', NOTICE_SECRET: '' }).notices).toBeUndefined();
});

test('with both they go there', () => {
  expect(read({ NOTICE_URL: URL, NOTICE_SECRET: SECRET }).notices).toEqual({ url: URL, secret: SECRET });
});

test.each<[when: string, env: Record<string, string>, problem: RegExp]>([
  ['the url alone', { NOTICE_URL: URL }, /^NOTICE_SECRET must be set, since NOTICE_URL is: .*openssl/],
  ['the secret alone', { NOTICE_SECRET: SECRET }, /^NOTICE_URL must be set, since NOTICE_SECRET is$/],
  ['http', { NOTICE_URL: 'http://platform.example.com/', NOTICE_SECRET: SECRET }, /^NOTICE_URL must start with https/],
  [
    'credentials, which go nowhere else',
    { NOTICE_URL: 'https://u:pass@platform.example.com/', NOTICE_SECRET: SECRET },
    /^NOTICE_URL must not contain credentials \(user or password\): notices carry none, and .* the signature$/,
  ],
  ['a private address', { NOTICE_URL: 'https://10.0.0.1/', NOTICE_SECRET: SECRET }, /^NOTICE_URL must .*10/],
  [
    'localhost',
    { NOTICE_URL: 'https://localhost/', NOTICE_SECRET: SECRET },
    /^NOTICE_URL must name a public host, not localhost$/,
  ],
  ['a secret without its prefix', { NOTICE_URL: URL, NOTICE_SECRET: SECRET.slice(6) }, /^NOTICE_SECRET must be whsec_/],
  ['a secret that is cut', { NOTICE_URL: URL, NOTICE_SECRET: SECRET.slice(0, -3) }, /^NOTICE_SECRET must be whsec_/],
  ['a short secret', { NOTICE_URL: URL, NOTICE_SECRET: 'whsec_aGVsbG8=' }, /^NOTICE_SECRET must be whsec_/],
])('%s is refused with what to change, and no secret is shown', (_when, env, problem) => {
  let problems: readonly string[] = [];
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) problems = error.problems;
  }
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(problems.join()).not.toContain(SECRET.slice(6, 30));
});

test('an address that EGRESS_ALLOW_CIDRS opens may be told', () => {
  const env = { NOTICE_URL: 'https://10.0.0.1/', NOTICE_SECRET: SECRET, EGRESS_ALLOW_CIDRS: '10.0.0.0/8' };
  expect(read(env).notices?.url).toBe('https://10.0.0.1/');
});

describe('shard list', () => {
  const read = (SHARDS: string, WORKER_SHARDS: string) =>
    readWorkerConfig({ SHARDS, WORKER_SHARDS, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }).workerShards;

  test.each([
    ['', [0, 1, 2, 3]],
    ['all', [0, 1, 2, 3]],
    ['2', [2]],
    ['0,2-3', [0, 2, 3]],
    ['3, 1,1-2', [1, 2, 3]],
  ])('of four shards WORKER_SHARDS=%s means %j', (text, shards) => {
    expect(read('4', text)).toEqual(shards);
  });

  test.each(['x', '1,', '-1', '2-1', '0-', 'ALL'])('WORKER_SHARDS=%s is refused with an example', (text) => {
    expect(() => read('4', text)).toThrow('WORKER_SHARDS must be all, or shards separated by commas, such as 0,2-3');
  });

  test('a shard that there is not is refused', () => {
    expect(() => read('4', '1,4')).toThrow('WORKER_SHARDS must name shards from 0 to 3, since SHARDS is 4');
  });
});
