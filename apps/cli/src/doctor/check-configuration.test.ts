import { checkConfiguration } from './check-configuration.ts';

const GOOD = {
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
  EGRESS_DNS_SERVERS: '127.0.0.53',
};

const sentencesOf = (env: NodeJS.ProcessEnv, ...processes: ('api' | 'worker')[]) =>
  checkConfiguration(env, processes).findings.map(({ level, sentence }) => `${level}: ${sentence}`);

test('a good configuration has no findings', () => {
  expect(sentencesOf(GOOD, 'api', 'worker')).toEqual([]);
});

test('a problem that both processes have is told once, and one of a single process names it', () => {
  const env = { ...GOOD, SECRETS_KEY: 'short', RETRY_SCHEDULE: 'soon', PORT: '99999' };
  const found = sentencesOf(env, 'api', 'worker');
  expect(found).toHaveLength(3);
  expect(found.join('\n')).toMatch(/^error: SECRETS_KEY must be base64 .*\(api and worker\)$/m);
  expect(found.join('\n')).toMatch(/^error: PORT must be .*\(api\)$/m);
  expect(found.join('\n')).toMatch(/^error: RETRY_SCHEDULE must be .*\(worker\)$/m);
  expect(found.join('\n')).not.toContain('short');
});

test('ports that the two could not both have on one machine are an error, unless only one of them is looked at', () => {
  const env = { ...GOOD, PORT: '9000', WORKER_PORT: '9000' };
  expect(sentencesOf(env, 'api', 'worker')).toEqual([
    'error: WORKER_PORT must not be 9000, since PORT is (api and worker)',
  ]);
  expect(sentencesOf(env, 'worker')).toEqual([]);
  expect(sentencesOf({ ...GOOD, OPERATOR_PORT: '8081' }, 'api', 'worker')).toEqual([
    'error: WORKER_PORT must not be 8081, since OPERATOR_PORT is (api and worker)',
  ]);
  expect(sentencesOf({ ...GOOD, OPERATOR_PORT: '8080' }, 'api')).toEqual([
    expect.stringMatching(/^error: OPERATOR_PORT must be another port than PORT.*\(api\)$/),
  ]);
});

test('only the variables of the named process are looked at', () => {
  const { ACTION_URL_TEMPLATE: _, ...env } = GOOD;
  expect(sentencesOf(env, 'worker')).toEqual([]);
  expect(sentencesOf(env, 'api')).toEqual([expect.stringMatching(/^error: ACTION_URL_TEMPLATE must be set/)]);
});

test('a worker that looks names up through the system is a warning', () => {
  const env = { ...GOOD, EGRESS_DNS_SERVERS: '', EGRESS_DNS: 'system' };
  expect(sentencesOf(env, 'api', 'worker')).toEqual([expect.stringMatching(/^warning: EGRESS_DNS is system/)]);
  expect(sentencesOf(env, 'api')).toEqual([]);
});
