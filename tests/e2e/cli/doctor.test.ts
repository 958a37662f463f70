import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { createKeyspace } from '@herald/store/keys/keys';
import { createWorkerPresence } from '@herald/store/operators/create-service-state-reader';
import { freePort, startRedis, waitFor, type RedisOptions } from '@herald/test-kit';
import { randomBytes } from 'node:crypto';
import { shardKeys } from '../../support/delivery-state.ts';
import { runCli } from '../../support/run-cli.ts';
import type { Env, HeraldProcess } from '../../support/start-herald-process.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

const SECRETS_KEY = randomBytes(32).toString('base64');
/** As an operator should set it up: nothing to say about it. */
const GOOD: Env = {
  SECRETS_KEY,
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}/actions/{actionVersion}',
  EGRESS_DNS_SERVERS: '127.0.0.1',
};
const GOOD_REDIS: RedisOptions = { appendonly: true, args: ['--maxmemory', '256mb'] };

interface Line {
  level: string;
  check: string;
  code?: string;
  sentence: string;
}

/** What the doctor finds, for programs and for people: both say the same. */
async function examine(env: Env, ...args: readonly string[]) {
  const [forPrograms, forPeople] = [
    await runCli(['doctor', '--json', ...args], env),
    await runCli(['doctor', ...args], env),
  ];
  const { status, findings, skipped } = JSON.parse(forPrograms.stdout) as {
    status: string;
    findings: Line[];
    skipped: string[];
  };
  for (const { sentence } of findings) expect(forPeople.stdout).toContain(sentence);
  expect([forPrograms.code, forPeople.code]).toEqual(status === 'error' ? [1, 1] : [0, 0]);
  expect(forPeople.stdout + forPeople.stderr).not.toContain(SECRETS_KEY);
  return { status, skipped, findings: findings.filter(({ level }) => level !== 'ok'), text: forPeople.stdout };
}

const codesOf = (findings: readonly Line[]) => findings.map(({ level, code }) => `${level} ${code ?? ''}`);

describe('of a running service', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ env: GOOD, redis: GOOD_REDIS });
    for (let count = 0; count < 8; count++) {
      const workspace = await herald.createWorkspace();
      await workspace.registerReceiver({ url: 'https://hooks.example.com/in' });
    }
  });
  afterAll(() => herald[Symbol.asyncDispose]());
  const env = (more: Env = {}): Env => ({ REDIS_URL: herald.server.url, ...GOOD, ...more });

  test('a history that is away, or of other data, is a warning that says what it means', async () => {
    const { status, findings } = await examine(env({ HISTORY_URL: 'postgres://herald@127.0.0.1:1/herald' }));
    expect({ status, codes: codesOf(findings) }).toEqual({ status: 'warning', codes: ['warning history_away'] });
  });

  test('a healthy set-up is well in every part', async () => {
    const { status, findings, skipped, text } = await examine(env());
    expect({ status, findings, skipped }).toEqual({ status: 'ok', findings: [], skipped: [] });
    expect(text.split('\n').map((line) => line.split(/ +/)[0])).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
      'All',
    ]);
  });

  test('a hint is a warning, and no failure', async () => {
    const { status, findings } = await examine(env({ EGRESS_DNS_SERVERS: '', EGRESS_DNS: 'system' }));
    expect(status).toBe('warning');
    expect(codesOf(findings)).toEqual(['warning system_look_ups']);
  });

  test('another SECRETS_KEY than the secrets are encrypted with: named by its fingerprint', async () => {
    const { findings } = await examine(env({ SECRETS_KEY: randomBytes(32).toString('base64') }));
    expect(codesOf(findings)).toEqual(['error secrets_key_unlisted']);
    expect(findings[0]?.sentence).toMatch(
      /encrypted with the key [0-9a-f]{8}, which SECRETS_KEY doesn't list; add that key/,
    );
  });

  test('another SHARDS than the data was written with: names the right one', async () => {
    const { findings } = await examine(env({ SHARDS: '5' }));
    expect(codesOf(findings)).toEqual(['error shards_differ']);
    expect(findings[0]?.sentence).toContain('set SHARDS=1 everywhere');
  });

  test('an environment with several mistakes: each is named with its process, and the rest is looked at all the same', async () => {
    const broken = { SECRETS_KEY: 'not a key', RETRY_SCHEDULE: 'soon', PORT: 'http', EGRESS_CA_FILE: '/nowhere.pem' };
    const { findings, skipped } = await examine(env(broken));
    const text = findings.map(({ sentence }) => sentence).join('\n');
    expect(text).toMatch(/^SECRETS_KEY must be base64 keys .*\(api and worker\)$/m);
    expect(text).toMatch(/^RETRY_SCHEDULE must be .*\(worker\)$/m);
    expect(text).toMatch(/^PORT must be .*\(api\)$/m);
    expect(text).toMatch(/^EGRESS_CA_FILE must be a file .*\(worker\)$/m);
    expect(findings).toHaveLength(4);
    expect(skipped).toEqual(['secrets']);
  });

  test('--for looks at the variables of one process alone', async () => {
    const { status } = await examine(env({ ACTION_URL_TEMPLATE: '', PORT: 'http' }), '--for', 'worker');
    expect(status).toBe('ok');
  });
});

