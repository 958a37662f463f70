import { DELIVERY_STATUSES } from '@herald/core';
import { createAuditFollower, createAuditTrail } from '@herald/store/access/audit-trail';
import { createDeliveryLog } from '@herald/store/lists/delivery-log';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createGroupView } from '@herald/store/operators/describe-delivery';
import { createFindGroups, createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createKeyspace, GLOBAL_KEYS } from '@herald/store/keys/keys';
import { createHistoryMark } from '@herald/store/lists/history-mark';
import { createPortalLinkStore, type PortalLink } from '@herald/store/access/portal-link-store';
import { createReplayStore } from '@herald/store/bulk/replay-store';
import { createShardRecordStore } from '@herald/store/data/shard-record';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { reshard as reshardData, type ReshardReport } from '../../../apps/cli/src/reshard/reshard.ts';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { appendToLog, logEntriesFrom } from '../../support/append-to-log.ts';
import { dumpRedis } from '../../support/redis-dump.ts';
import { restoreSnapshot, takeSnapshot } from '../../support/redis-snapshot.ts';
import { expectQueue } from './expect-queue.ts';
import { fillWorkspace, placesOf, type FilledWorkspace } from './fill-workspace.ts';
import { allKinds, readLayout } from './read-layout.ts';
import { newWorkspaceIdIn, startData, type Data } from './start-data.ts';

/** A workspace in each of four shards. */
const WORKSPACES = 4;
const HOUR_MS = 3_600_000;

let data: Data;
const filled: FilledWorkspace[] = [];
let whole: Awaited<ReturnType<typeof takeSnapshot>>;
beforeAll(async () => {
  data = await startData();
  const now = Date.now();
  for (let shard = 0; shard < WORKSPACES; shard++)
    filled.push(await fillWorkspace(data, newWorkspaceIdIn(shard, WORKSPACES), now));
  await createHistoryMark({ redis: data.redis, keyspace: createKeyspace(1) }).note('his_1');
  whole = await takeSnapshot(data.redis);
});
beforeEach(() => restoreSnapshot(data.redis, whole));
afterAll(() => data[Symbol.asyncDispose]());

type Crash = { readonly atCopy?: number; readonly atProgress?: number };

/**
 * Reshards; ends with an error where a crash would: between a copy and the deletion of its original, or behind a step.
 */
async function reshard(redis: RedisClient, to: number, { atCopy, atProgress }: Crash = {}) {
  let [copies, steps] = [0, 0];
  const report: ReshardReport = await reshardData(
    {
      redis,
      now: Date.now,
      findRunning: () => Promise.resolve([]),
      awaitReplication: () => (++copies === atCopy ? Promise.reject(new Error('killed')) : Promise.resolve(true)),
      onProgress: () => {
        if (++steps === atProgress) throw new Error('killed');
      },
    },
    1,
    to,
  );
  return { report, copies, steps };
}

/** What tenants and operators read, as processes with this SHARDS do. */
async function readAll(redis: RedisClient, shardCount: number) {
  const keyspace = createKeyspace(shardCount);
  const log = createDeliveryLog({ redis, keyspace });
  const receivers = createReceiverStore({ redis, keyspace });
  const findGroups = createFindGroups({ redis, keyspace, now: Date.now });
  const tasks = createTaskStore({ redis, keyspace, retention: createTaskRetention(1_000) });
  const replays = createReplayStore({ redis, keyspace, keepMs: 1_000 });
  const retention = createDeliveryRetention(1_000);
  const loaders = new Map(
    filled.map(({ workspaceId }) => [
      workspaceId,
      createDeliveryStore({ redis, keys: keyspace.of(workspaceId), retention }),
    ]),
  );
  const perWorkspace = await Promise.all(
    filled.map(async ({ workspaceId, gone, taskId, replayIds }) => {
      const list = await receivers.list(workspaceId);
      const pages = await Promise.all(
        [...list.map(({ id }) => id), gone.id].map((id) => log.listByEndpoint(workspaceId, id, {}, 100)),
      );
      const ids = pages.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
      return {
        list,
        pages,
        all: await log.listByWorkspace(workspaceId, {}, 100),
        byStatus: await Promise.all(
          DELIVERY_STATUSES.map(async (status) => (await log.listByWorkspace(workspaceId, { status }, 100)).deliveries),
        ),
        subscriptions: await receivers.findSubscriptions(workspaceId),
        destinations: (await findGroups(list)).map((group) => [group?.isOpen === true, group?.heldUntil]),
        details: await Promise.all(ids.map((id) => log.find(workspaceId, id))),
        loaded: await Promise.all(ids.map(async (id) => await loaders.get(workspaceId)?.load(id))),
        task: await tasks.find(workspaceId, taskId),
        messages: await tasks.listMessages(workspaceId, taskId),
        decisions: await tasks.listDecisions(workspaceId, taskId),
        replays: await Promise.all(replayIds.map((id) => replays.find(workspaceId, id))),
        ofDone: await log.listByTask(
          workspaceId,
          (await log.find(workspaceId, ids[0] ?? ''))?.delivery.taskId ?? '',
          10,
        ),
      };
    }),
  );
  const links = createPortalLinkStore({ redis, keyspace, now: Date.now });
  const { tasks: running } = await tasks.listByStatus('running', 100, Date.now());
  const allLinks: PortalLink[] = [];
  for await (const some of links.listAll()) allLinks.push(...some);
  const owners = await Promise.all(allLinks.map(({ id }) => links.findWorkspace(id)));
  const trail = createAuditTrail({ redis, keyspace, length: 10_000, now: Date.now });
  const trails = await Promise.all(
    [undefined, ...filled.map(({ workspaceId }) => workspaceId)].map((workspaceId) =>
      trail.list({ workspaceId, limit: 1_000 }),
    ),
  );
  return { perWorkspace, running: running.map(({ id }) => id).sort(), allLinks, owners, trails };
}

