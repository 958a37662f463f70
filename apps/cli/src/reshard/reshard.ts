import { TaskStatus, type WorkspaceId } from '@herald/core';
import { ConfigError } from '@herald/runtime/env';
import { KEY_KINDS, type KindsOf } from '@herald/store/keys/key-name';
import { createKeyspace, type Keyspace, type ShardKeys, readScoredIds, SHARD_TAGS } from '@herald/store/keys/keys';
import { createHistoryMark } from '@herald/store/lists/history-mark';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { AwaitReplication } from '@herald/store/redis/await-replication';
import { createAwaitCopies, enqueuePending } from '@herald/store/data/enqueue-pending';
import type { FindRunning } from '@herald/store/data/find-running';
import { describeResharding, createShardRecordStore, type ShardRecordStore } from '@herald/store/data/shard-record';
import { findLayoutProblem, judgeLayout } from '@herald/store/data/data-loss';
import { learnRecord } from '@herald/store/data/open-shards';
import {
  createOwners,
  keyInShard,
  type MoveDeps,
  moveLists,
  moveRecords,
  type Owners,
  walkShardKeys,
} from './move-records.ts';
import { moveTrail } from './move-trail.ts';

/** After so many rounds through all keys, another process must be writing. */
const ROUND_LIMIT = 5;

type ReshardDeps = Pick<MoveDeps, 'redis' | 'onProgress'> & {
  /** Undefined: writes needn't be replicated. */
  readonly awaitReplication: AwaitReplication | undefined;
  readonly findRunning: FindRunning;
  /** Epoch ms. */
  readonly now: () => number;
};

export type ReshardReport = {
  /** `in_place`: there was nothing to do. */
  readonly kind: 'moved' | 'in_place';
  readonly from: number;
  readonly to: number;
  /** Keys moved by this run. */
  readonly keys: number;
  /** Deliveries enqueued again, wherever they were before. */
  readonly enqueued: number;
  /** Orphaned keys, deleted with the shards that no longer exist. */
  readonly dropped: number;
};

/**
 * Moves all data to where SHARDS=`to` looks for it, while no process runs. It copies before it deletes. It records in
 * Redis that it is under way, so that no process starts. Another run completes one that was killed at any moment.
 * @param given SHARDS of the service until now, for data of releases that didn't record it
 * @throws ConfigError when a process is alive, resharding to another number is incomplete, `given` doesn't fit the
 * data, or the data has the layout of another version
 */
export async function reshard(deps: ReshardDeps, given: number, to: number): Promise<ReshardReport> {
  const { redis, findRunning } = deps;
  const inPlace: ReshardReport = { kind: 'in_place', from: to, to, keys: 0, enqueued: 0, dropped: 0 };
  const records = createShardRecordStore(redis);
  const known = await records.read();
  const obstacle = await findLayoutProblem(redis, known);
  if (obstacle) throw new ConfigError(obstacle.sentence);
  if (known.movingTo === undefined && known.count === to) return inPlace;
  if (known.movingTo !== undefined && known.movingTo !== to) {
    throw new ConfigError(describeResharding(known, known.movingTo));
  }
  refuseRunning(await findRunning());
  const learned = await learnRecord(redis, records, given);
  const problem = judgeLayout(learned);
  if (problem) throw new ConfigError(problem.sentence);
  const { count: from = given, movingTo } = learned;
  if (movingTo === undefined && from === to) return inPlace;
  if (movingTo === undefined) {
    await records.beginResharding(to);
    // A process that started before this mark is visible by now; one that starts later sees the mark.
    const running = await findRunning();
    if (running.length > 0) await records.dropResharding();
    refuseRunning(running);
  }
  const moved = await moveAll(deps, records, createKeyspace(to), from > to);
  await records.finishResharding(to);
  return { kind: 'moved', from, to, ...moved };
}

async function moveAll(
  { redis, awaitReplication, onProgress, now }: ReshardDeps,
  records: ShardRecordStore,
  target: Keyspace,
  isFewer: boolean,
) {
  const awaitCopies = createAwaitCopies(awaitReplication);
  const deps: MoveDeps = { redis, target, owners: createOwners(redis), awaitCopies, onProgress };
  const onEnqueued = (done: number, total: number) => {
    onProgress('queue', done, total);
  };
  const sources = createKeyspace(SHARD_TAGS.length).shards;
  await mergeKeyVersions(redis, sources, target);
  await mergePauses(redis, sources, target);
  await mergeHistory(redis, sources, target);
  await moveTrail(deps, records);
  let keys = 0;
  for (const [index, shard] of sources.entries()) {
    keys += await splitIndexes(deps, shard);
    onProgress('indexes', index + 1, sources.length);
  }
  // A round that finds nothing to move proves that nothing is left.
  for (let round = 1, moved = 1; moved > 0; round++) {
    if (round > ROUND_LIMIT)
      throw new ConfigError('Something still writes to this Redis; stop it, and run this again.');
    moved = (await moveLists(deps)) + (await moveRecords(deps));
    keys += moved;
  }
  const enqueued = await enqueuePending({ redis, keyspace: target, awaitCopies, onProgress: onEnqueued, now });
  return { keys, enqueued, dropped: isFewer ? await dropLeftovers(deps) : 0 };
}

/** Every new shard knows each key that secrets were ever encrypted with: keys that it doesn't need do no harm. */
async function mergeKeyVersions(redis: RedisClient, sources: Keyspace['shards'], target: Keyspace): Promise<void> {
  const counts = new Map<string, number>();
  for (const { keyVersions } of sources) {
    for (const [fingerprint, count] of Object.entries(await redis.hgetall(keyVersions))) {
      counts.set(fingerprint, Math.max(Number(count), counts.get(fingerprint) ?? 0));
    }
  }
  for (const { keyVersions } of target.shards) {
    if (counts.size > 0) await redis.hset(keyVersions, Object.fromEntries(counts));
  }
}

