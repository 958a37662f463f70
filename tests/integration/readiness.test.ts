import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { checkAccess } from '@herald/store/redis/check-redis';
import { createReadiness } from '@herald/store/operators/create-readiness';
import { createWorkerPresence } from '@herald/store/operators/create-service-state-reader';
import { startRedis, waitFor, type RedisOptions } from '@herald/test-kit';
import { once } from 'node:events';

async function start(options: RedisOptions = {}, use: 'request' | 'background' = 'request') {
  await using cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await startRedis({ args: ['--maxmemory', '256mb'], ...options }));
  const target = { kind: 'single', url: server.url } as const;
  const connect = () => connectRedis({ target, use, name: 'test', onError: () => undefined });
  const redis = await connect();
  cleanUp.defer(() => closeRedis(redis));
  const presence = createWorkerPresence(redis);
  const read = createReadiness({
    redis,
    countWorkers: () => presence.count(Date.now()),
    findProblem: () => undefined,
    isSilent: () => false,
    skewMs: () => 0,
  });
  const codes = async () => (await read()).problems.map(({ code }) => code);
  const codesOfDoctor = async () => {
    const own = await connect();
    const found = await checkAccess(own, { target, minReplicas: 0, shardCount: 1 });
    await closeRedis(own);
    return found.map(({ code }) => code);
  };
  const stack = cleanUp.move();
  return { server, redis, presence, read, codes, codesOfDoctor, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a Redis that takes writes makes ready, and missing workers are a warning', async () => {
  await using ready = await start({ appendonly: true });
  expect(await ready.read()).toMatchObject({
    status: 'ok',
    problems: [],
    workers: 0,
    warnings: [{ code: 'no_worker' }],
  });
});

test('workers that were seen lately are told', async () => {
  await using ready = await start({ appendonly: true });
  await ready.presence.show('worker-1', Date.now());
  expect(await ready.read()).toMatchObject({ workers: 1, warnings: [] });
});

test('a Redis that keeps nothing, or writes snapshots for nothing, is a warning', async () => {
  await using ready = await start();
  await ready.presence.show('worker-1', Date.now());
  expect(await ready.read()).toMatchObject({ status: 'ok', warnings: [{ code: 'persistence_off' }] });
  await ready.redis.config('SET', 'appendonly', 'yes');
  await ready.redis.config('SET', 'save', '3600 1');
  await waitFor('the next look', async () => (await ready.read()).warnings.some(({ code }) => code === 'snapshots_on'));
});

test('a Redis that evicts makes nobody ready', async () => {
  await using ready = await start({ args: ['--maxmemory', '64mb', '--maxmemory-policy', 'volatile-lru'] });
  expect(await ready.codes()).toEqual(['eviction_policy']);
});

test('a Redis that refuses writes is not ready, though it answers pings', async () => {
  await using ready = await start();
  await ready.redis.config('SET', 'maxmemory', '1');
  expect(await ready.redis.ping()).toBe('PONG');
  expect(await ready.read()).toMatchObject({
    status: 'unavailable',
    problems: [{ code: 'redis_refuses_writes', sentence: "Redis didn't take a write (OOM); its log says more" }],
  });
});

test.each([
  ['its write', ['-set']],
  ['a command', ['-bzpopmin']],
  ['scripts', ['-eval']],
  ['keys', ['resetkeys', '~herald:*']],
  ['channels', ['resetchannels']],
])('a user that may not use %s is not ready, and nobody reads which or who', async (_what, rules) => {
  await using ready = await start();
  await ready.redis.call('ACL', 'SETUSER', 'default', ...rules);
  expect(await ready.codes()).toEqual(['redis_not_permitted']);
  expect(await ready.codesOfDoctor()).toEqual(['redis_not_permitted']);
  expect((await ready.read()).problems[0]?.sentence).toBe(
    'Redis refuses commands, keys or channels that are needed (NOPERM); "herald doctor" names them',
  );
});

