import { ConfigError } from '@herald/runtime/env';
import { createKeyspace, GLOBAL_KEYS } from '@herald/store/keys/keys';
import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { createShardRecordStore } from '@herald/store/data/shard-record';
import { findLayoutProblem } from '@herald/store/data/data-loss';
import { mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';
import { reshard } from '../../../../apps/cli/src/reshard/reshard.ts';
import { openShards, type OpenShards } from '@herald/store/data/open-shards';
import { readKeyName } from '@herald/store/keys/key-name';
import { waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { createEventLog } from '../../../support/event-log.ts';
import { dumpRedis } from '../../../support/redis-dump.ts';
import { restoreSnapshot, takeSnapshot } from '../../../support/redis-snapshot.ts';
import { listKeys } from '../../../support/start-topology.ts';
import { expectQueue } from '../expect-queue.ts';
import { fillWorkspace, type FilledWorkspace } from '../fill-workspace.ts';
import { newWorkspaceIdIn, startData, type Data } from '../start-data.ts';
import { createMortalClient } from './mortal-client.ts';
import { writeFormerLayout } from './write-former-layout.ts';

const SHARDS = 2;

let data: Data;
let filled: FilledWorkspace[];
beforeEach(async () => {
  data = await startData();
  const now = Date.now();
  filled = [];
  for (let shard = 0; shard < SHARDS; shard++) {
    filled.push(await fillWorkspace(data, newWorkspaceIdIn(shard, SHARDS), now));
  }
  const nobody = () => Promise.resolve([]);
  const deps = { redis: data.redis, awaitReplication: undefined, findRunning: nobody, onProgress: () => undefined };
  await reshard({ ...deps, now: Date.now }, 1, SHARDS);
  await writeFormerLayout(data.redis, SHARDS, filled);
});
const opened: OpenShards[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await data[Symbol.asyncDispose]();
});

/** Starts what every process starts with. */
async function open(redis: RedisClient = data.redis, role: 'api' | 'worker' = 'worker') {
  const events: string[] = [];
  const logger = createEventLog(events);
  const metrics = { showLoss: () => undefined };
  const onResharded = () => void events.push('onResharded');
  const shards = await openShards({ redis, shardCount: SHARDS, role, now: Date.now, logger, metrics, onResharded });
  opened.push(shards);
  return { ...shards, events };
}

async function expectTakenOver(): Promise<void> {
  const { redis } = data;
  await expectQueue(redis, SHARDS, filled);
  const unknown = (await listKeys(redis)).filter((name) => name.startsWith('{') && !readKeyName(name));
  expect(unknown).toEqual([]);
  expect(await createShardRecordStore(redis).read()).toEqual({ count: SHARDS, layout: 4 });
  for (const { workspaceId, taskId, limited, slow, gone, good, failed, redelivered } of filled) {
    const keys = createKeyspace(SHARDS).of(workspaceId);
    expect(await redis.hget(keys.endpoint(limited.id), 'dst')).toBe(limited.origin);
    expect(await redis.hexists(keys.endpoint(slow.id), 'dstWas')).toBe(0);
    const ended = await redis.zrange(keys.endedLog(keys.endpointLog(good.id), 'failed'), 0, '-1');
    // The third is a test event.
    expect(ended).toHaveLength(3);
    expect(ended).toEqual(expect.arrayContaining([failed, redelivered]));
    expect(await redis.zscore(keys.purge, gone.id)).not.toBeNull();
    const list = keys.workspaceTasks(workspaceId);
    expect(await redis.zscore(list, taskId)).toBe(await redis.hget(keys.task(taskId), 'at'));
    expect(await redis.pexpiretime(list)).toBeGreaterThanOrEqual(await redis.pexpiretime(keys.task(taskId)));
    expect((await redis.zrange(keys.purge, '0', '-1')).filter((id) => id.includes('|'))).toEqual([]);
  }
}

test('whatever waited, was in work, delayed, in order, held back or behind a rate is in the queue once, and nothing else', async () => {
  const { prefix, delivery, queue } = createKeyspace(SHARDS).of(filled[0]?.workspaceId ?? '');
  const settled = await data.redis.hgetall(`${prefix}d:${filled[0]?.failed ?? ''}`);
  expect(settled.s).toBe('failed');
  expect((await open()).events).toEqual(['info upgrade.began', 'info upgrade.ended']);
  await expectTakenOver();
  expect(await data.redis.hgetall(delivery(filled[0]?.failed ?? ''))).toEqual(settled);
  expect(await data.redis.hexists(queue.settings, 'paused')).toBe(0);
  // What is known of an endpoint is forgotten some day, as before.
  const ttl = await data.redis.pttl(queue.group(filled[0]?.slow.id ?? ''));
  expect(ttl).toBeGreaterThan(3_600_000);
  expect((await open()).events).toEqual([]);
  await expectTakenOver();
});

test('keys of a former version are found by their workspaces, and of those that have expired nothing stays', async () => {
  const keys = createApiKeyStore({ redis: data.redis, now: Date.now });
  const { record } = await keys.create({ workspaceId: 'ws_old', scopes: ['tasks'] });
  const executor = await keys.create({ scopes: ['execute'] });
  await data.redis.del(GLOBAL_KEYS.apiKeysOfWorkspaces);
  await data.redis.hset(GLOBAL_KEYS.apiKeyIndex, 'key_0000000000000000', 'expired');
  await open();
  expect(await keys.listOf('ws_old')).toEqual([record]);
  expect(await data.redis.zcard(GLOBAL_KEYS.apiKeysOfWorkspaces)).toBe(2);
  const known = await data.redis.hkeys(GLOBAL_KEYS.apiKeyIndex);
  expect(known.toSorted()).toEqual([record.id, executor.record.id].toSorted());
});

test('what an operator has paused stays paused', async () => {
  const [first, second] = createKeyspace(SHARDS).shards;
  await data.redis.hset(second?.queue.settings ?? '', 'paused', 1);
  await open();
  expect(await data.redis.hget(second?.queue.settings ?? '', 'paused')).toBe('1');
  expect(await data.redis.hexists(first?.queue.settings ?? '', 'paused')).toBe(0);
});

test('data of which nobody recorded the layout is taken over as well', async () => {
  await data.redis.del(GLOBAL_KEYS.shards);
  expect((await open()).events).toEqual(['info upgrade.began', 'info upgrade.ended']);
  await expectTakenOver();
});

test.each(['with its SHARDS', 'without'])('data of 0.1.0 is refused, %s', async (how) => {
  await data.redis.del(GLOBAL_KEYS.shards);
  if (how !== 'without') await data.redis.hset(GLOBAL_KEYS.shards, 'count', SHARDS);
  await data.redis.hset(`${createKeyspace(SHARDS).shards[1]?.prefix ?? ''}deliveries:meta`, 'paused', 1);
  const before = Object.fromEntries(await dumpRedis(data.redis));
  await expect(open()).rejects.toThrow('that of Herald 0.1.0, which this version does not take over; start 0.2.0');
  expect(Object.fromEntries(await dumpRedis(data.redis))).toEqual(before);
  const record = await createShardRecordStore(data.redis).read();
  expect((await findLayoutProblem(data.redis, record))?.code).toBe('layout_former');
});

test('a process that dies before any of its writes is followed by another, which completes it', async () => {
  const snapshot = await takeSnapshot(data.redis);
  const whole = createMortalClient(data.redis);
  await open(whole.redis);
  const writes = whole.countWrites();
  expect(writes).toBeGreaterThan(30);
  for (let dieAt = 1; dieAt <= writes; dieAt += dieAt < 6 || dieAt > writes - 4 ? 1 : Math.ceil(writes / 16)) {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await restoreSnapshot(data.redis, snapshot);
    await expect(open(createMortalClient(data.redis, dieAt).redis)).rejects.toThrow('killed');
    const left = await data.redis.pttl(GLOBAL_KEYS.upgrade);
    expect(left).toBeLessThanOrEqual(10_000);
    expect(left).not.toBe(-1);
    await data.redis.del(GLOBAL_KEYS.upgrade); // as it leaves by itself
    await open();
    await expectTakenOver();
  }
}, 90_000);

test('of processes that start at once one does it, and the others wait for it', async () => {
  const both = await Promise.all([open(data.redis, 'api'), open(data.stores.second.redis)]);
  expect(both.flatMap(({ events }) => events.filter((event) => event !== 'info upgrade.waits'))).toEqual([
    'info upgrade.began',
    'info upgrade.ended',
  ]);
  await expectTakenOver();
});

/** Long after its first change, and long before its last. */
const HALFWAY = 40;

test('while it is under way no process of a former version starts: it knows of a newer layout', async () => {
  await expect(open(createMortalClient(data.redis, HALFWAY).redis)).rejects.toThrow('killed');
  expect(await data.redis.hgetall(GLOBAL_KEYS.shards)).toMatchObject({ layout: '2', upgradingTo: '4' });
  const record = await createShardRecordStore(data.redis).read();
  expect(await findLayoutProblem(data.redis, record)).toMatchObject({ code: 'layout_upgrading' });
});

describe('beside a process of a former version', () => {
  test('that is connected, nothing is changed', async () => {
    const [other = data.stores.second.redis] = mastersOf(data.stores.second.redis);
    await other.client('SETNAME', 'herald-api-queue/2');
    const before = Object.fromEntries(await dumpRedis(data.redis));
    const refusal: unknown = await open().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    expect((refusal as Error).message).toMatch(
      /^A former version of Herald works on this Redis: herald-api-queue\/2 at .*$/,
    );
    expect(Object.fromEntries(await dumpRedis(data.redis))).toEqual(before);
  });

  test('that shows itself, nothing is changed', async () => {
    const living = { isOn: true };
    const life = (async () => {
      while (living.isOn) {
        await data.redis.zadd(GLOBAL_KEYS.processes, Date.now(), 'api:2:3f');
        await pause(20);
      }
    })();
    const refusal: unknown = await open().catch((error: unknown) => error);
    living.isOn = false;
    await life;
    expect(refusal).toMatchObject({ message: expect.stringContaining('api:2:3f') as string });
    expect(await createShardRecordStore(data.redis).read()).toEqual({ count: SHARDS, layout: 2 });
  });

  test('a half of it that is done already stays marked as such', async () => {
    await expect(open(createMortalClient(data.redis, HALFWAY).redis)).rejects.toThrow('killed');
    await data.redis.del(GLOBAL_KEYS.upgrade);
    const [other = data.stores.second.redis] = mastersOf(data.stores.second.redis);
    await other.client('SETNAME', 'herald-worker/2');
    await expect(open()).rejects.toThrow('A former version');
    expect(await createShardRecordStore(data.redis).read()).toEqual({ count: SHARDS, layout: 2, upgradingTo: 4 });
  });
});

test('data of a newer version is refused, and a process that runs lets it alone', async () => {
  const running = await open();
  await data.redis.hset(GLOBAL_KEYS.shards, 'layout', 5);
  const refusal: unknown = await open().catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ConfigError);
  expect((refusal as Error).message).toContain('laid out by a newer version of Herald (layout 5; this one knows 4)');
  await waitFor('the process to notice', () => running.findProblem()?.code === 'layout_newer');
  expect(running.events.slice(-2)).toEqual(['error shards.resharded layout_newer', 'onResharded']);
});

test('a new Redis has the layout at once', async () => {
  await data.redis.flushall();
  expect((await open()).events).toEqual([]);
  const records = createShardRecordStore(data.redis);
  expect(await records.read()).toEqual({ count: SHARDS, layout: 4 });
  // A process that ends late takes nothing back of what another has done since.
  await data.redis.hset(GLOBAL_KEYS.shards, 'layout', 5);
  await records.finishUpgrade(4);
  expect(await records.read()).toEqual({ count: SHARDS, layout: 5 });
});

test('who only reads is told what to do with data of a former version', async () => {
  const problem = async () => {
    const record = await createShardRecordStore(data.redis).read();
    return (await findLayoutProblem(data.redis, record))?.sentence;
  };
  const stopAll = 'stop every API and worker of that version, and start one of this: it takes the data over.';
  expect(await problem()).toContain(stopAll);
  await data.redis.hset(GLOBAL_KEYS.shards, 'movingTo', 4);
  expect(await problem()).toContain('finish that with "herald shards reshard --to 4" of that version');
  await data.redis.hdel(GLOBAL_KEYS.shards, 'movingTo');
  await open();
  expect(await problem()).toBeUndefined();
});