test('there is a key of every kind in what is resharded, or this test proves too little', async () => {
  const { kinds } = await readLayout(data.redis);
  expect([...kinds].sort()).toEqual(allKinds());
});

test('from one shard to four, to two, and back to one: everything is there, with its times, and nothing is left behind', async () => {
  const { redis } = data;
  const [layout, read] = [await readLayout(redis), await readAll(redis, 1)];
  expect(read.owners).toEqual(filled.map(({ workspaceId }) => workspaceId).sort());
  for (const to of [4, 2, 1]) {
    const { report } = await reshard(redis, to);
    expect(report).toMatchObject({ kind: 'moved', to, dropped: 0 });
    const after = await readLayout(redis);
    expect(after.contents).toEqual(layout.contents);
    expect([...after.shards].every((shard) => shard < to)).toBe(true);
    expect(await readAll(redis, to)).toEqual(read);
    await expectQueue(redis, to, filled);
    expect(await createShardRecordStore(redis).read()).toEqual({ count: to, layout: 4 });
  }
}, 120_000);

test('it says how many deliveries it has enqueued', async () => {
  const { report } = await reshard(data.redis, 4);
  expect(report.enqueued).toBe(filled.flatMap((each) => [...placesOf(each)]).length);
});

test('resharding that dies between any copy and its deletion, or behind any step, is completed by the next one', async () => {
  const { redis } = data;
  const read = await readAll(redis, 1);
  const { copies, steps } = await reshard(redis, 4);
  expect(copies).toBeGreaterThan(50);
  const crashes: Crash[] = [
    ...Array.from({ length: 6 }, (_, index) => ({ atCopy: 1 + Math.floor((index * (copies - 1)) / 5) })),
    ...Array.from({ length: 3 }, (_, index) => ({ atProgress: 1 + Math.floor((index * (steps - 1)) / 2) })),
  ];
  for (const crash of crashes) {
    await restoreSnapshot(redis, whole);
    const layout = await readLayout(redis);
    await expect(reshard(redis, 4, crash)).rejects.toThrow('killed');
    expect(await createShardRecordStore(redis).read()).toEqual({ count: 1, movingTo: 4, layout: 4 });
    await expect(reshard(redis, 2)).rejects.toThrow('from 1 to 4 shards is not complete');
    await reshard(redis, 4);
    expect((await readLayout(redis)).contents).toEqual(layout.contents);
    expect(await readAll(redis, 4)).toEqual(read);
    await expectQueue(redis, 4, filled);
  }
}, 240_000);

test.each(['in one zset, as of version 0.2.0', 'in segments'])('logs of many entries %s move', async (how) => {
  const { redis, keys } = data;
  const one = filled[3];
  if (!one) throw new Error('there are four');
  const entries = logEntriesFrom(Date.now(), 2_500);
  for (const log of [keys.endpointLog(one.good.id), keys.callbackLog(one.workspaceId)]) {
    if (how === 'in segments') await appendToLog(redis, log, HOUR_MS, entries);
    else await redis.zadd(log, ...entries.flatMap(({ at, id }) => [at, id]));
  }
  const layout = await readLayout(redis);
  await reshard(redis, 4);
  expect((await readLayout(redis)).contents).toEqual(layout.contents);
});

test('the list of a workspace moves with it: to receivers, to removed ones and to callbacks', async () => {
  const { redis } = data;
  await reshard(redis, 4);
  const log = createDeliveryLog({ redis, keyspace: createKeyspace(4) });
  for (const { workspaceId, good, gone, toCallback } of filled) {
    const { deliveries } = await log.listByWorkspace(workspaceId, {}, 100);
    const endpoints = new Set(deliveries.map(({ endpointId }) => endpointId));
    expect([...endpoints]).toEqual(expect.arrayContaining([good.id, gone.id]));
    expect(deliveries.map(({ id }) => id)).toContain(toCallback.id);
  }
});