test.each([
  ['though it takes writes', 'no'],
  ['and it is called so where it takes none', 'yes'],
])('a Redis that became a replica is not ready, %s', async (_what, isReadOnly) => {
  await using master = await startRedis();
  await using ready = await start({ args: ['--replica-read-only', isReadOnly] });
  expect(await ready.codes()).toEqual([]);
  await ready.redis.replicaof('127.0.0.1', master.port);
  await waitFor('it to show', ready.codes, { until: (codes) => codes.includes('redis_replica') });
  expect((await ready.read()).problems[0]?.sentence).not.toContain(String(master.port));
});

test.each(['request', 'background'] as const)(
  'a Redis that became a replica is one also while the connection looks for its master (%s connection)',
  async (use) => {
    await using master = await startRedis();
    await using ready = await start({}, use);
    await ready.redis.replicaof('127.0.0.1', master.port);
    const leaves = once(ready.redis, 'reconnecting');
    await expect(ready.redis.set('herald:any', '1')).rejects.toThrow('READONLY');
    await leaves;
    expect(await ready.codes()).toEqual(['redis_replica']);
    await waitFor('the next connection', () => ready.redis.status === 'ready');
    // It writes, and so the connection leaves again.
    const leavesAgain = once(ready.redis, 'reconnecting');
    expect(await ready.codes()).toEqual(['redis_replica']);
    expect(await ready.codesOfDoctor()).toEqual(['redis_replica']);
    await leavesAgain;
    await ready.server.kill();
    await waitFor('the loss to show', ready.codes, { until: (codes) => codes.includes('redis_away') });
  },
);

test('a Redis that is nearly full is a warning, before it refuses', async () => {
  await using ready = await start();
  // Beside it, what a client sends is nothing.
  await ready.redis.setrange('filler', 40_000_000, 'x');
  const used = Number(/used_memory:(\d+)/.exec(await ready.redis.info('memory'))?.[1]);
  // Room for the probe's own write, and for what changes from one moment to the next.
  await ready.redis.config('SET', 'maxmemory', Math.round(used * 1.08));
  await ready.presence.show('worker-1', Date.now());
  const { warnings, ...readiness } = await ready.read();
  expect(readiness).toMatchObject({ status: 'ok', problems: [] });
  expect(warnings[0]?.code).toBe('redis_nearly_full');
});

test.each(['request', 'background'] as const)(
  'a Redis that is away is told, and comes back (%s connection)',
  async (use) => {
    await using ready = await start({}, use);
    await ready.server.kill();
    await waitFor('the loss to show', ready.codes, { until: (codes) => codes.includes('redis_away') });
    await ready.server.restart();
    await waitFor('Redis to be back', ready.codes, { until: (codes) => codes.length === 0 });
    expect(await ready.read()).toMatchObject({ status: 'ok' });
  },
);

test('a connection that breaks shows at the next look, and so does the one that follows it', async () => {
  await using ready = await start();
  expect(await ready.codes()).toEqual([]);
  await ready.server.kill();
  await waitFor('the connection to break', () => ready.redis.status !== 'ready');
  expect(await ready.codes()).toEqual(['redis_away']);
  await ready.server.restart();
  await waitFor('the connection to be back', () => ready.redis.status === 'ready');
  expect(await ready.codes()).toEqual([]);
});

test('a Redis that hangs gets an answer out all the same, and isn’t asked again while it hangs', async () => {
  await using ready = await start({}, 'background');
  process.kill(ready.server.pid, 'SIGSTOP');
  try {
    expect(await ready.codes()).toEqual(['redis_hangs']);
    await waitFor('several more answers', async () => {
      expect(await ready.codes()).toEqual(['redis_hangs']);
      return true;
    });
  } finally {
    process.kill(ready.server.pid, 'SIGCONT');
  }
  await waitFor('Redis to answer again', async () => (await ready.read()).status === 'ok');
});

test('however many probe at once, Redis is asked once', async () => {
  await using ready = await start();
  await ready.redis.config('RESETSTAT');
  await Promise.all(Array.from({ length: 50 }, () => ready.read()));
  expect(await ready.redis.info('commandstats')).toMatch(/cmdstat_set:calls=1,/);
});
