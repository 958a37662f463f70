import {
  createDeliveryLog,
  createDeliveryRetention,
  createDeliveryStore,
  createDutyStore,
  createKeyspace,
  createReceiverStore,
  createReplayStore,
  createServiceStateReader,
  createShardRecordStore,
  createTaskRetention,
  createTaskStore,
  createWorkerPresence,
  moveShards,
  type MoveReport,
  type RedisClient,
} from '@herald/infra';
import { restoreSnapshot, takeSnapshot } from '../../support/redis-snapshot.ts';
import { newWorkspaceId } from '../../support/start-stores.ts';
import { startEngine, type Engine } from '../engine/start-engine.ts';
import { fillWorkspace, type FilledWorkspace } from './fill-workspace.ts';
import { allKinds, readLayout } from './read-layout.ts';

/** A workspace in each of four shards. */
const WORKSPACES = 4;
function newWorkspaceIdIn(shard: number): string {
  const { shards, of } = createKeyspace(WORKSPACES);
  let id = newWorkspaceId();
  while (of(id) !== shards[shard]) id = newWorkspaceId();
  return id;
}

let engine: Engine;
let filled: FilledWorkspace[];
beforeEach(async () => {
  engine = await startEngine();
  const now = Date.now();
  filled = [];
  for (let shard = 0; shard < WORKSPACES; shard++)
    filled.push(await fillWorkspace(engine, newWorkspaceIdIn(shard), now));
});
afterEach(() => engine[Symbol.asyncDispose]());

type Crash = { readonly atCopy?: number; readonly atProgress?: number };

