import { freePort, startRedis } from '@herald/test-kit';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { runApp } from '../support/run-cli.ts';

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const ACTION_URL_TEMPLATE = 'https://app.example.com/tasks/{taskId}';

const SHARED_WRONG = {
  REDIS_URL: 'http://localhost',
  SECRETS_KEY: 'short',
  SHARDS: '0',
  LOG_LEVEL: 'loud',
  RETENTION: 'for ever',
};

test.each([
  [
    'api',
    {
      ...SHARED_WRONG,
      PORT: '70000',
      ACTION_URL_TEMPLATE: 'https://app.example.com/',
      RATE_LIMIT: '0.5',
      TRUST_PROXY: '-1',
    },
    [
      ...['ACTION_URL_TEMPLATE', 'LOG_LEVEL', 'PORT', 'RATE_LIMIT', 'REDIS_URL', 'RETENTION', 'SECRETS_KEY', 'SHARDS'],
      'TRUST_PROXY',
    ],
  ],
  [
    'worker',
    { ...SHARED_WRONG, WORKER_PORT: 'x', CONCURRENCY: '0', DELIVERY_TIMEOUT: '0s', RETRY_SCHEDULE: '5s,later' },
    [
      ...['CONCURRENCY', 'DELIVERY_TIMEOUT', 'LOG_LEVEL', 'REDIS_URL', 'RETENTION', 'RETRY_SCHEDULE', 'SECRETS_KEY'],
      ...['SHARDS', 'WORKER_PORT'],
    ],
  ],
] as const)('the %s lists everything that is wrong at once and exits with 1', async (app, env, names) => {
  const { code, stdout, stderr } = await runApp(app, env);
  const [heading, ...problems] = stderr.split('\n');
  expect({ code, stdout, heading }).toEqual({ code: 1, stdout: '', heading: 'The configuration is wrong:' });
  expect(problems.map((line) => line.trim().split(' ')[0]).sort()).toEqual(names);
  expect(stderr).not.toContain('short');
});

test.each([
  ['api', ['ACTION_URL_TEMPLATE', 'SECRETS_KEY']],
  ['worker', ['SECRETS_KEY']],
] as const)('the %s refuses to start without what has no default, and says how to make it', async (app, names) => {
  const { code, stderr } = await runApp(app, { SECRETS_KEY: '', RETRY_SCHEDULE: '' });
  const [, ...problems] = stderr.split('\n');
  expect(code).toBe(1);
  expect(problems.map((line) => line.trim().split(' ')[0]).sort()).toEqual(names);
  expect(stderr).toContain('openssl rand -base64 32');
});

test.each([
  ['api', ['EGRESS_ALLOW_CIDRS']],
  ['worker', ['EGRESS_ALLOW_CIDRS', 'EGRESS_CA_FILE', 'EGRESS_DNS_SERVERS', 'EGRESS_PROXY_URL']],
] as const)(
  'the %s checks files, ranges and servers with the rest, before it connects to anything',
  async (app, names) => {
    const { code, stderr } = await runApp(app, {
      SECRETS_KEY,
      ACTION_URL_TEMPLATE,
      REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8,10.0.0.0/99',
      EGRESS_CA_FILE: '/no/such/ca.pem',
      EGRESS_DNS_SERVERS: 'nope',
      EGRESS_PROXY_URL: 'socks5://user:pr0xy-s3cret@proxy:1080',
    });
    const [, ...problems] = stderr.split('\n');
    expect(code).toBe(1);
    expect(problems.map((line) => line.trim().split(' ')[0]).sort()).toEqual(names);
    expect(stderr).not.toContain('pr0xy-s3cret');
  },
);

test('a port that is taken and an address of another machine are one sentence of the process', async () => {
  await using redis = await startRedis();
  await using other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const env = { REDIS_URL: redis.url, SECRETS_KEY, ACTION_URL_TEMPLATE, LOG_LEVEL: 'error' };
  const [api, worker, elsewhere] = await Promise.all([
    runApp('api', { ...env, PORT: String(port) }),
    runApp('worker', { ...env, WORKER_PORT: String(port) }),
    runApp('worker', { ...env, WORKER_PORT: '0', WORKER_HOST: '192.0.2.1' }),
  ]);
  const refusal = (stderr: string | RegExp) => ({ code: 1, stderr: expect.stringMatching(stderr) as string });
  expect(api).toMatchObject(
    refusal(new RegExp(`^Port ${port} is taken on 127\\.0\\.0\\.1\\. Set PORT to a free one\\.$`)),
  );
  expect(worker).toMatchObject(refusal(new RegExp(`^Port ${port} is taken on .* Set WORKER_PORT to a free one\\.$`)));
  expect(elsewhere).toMatchObject(
    refusal(/^This machine has no address 192\.0\.2\.1 to listen on\. Set WORKER_HOST to .*$/),
  );
});
