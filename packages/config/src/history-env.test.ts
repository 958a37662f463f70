import { ConfigError } from '@herald/runtime/env/env';
import { randomBytes } from 'node:crypto';
import { readWorkerConfig } from './worker-config.ts';

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
  [{ HISTORY_URL: URL, RETENTION: '7d', HISTORY_RETENTION: '2d' }, /^HISTORY_RETENTION must be longer than RETENTION/],
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