test('Redis away: says what to start, and what was not looked at', async () => {
  const url = `redis://user:redis-password@127.0.0.1:${await freePort()}`;
  const { findings, skipped, text } = await examine({ ...GOOD, REDIS_URL: url });
  expect(codesOf(findings)).toEqual(['error redis_away']);
  expect(findings[0]?.sentence).toMatch(/can't be reached .*redis-server.*REDIS_URL/);
  expect(skipped).toEqual(['shards', 'secrets', 'proxy', 'history', 'workers', 'work']);
  expect(text).not.toContain('redis-password');
});

test('a REDIS_URL that is none: Redis is not asked', async () => {
  const { findings, skipped } = await examine({ ...GOOD, REDIS_URL: 'http://127.0.0.1' });
  expect(findings).toMatchObject([
    { check: 'configuration', sentence: expect.stringContaining('REDIS_URL') as string },
  ]);
  expect(skipped).toEqual(['redis', 'shards', 'secrets', 'proxy', 'history', 'workers', 'work']);
});

test('a Redis that keeps nothing and throws data away: says which settings', async () => {
  await using redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru', '--maxmemory', '256mb'] });
  const { findings } = await examine({ ...GOOD, REDIS_URL: redis.url });
  expect(codesOf(findings)).toEqual(['warning persistence_off', 'error eviction_policy', 'warning no_worker']);
  expect(findings[0]?.sentence).toContain('appendonly yes');
  expect(findings[1]?.sentence).toContain('maxmemory-policy noeviction');
});

test.each([
  ['nearly full', 1.02, ['warning redis_nearly_full'], 'raise maxmemory'],
  ['full', 0.9, ['warning redis_nearly_full', 'error redis_refuses_writes'], 'OOM'],
])('a Redis that is %s', async (_name, share, found, words) => {
  await using server = await startRedis();
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'request',
    name: 'test',
    onError: () => undefined,
  });
  try {
    // Made by Redis itself: what a client sends is counted for a moment, too.
    await redis.setrange('filler', 40_000_000, 'x');
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', Math.round(used * share));
    const { findings } = await examine({ ...GOOD, REDIS_URL: server.url });
    expect(codesOf(findings)).toEqual(['warning persistence_off', ...found, 'warning no_worker']);
    expect(findings[found.length]?.sentence).toContain(words);
  } finally {
    await closeRedis(redis);
  }
});

test('a replica: says where its master is', async () => {
  await using master = await startRedis(GOOD_REDIS);
  await using replica = await startRedis({
    appendonly: true,
    args: ['--maxmemory', '256mb', '--replicaof', `127.0.0.1 ${master.port}`],
  });
  const { findings } = await examine({ ...GOOD, REDIS_URL: replica.url });
  expect(codesOf(findings)).toContain('error redis_replica');
  expect(findings[0]?.sentence).toContain(`set REDIS_URL to its master (127.0.0.1:${master.port})`);
});

test('work that waits: without a worker, and with one that takes nothing', async () => {
  await using herald = await startHerald({ workers: 0, env: GOOD, redis: GOOD_REDIS });
  const env = { REDIS_URL: herald.server.url, ...GOOD };
  expect(codesOf((await examine(env)).findings)).toEqual(['warning no_worker']);

  const workspace = await herald.createWorkspace();
  await workspace.registerReceiver({ url: 'https://hooks.example.com/in' });
  await workspace.closeTask((await workspace.createTask()).id);
  const waiting = await examine(env);
  expect(codesOf(waiting.findings)).toEqual(['error no_worker']);
  expect(waiting.findings[0]?.sentence).toContain('pending: 1 delivery');

  await pretendAge(herald.redis, 60_000);
  await createWorkerPresence(herald.redis).show('a worker of another shard', Date.now());
  const stuck = await examine(env);
  expect(codesOf(stuck.findings)).toEqual(['error queue_stuck']);
  expect(stuck.findings[0]?.sentence).toMatch(/the queue deliveries of shard 0 has had work due for 1 min/);

  await herald.redis.hset(shardKeys().queue.settings, 'paused', '1');
  await createWorkerPresence(herald.redis).show('a worker of another shard', Date.now());
  const paused = await examine(env);
  expect(codesOf(paused.findings)).toEqual(['warning queue_paused']);
  expect(paused.findings[0]?.sentence).toContain('1 wait');
});