test('a queue that an operator has paused stays paused in every shard', async () => {
  const { redis, keys } = data;
  await redis.hset(keys.queue.settings, 'paused', '1');
  await reshard(redis, 4);
  for (const { queue } of createKeyspace(4).shards) expect(await redis.hget(queue.settings, 'paused')).toBe('1');
});

test('what is not of this layout is not resharded, and nothing is changed', async () => {
  const { redis } = data;
  await redis.hset(GLOBAL_KEYS.shards, 'layout', 2);
  const before = await dumpRedis(redis);
  await expect(reshard(redis, 4)).rejects.toThrow('stop every API and worker of that version, and start one of this');
  expect(await dumpRedis(redis)).toEqual(before);
});

test('what follows the audit trail gets every entry that it lacks, and the trail counts as before', async () => {
  const { redis } = data;
  const follow = async (following: 'log' | 'history', shardCount: number) => {
    const steps = createKeyspace(shardCount).shards.map((keys) =>
      createAuditFollower({ redis, keys }).next(following, 1_000),
    );
    return (await Promise.all(steps)).flatMap(({ entries }) => entries.map(({ id }) => id)).sort();
  };
  const count = async (shardCount: number) => {
    const counts = new Map<string, number>();
    for (const keys of createKeyspace(shardCount).shards) {
      const rows = await redis.zrange(keys.auditOwners, 0, '-1', 'WITHSCORES');
      for (const [index, owner] of rows.entries()) {
        if (index % 2 === 0) counts.set(owner, (counts.get(owner) ?? 0) + Math.floor(Number(rows[index + 1])));
      }
    }
    return Object.fromEntries([...counts].sort());
  };
  const [logged, moved, counts] = [await follow('log', 1), await follow('history', 1), await count(1)];
  expect([logged.length, moved.length]).toEqual([4, 16]);
  expect(counts[':platform']).toBe(8);
  for (const to of [4, 2, 3, 1]) {
    await reshard(redis, to);
    expect(await follow('log', to)).toEqual(expect.arrayContaining(logged));
    expect(await follow('history', to)).toEqual(moved);
    expect(await count(to)).toEqual(counts);
  }
}, 60_000);

test('an audit trail that is in place in some shards, when resharding dies, loses nothing', async () => {
  const { redis } = data;
  const { trails } = await readAll(redis, 1);
  const target = createKeyspace(4).shards;
  // The copies of the four trails, and then the note that they are made.
  await expect(reshard(redis, 4, { atCopy: target.length + 1 })).rejects.toThrow('killed');
  const name = await createShardRecordStore(redis).findTrailCopies();
  expect(name).toBeDefined();
  for (const { auditCopy, audit, auditOwners, auditIds, auditFollowers } of target.slice(0, 2)) {
    const parts = { followers: auditFollowers, ids: auditIds, owners: auditOwners, entries: audit };
    for (const [part, key] of Object.entries(parts)) await redis.rename(auditCopy(`${name}:${part}`), key);
  }
  await reshard(redis, 4);
  expect((await readAll(redis, 4)).trails).toEqual(trails);
  expect(await createShardRecordStore(redis).findTrailCopies()).toBeUndefined();
});

test('two runs at once lose nothing of the audit trail', async () => {
  const { redis } = data;
  const { trails } = await readAll(redis, 1);
  const outcomes = await Promise.allSettled([reshard(redis, 4), reshard(redis, 4)]);
  expect(outcomes.map(({ status }) => status)).toContain('fulfilled');
  expect((await readAll(redis, 4)).trails).toEqual(trails);
});

test('what belongs to nothing any more is dropped with its shard, and never comes back to life', async () => {
  const { redis } = data;
  await reshard(redis, 4);
  const [, , , fourth] = createKeyspace(4).shards;
  if (!fourth) throw new Error('there are four');
  await redis.zadd(fourth.failed, 1, 'dlv_of_nobody');
  await redis.hset(fourth.queue.group('nowhere'), 'fails', 1);
  expect((await reshard(redis, 2)).report.dropped).toBe(2);
  expect(await redis.exists(fourth.failed, fourth.queue.group('nowhere'))).toBe(0);
});

test('destinations of all shards are listed by how many wait there, the most first', async () => {
  const { redis } = data;
  await reshard(redis, 2);
  const view = createGroupView({ redis, keyspace: createKeyspace(2), now: Date.now });
  const waiting = (await view.list()).map((each) => each.waiting);
  expect(new Set(waiting).size).toBeGreaterThan(1);
  expect(waiting).toEqual(waiting.toSorted((a, b) => b - a));
});