/** Moves; ends with an error where a crash would: between a copy and the deletion of its original, or behind a step. */
async function move(redis: RedisClient, to: number, { atCopy, atProgress }: Crash = {}) {
  let [copies, steps] = [0, 0];
  const report: MoveReport = await moveShards(
    {
      ...{ redis, lineRedis: engine.stores.second.redis, now: Date.now, findRunning: () => Promise.resolve([]) },
      confirmWrite: () => (++copies === atCopy ? Promise.reject(new Error('killed')) : Promise.resolve(true)),
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
        ...{ list, pages, subscriptions: await receivers.findSubscriptions(workspaceId) },
        destinations: await receivers.findDestinations(list),
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
  const { tasks: running } = await tasks.listByStatus('running', 100);
  return { perWorkspace, running: running.map(({ id }) => id).sort() };
}

/** Where the line has a delivery: the time from which it is due (ms, 0: now), or nowhere. */
async function dueInLine(redis: RedisClient, shardCount: number, workspaceId: string, id: string) {
  const { bullPrefix } = createKeyspace(shardCount).of(workspaceId);
  const line = `${bullPrefix}:deliveries`;
  const score = await redis.zscore(`${line}:delayed`, id);
  if (score !== null) return Math.floor(Number(score) / 4_096);
  return (await redis.lrange(`${line}:wait`, 0, -1)).includes(id) ? 0 : undefined;
}

test('there is a key of every kind in what is moved, or this test proves too little', async () => {
  const { kinds } = await readLayout(engine.redis);
  expect([...kinds].filter((kind) => kind !== 'line').sort()).toEqual(allKinds());
});

test('from one shard to four, to two, and back to one: everything is there, with its times, and nothing is left behind', async () => {
  const { redis } = engine;
  const [layout, read] = [await readLayout(redis), await readAll(redis, 1)];
  for (const to of [4, 2, 1]) {
    const { report } = await move(redis, to);
    expect(report).toMatchObject({ kind: 'moved', to, dropped: 0 });
    const after = await readLayout(redis);
    expect(after.contents).toEqual(layout.contents);
    expect([...after.shards].every((shard) => shard < to)).toBe(true);
    expect(await readAll(redis, to)).toEqual(read);
    expect(await createShardRecordStore(redis).read()).toEqual({ count: to });
  }
});

test('pending deliveries are in the new line at the time of their next try, and what waits elsewhere, ended or is a test is not', async () => {
  const { redis } = engine;
  const { report } = await move(redis, 4);
  expect(report.lined).toBe(WORKSPACES * 4); // waiting, delayed, and those of the disabled and the removed receiver
  for (const { workspaceId, ...ids } of filled) {
    const due = (id: string) => dueInLine(redis, 4, workspaceId, id);
    expect(await due(ids.waiting)).toBe(0);
    const keys = createKeyspace(4).of(workspaceId);
    // BullMQ reckons from its own look at the clock.
    const late = Number(await due(ids.delayed)) - Number(await redis.hget(keys.delivery(ids.delayed), 'due'));
    expect(late >= 0 && late < 1_000).toBe(true);
    for (const id of [ids.inBacklog, ids.failed, ids.redelivered, ids.testEvent]) expect(await due(id)).toBeUndefined();
    const [pending] = await createDutyStore({ redis, keys }).findPending('deliveries', [ids.inBacklog]);
    expect(pending).toMatchObject({ isInBacklog: true });
  }
});

test('a move that dies between any copy and its deletion, or behind any step, is completed by the next one', async () => {
  const { redis } = engine;
  const [read, snapshot] = [await readAll(redis, 1), await takeSnapshot(redis)];
  const { copies, steps } = await move(redis, 4);
  expect(copies).toBeGreaterThan(50);
  const crashes: Crash[] = [
    ...Array.from({ length: 6 }, (_, index) => ({ atCopy: 1 + Math.floor((index * (copies - 1)) / 5) })),
    ...Array.from({ length: 3 }, (_, index) => ({ atProgress: 1 + Math.floor((index * (steps - 1)) / 2) })),
  ];
  for (const crash of crashes) {
    await restoreSnapshot(redis, snapshot);
    const layout = await readLayout(redis);
    await expect(move(redis, 4, crash)).rejects.toThrow('killed');
    expect(await createShardRecordStore(redis).read()).toEqual({ count: 1, movingTo: 4 });
    await expect(move(redis, 2)).rejects.toThrow('half moved from 1 to 4 shards');
    await move(redis, 4);
    expect((await readLayout(redis)).contents).toEqual(layout.contents);
    expect(await readAll(redis, 4)).toEqual(read);
    for (const { workspaceId, waiting } of filled) expect(await dueInLine(redis, 4, workspaceId, waiting)).toBe(0);
  }
}, 60_000);

test('logs of many thousand entries go page by page, with their times', async () => {
  const { redis, keys } = engine;
  const one = filled[3];
  if (!one) throw new Error('there are four');
  const entries = Array.from({ length: 2_500 }, (_, index) => [1_700_000_000_000 + index, `dlv_${index}`]).flat();
  await redis.zadd(keys.endpointLog(one.good.id), ...entries);
  const layout = await readLayout(redis);
  await move(redis, 4);
  expect((await readLayout(redis)).contents).toEqual(layout.contents);
});

test('a line that an operator has paused stays paused in every shard', async () => {
  const { redis, keys } = engine;
  await redis.hset(`${keys.bullPrefix}:deliveries:meta`, 'paused', 1);
  await move(redis, 4);
  for (const { bullPrefix } of createKeyspace(4).shards) {
    expect(await redis.hget(`${bullPrefix}:deliveries:meta`, 'paused')).toBe('1');
    expect(await redis.hexists(`${bullPrefix}:tests:meta`, 'paused')).toBe(0);
  }
});

test('what belongs to nothing any more is dropped with its shard, and never comes back to life', async () => {
  const { redis } = engine;
  await move(redis, 4);
  const [, , , fourth] = createKeyspace(4).shards;
  if (!fourth) throw new Error('there are four');
  await redis.zadd(fourth.owed, 1, 'trn_of_nobody');
  await redis.hset(fourth.breaker('nowhere'), 'fails', 1);
  expect((await move(redis, 2)).report.dropped).toBe(2);
  expect(await redis.exists(fourth.owed, fourth.breaker('nowhere'))).toBe(0);
});

test('a shard that was filled by a move counts what waits as any other does', async () => {
  const { redis } = engine;
  const stateOf = (shardCount: number) =>
    createServiceStateReader({
      ...{ redis, keyspace: createKeyspace(shardCount), presence: createWorkerPresence(redis), now: Date.now },
    })();
  const sum = (shards: readonly { openTransitions: number }[]) =>
    shards.reduce((total, { openTransitions }) => total + openTransitions, 0);
  const before = sum((await stateOf(1)).shards);
  await move(redis, 4);
  const { shards } = await stateOf(4);
  expect(sum(shards)).toBe(before);
  expect(shards.every(({ openTransitions }) => openTransitions < before)).toBe(true);
});
