import { randomBytes } from 'node:crypto';
import { ConfigError } from '@herald/runtime/env/env';
import { readWorkerConfig } from './worker-config.ts';

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
