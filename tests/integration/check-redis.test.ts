import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkRedis } from '@herald/store/redis/check-redis';
import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import type { Finding } from '@herald/runtime/finding';
import { askRedis, startRedis, waitFor, type RedisOptions, type RunningRedis } from '@herald/test-kit';

const SOUND = { appendonly: true, args: ['--maxmemory', '256mb'] };

async function check(server: RunningRedis, url = server.url, wallClock = Date.now): Promise<readonly Finding[]> {
  const target = { kind: 'single', url } as const;
  const redis = await connectRedis({ target, use: 'request', name: 'test', onError: () => undefined });
  try {
    return await checkRedis(redis, { target, minReplicas: 0, shardCount: 2, wallClock });
  } finally {
    await closeRedis(redis);
  }
}

const codesOf = (found: readonly Finding[]) => found.map(({ level, code }) => `${level} ${code}`);

test('a Redis that is set up as docs/operating.md says gives no finding', async () => {
  await using server = await startRedis(SOUND);
  expect(await check(server)).toEqual([]);
});

test.each<{ fault: string; redis: RedisOptions; finding: string; names: string }>([
  {
    fault: 'without any persistence',
    redis: { ...SOUND, appendonly: false },
    finding: 'warning persistence_off',
    names: 'set appendonly yes',
  },
  {
    fault: 'with snapshots alone',
    redis: { args: ['--maxmemory', '256mb', '--save', '3600 1'] },
    finding: 'warning aof_off',
    names: 'set appendonly yes',
  },
  {
    fault: 'with snapshots beside the append-only file',
    redis: { ...SOUND, args: [...SOUND.args, '--save', '3600 1 300 100'] },
    finding: 'warning snapshots_on',
    names: "set save ''",
  },
  {
    fault: 'that evicts',
    redis: { appendonly: true, args: ['--maxmemory', '256mb', '--maxmemory-policy', 'allkeys-lru'] },
    finding: 'error eviction_policy',
    names: 'set maxmemory-policy noeviction',
  },
  {
    fault: 'without a memory limit',
    redis: { appendonly: true },
    finding: 'warning maxmemory_unset',
    names: 'set maxmemory',
  },
  {
    fault: 'that is a cluster',
    redis: { ...SOUND, args: [...SOUND.args, '--cluster-enabled', 'yes'] },
    finding: 'error cluster_unexpected',
    names: 'REDIS_URL',
  },
])('a Redis $fault is found, with what to set', async ({ redis, finding, names }) => {
  await using server = await startRedis(redis);
  const found = await check(server);
  expect(codesOf(found)).toEqual([finding]);
  expect(found[0]?.sentence).toContain(names);
});

test('a snapshot that failed is found', async () => {
  await using server = await startRedis(SOUND);
  await mkdir(join(server.dir, 'dump.rdb'));
  await askRedis(server.port, 'BGSAVE');
  await waitFor('the snapshot to fail', async () =>
    (await askRedis(server.port, 'INFO persistence')).includes('rdb_last_bgsave_status:err'),
  );
  expect(codesOf(await check(server))).toEqual(['warning snapshot_failed']);
});

test.each([-5_000, 5_000])('a clock that is %d ms off is found', async (offMs) => {
  await using server = await startRedis(SOUND);
  const found = await check(server, server.url, () => Date.now() + offMs);
  expect(codesOf(found)).toEqual(['warning clock_off']);
  expect(found[0]?.sentence).toMatch(
    offMs > 0 ? /is [45]\.\d s ahead of Redis' time/ : /is [45]\.\d s behind Redis' time/,
  );
});

test('nothing is left by a check', async () => {
  await using server = await startRedis(SOUND);
  await check(server);
  expect(await askRedis(server.port, 'DBSIZE')).toContain(':0\r\n');
});

test('where CONFIG is refused, that is what is found, and nothing breaks', async () => {
  await using server = await startRedis();
  const owner = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'request',
    name: 'owner',
    onError: () => undefined,
  });
  await owner.acl('SETUSER', 'herald', 'on', '>secret', '~*', '&*', '+@all', '-config');
  await closeRedis(owner);
  const found = await check(server, server.url.replace('redis://', 'redis://herald:secret@'));
  expect(codesOf(found)).toEqual(['warning persistence_unknown', 'warning aof_off', 'warning maxmemory_unset']);
});
