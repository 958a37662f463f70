import { judgeDatabase, judgeFailure } from './explain-failure.ts';
import type { RedisTarget } from './redis-target.ts';

const SINGLE: RedisTarget = { kind: 'single', url: 'rediss://h:1' };
const SENTINEL: RedisTarget = {
  kind: 'sentinel',
  sentinels: [{ host: 'h', port: 1 }],
  masterName: 'main',
  access: { usesTls: false },
  database: 0,
};

// Those that no server of the integration tests gives.
test.each([
  ['certificate has expired CERT_HAS_EXPIRED', 'redis_certificate_expired', 'renew it'],
  ['unable to verify the first certificate UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'redis_certificate_unknown', 'EXTRA_CA'],
  ['ssl3_get_record:wrong version number ERR_SSL_WRONG_VERSION_NUMBER', 'redis_plain_expected', 'redis:// instead'],
  ['tlsv13 alert certificate required', 'redis_client_certificate', 'tls-auth-clients no'],
  ['CLUSTERDOWN The cluster is down', 'redis_cluster_down', 'redis-cli --cluster check'],
])('%s → %s', (message, code, words) => {
  expect(judgeFailure(SINGLE, message)).toMatchObject({ code, sentence: expect.stringContaining(words) as string });
});

test('a password that Sentinels refuse is another variable’s than one that the master refuses', () => {
  const words = 'All sentinels are unreachable. Retrying from scratch after 100ms. Last error: WRONGPASS invalid';
  expect(judgeFailure(SENTINEL, words)?.sentence).toContain('set REDIS_SENTINEL_PASSWORD');
  expect(judgeFailure(SENTINEL, 'WRONGPASS invalid')?.sentence).toContain('correct them in REDIS_SENTINELS');
});

test('an error that says no more than that it failed is not judged', () => {
  expect(judgeFailure(SINGLE, 'connect ECONNREFUSED 127.0.0.1:6379 ECONNREFUSED')).toBeUndefined();
  expect(judgeFailure(SINGLE, 'Connection is closed.')).toBeUndefined();
});

test.each([
  ['ERR DB index is out of range', 'redis_database_missing'],
  ['ERR SELECT is not allowed in cluster mode', 'cluster_unexpected'],
  ["NOPERM this user has no permissions to run the 'select' command", 'redis_database_refused'],
  ["ERR unknown command 'select', with args beginning with: '3'", 'redis_database_refused'],
])('a choice of a database that is refused with %s → %s', (message, code) => {
  expect(judgeDatabase(SINGLE, message, '3').code).toBe(code);
});