/** Lets the one delivery that waits seem to be older by so much. */
async function pretendAge(redis: RedisClient, ms: number): Promise<void> {
  const [waiting = ''] = await redis.keys(shardKeys().queue.waiting('*'));
  const [id = ''] = await redis.zrange(waiting, '0', '-1');
  await redis.zincrby(waiting, -ms, id);
}

test('requests through a proxy that TRUST_PROXY leaves out: the API warns and serves, and the doctor says what to set', async () => {
  await using herald = await startHerald({ apis: 2, env: GOOD, redis: GOOD_REDIS });
  const env = { REDIS_URL: herald.server.url, ...GOOD };
  const [api, other] = herald.apis;
  if (!api || !other) throw new Error('there are two');
  const warningsOf = async (via: HeraldProcess) => {
    const { status, body } = await herald.request('GET', '/readyz', { via });
    return { status, codes: (body as { warnings: Line[] }).warnings.map(({ code }) => code) };
  };
  expect((await examine(env)).findings).toEqual([]);
  await herald.request('GET', '/healthz', { via: api, headers: { 'x-forwarded-for': '192.0.2.1' } });
  await waitFor('the API to warn', () => warningsOf(api), {
    until: ({ status, codes }) => status === 200 && codes.includes('proxy_not_trusted'),
  });
  // Only the process that saw it says so, and any may be asked by the doctor.
  expect(await warningsOf(other)).toEqual({ status: 200, codes: [] });
  const { findings, status } = await examine(env);
  expect(status).toBe('warning');
  expect(codesOf(findings)).toEqual(['warning proxy_not_trusted']);
  expect(findings[0]).toMatchObject({
    check: 'proxy',
    sentence: expect.stringContaining('set TRUST_PROXY to') as string,
  });
  // It leaves by itself.
  const ttlMs = await herald.redis.pttl('herald:untrusted-proxy');
  expect(ttlMs).toBeGreaterThan(200_000);
  expect(ttlMs).toBeLessThanOrEqual(300_000);
  await herald.redis.del('herald:untrusted-proxy');
  expect((await examine(env)).findings).toEqual([]);

  const counted = await herald.startApi({ TRUST_PROXY: '1' });
  await herald.request('GET', '/healthz', { via: counted, headers: { 'x-forwarded-for': '192.0.2.1' } });
  expect(await warningsOf(counted)).toEqual({ status: 200, codes: [] });
  expect((await examine(env)).findings).toEqual([]);
});

test('a receiver that gives no answers is a warning, and names no other fault', async () => {
  await using herald = await startHerald({
    env: { ...GOOD, RETRY_SCHEDULE: '1h', EGRESS_DNS_SERVERS: '' },
    redis: GOOD_REDIS,
  });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  await receiver.close();
  for (let task = 0; task < 5; task++) await workspace.closeTask((await workspace.createTask()).id);
  await herald.waitForLog('endpoint.breaker_opened');
  const { findings } = await examine({ REDIS_URL: herald.server.url, ...GOOD, SECRETS_KEY });
  expect(codesOf(findings)).toEqual(['warning breaker_open']);
  expect(findings[0]?.sentence).toMatch(/^1 receiver without an answer, for which 5 deliveries must wait/);
  const listed = ['deliveries', 'list', '--workspace', workspace.id];
  const { stdout } = await runCli(listed, { REDIS_URL: herald.server.url });
  const rows = stdout.split('\n').slice(1);
  expect(rows).toHaveLength(5);
  for (const row of rows) expect(row).toMatch(/\twhen the endpoint answers again \(next probe \d{4}-.*Z\)$/);
  const forPrograms = JSON.parse(
    (await runCli([...listed, '--json'], { REDIS_URL: herald.server.url })).stdout,
  ) as object[];
  const waitsFor = { state: 'breaker_open', nextProbeAt: expect.stringMatching(/Z$/) as string };
  expect(forPrograms[0]).toMatchObject({ status: 'pending', nextAttemptAt: expect.any(String) as string, waitsFor });
});

test('data that several values of SHARDS wrote is an error of its own', async () => {
  await using redis = await startHerald({ workers: 0, env: GOOD, redis: GOOD_REDIS });
  // One workspace, in every shard at once: no value of SHARDS puts it there.
  for (const keys of createKeyspace(64).shards) await redis.redis.hset(keys.endpoint('wh_x'), 'ws', 'ws_x');
  const { findings } = await examine({ ...GOOD, REDIS_URL: redis.server.url });
  expect(codesOf(findings)).toEqual(['error shards_mixed', 'warning no_worker']);
});