/** When an operator has paused one queue, all queues are paused: each may now hold a part of it. */
async function mergePauses(redis: RedisClient, sources: Keyspace['shards'], target: Keyspace): Promise<void> {
  const paused = await Promise.all(sources.map(({ queue }) => redis.hexists(queue.settings, 'paused')));
  if (!paused.includes(1)) return;
  for (const { queue } of target.shards) await redis.hset(queue.settings, 'paused', '1');
}

/** Every new shard knows that its data has a history: what settles there waits for it. */
async function mergeHistory(redis: RedisClient, sources: Keyspace['shards'], target: Keyspace): Promise<void> {
  const id = await createHistoryMark({ redis, keyspace: { shards: sources } }).read();
  if (id !== undefined) await createHistoryMark({ redis, keyspace: target }).write(id);
}

/** Deletes the orphaned keys of shards that no longer exist: they would be in use again after another resharding. */
async function dropLeftovers(deps: MoveDeps): Promise<number> {
  return await walkShardKeys(deps, 'leftovers', async ({ shard, kind }, name) => {
    if (shard < deps.target.shards.length) return 0;
    const removed = await deps.redis.unlink(name);
    return ['merged', 'stays'].includes(KEY_KINDS[kind].step) ? 0 : removed;
  });
}

function refuseRunning(running: readonly string[]): void {
  if (running.length === 0) return;
  throw new ConfigError(
    `Something works on this Redis: ${running.join(', ')}. ` +
      'Nothing was changed; stop every API and worker, and run this again.',
  );
}

/** Members in one step. */
const PAGE = 500;

type Index = {
  readonly keysIn: (keys: ShardKeys) => readonly string[];
  readonly ownerOf: (owners: Owners, keys: ShardKeys, member: string) => Promise<WorkspaceId | undefined>;
};

/** An index of workspaces. */
function ofWorkspaces(keyIn: (keys: ShardKeys) => string): Index {
  return { keysIn: (keys) => [keyIn(keys)], ownerOf: (_owners, _keys, workspaceId) => Promise.resolve(workspaceId) };
}

const INDEXES: Record<KindsOf<'split'>, Index> = {
  tasksIn: {
    keysIn: (keys) => TaskStatus.options.map(keys.tasksIn),
    ownerOf: (owners, keys, id) => owners.ofRecord(keys.task(id)),
  },
  replays: { keysIn: (keys) => [keys.replays], ownerOf: (owners, keys, id) => owners.ofRecord(keys.replay(id)) },
  failed: { keysIn: (keys) => [keys.failed], ownerOf: (owners, keys, id) => owners.ofDelivery(keys, id) },
  failedTests: { keysIn: (keys) => [keys.failedTests], ownerOf: (owners, keys, id) => owners.ofDelivery(keys, id) },
  notices: { keysIn: (keys) => [keys.notices], ownerOf: (owners, keys, id) => owners.ofDelivery(keys, id) },
  settled: { keysIn: (keys) => [keys.settled], ownerOf: (owners, keys, id) => owners.ofDelivery(keys, id) },
  portalWorkspaces: ofWorkspaces((keys) => keys.portalWorkspaces),
  pending: ofWorkspaces((keys) => keys.pending),
  held: ofWorkspaces((keys) => keys.held),
  leaving: ofWorkspaces((keys) => keys.leaving),
  purge: { keysIn: (keys) => [keys.purge], ownerOf: (owners, keys, id) => owners.ofEndpoint(keys, id) },
};

/**
 * Moves the members of a shard's indexes to the shards of their workspaces, with their scores. It runs before the
 * records move, since these tell who owns a member. Orphaned members stay.
 * @returns members moved
 */
async function splitIndexes(deps: MoveDeps, from: ShardKeys): Promise<number> {
  let moved = 0;
  for (const index of Object.values(INDEXES)) {
    for (const source of index.keysIn(from)) moved += await splitIndex(deps, from, source, index.ownerOf);
  }
  return moved;
}

async function splitIndex(
  { redis, target, owners, awaitCopies }: MoveDeps,
  from: ShardKeys,
  source: string,
  ownerOf: Index['ownerOf'],
): Promise<number> {
  const expiresAt = await redis.pexpiretime(source);
  let moved = 0;
  for (let offset = 0; ;) {
    const page = readScoredIds(await redis.zrange(source, offset, String(offset + PAGE - 1), 'WITHSCORES'));
    if (page.length === 0) return moved;
    const placed = await Promise.all(
      page.map(async ({ id, score }) => {
        const owner = await ownerOf(owners, from, id);
        return { id, score, home: owner === undefined ? source : keyInShard(source, from, target.of(owner)) };
      }),
    );
    const leaving = placed.filter(({ home }) => home !== source);
    const byHome = Map.groupBy(leaving, ({ home }) => home);
    for (const [home, members] of byHome) {
      await redis.zadd(home, ...members.flatMap(({ score, id }) => [score, id]));
      if (expiresAt > 0) {
        await redis.pexpireat(home, expiresAt, 'NX');
        await redis.pexpireat(home, expiresAt, 'GT');
      }
    }
    await awaitCopies([...byHome.keys()]);
    if (leaving.length > 0) await redis.zrem(source, ...leaving.map(({ id }) => id));
    moved += leaving.length;
    offset += page.length - leaving.length;
  }
}
