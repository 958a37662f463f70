import { ConfigError } from '@herald/runtime/env/env';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { createKeyspace, type Keyspace } from '@herald/store/keyspace/keys';
import { SHARD_TAGS } from '@herald/store/keyspace/shards';
import type { AwaitReplication } from '@herald/store/scripts/await-replication';
import { createAwaitCopies } from '@herald/store/shards/await-copies';
import type { FindRunning } from '@herald/store/shards/find-running';
import { describeResharding } from '@herald/store/shards/judge-shards';
import { KEY_KINDS } from '@herald/store/shards/key-name';
import { moveLists, moveRecords, walkShardKeys } from './move-records.ts';
import { learnRecord } from '@herald/store/upgrade/open-shards';
import { createOwners } from './owners.ts';
import { enqueuePending } from '@herald/store/shards/enqueue-pending';
import { createShardRecordStore } from '@herald/store/shards/shard-record';
import { splitIndexes } from './split-indexes.ts';
import { findLayoutProblem } from '@herald/store/upgrade/find-layout-problem';

/** Rounds through all keys after which something else must be writing. */
const ROUND_LIMIT = 5;

export type ReshardStep = 'indexes' | 'lists' | 'records' | 'queue' | 'leftovers';
export type ReshardProgress = { readonly step: ReshardStep; readonly done: number; readonly total: number };

export type ReshardDeps = {
  readonly redis: RedisClient;
  /** Absent: no replica has to have what is written. */
  readonly awaitReplication: AwaitReplication | undefined;
  readonly findRunning: FindRunning;
  readonly onProgress: (progress: ReshardProgress) => void;
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
  /** Keys that belonged to nothing any more, deleted with the shards that are no more. */
  readonly dropped: number;
};

/**
 * Moves everything to where SHARDS=`to` looks for it, while no process works on it. Copies before it deletes, and says in Redis that it is
 * under way, so that no process starts: a run that is killed at any moment is completed by another.
 * @param given SHARDS as the service has had it, for data of releases that recorded none
 * @throws ConfigError when a process is alive, resharding to another number is not complete, `given` isn't what the
 * data is laid out for, or a process of this version has yet to take over the data of a former one
 */
export async function reshard(deps: ReshardDeps, given: number, to: number): Promise<ReshardReport> {
  const { redis, findRunning } = deps;
  const records = createShardRecordStore(redis);
  const known = await records.read();
  const obstacle = await findLayoutProblem(redis, known);
  if (obstacle) throw new ConfigError(obstacle.sentence);
  if (known.movingTo === undefined && known.count === to) return { kind: 'in_place', ...nothing(to, to) };
  if (known.movingTo !== undefined && known.movingTo !== to) {
    throw new ConfigError(describeResharding(known, known.movingTo));
  }
  refuseRunning(await findRunning());
  const { count: from = given, movingTo } = await learnRecord(redis, records, given);
  if (movingTo === undefined && from === to) return { kind: 'in_place', ...nothing(to, to) };
  if (movingTo === undefined) {
    await records.beginResharding(to);
    // One that started meanwhile saw no resharding, and shows itself by now; one that starts from here on sees it.
    const running = await findRunning();
    if (running.length > 0) await records.dropResharding();
    refuseRunning(running);
  }
  const moved = await moveAll(deps, createKeyspace(to), from > to);
  await records.finishResharding(to);
  return { kind: 'moved', ...nothing(from, to), ...moved };
}

const nothing = (from: number, to: number) => ({ from, to, keys: 0, enqueued: 0, dropped: 0 });

async function moveAll({ redis, awaitReplication, onProgress, now }: ReshardDeps, target: Keyspace, isFewer: boolean) {
  const awaitCopies = createAwaitCopies(awaitReplication);
  const common = { redis, target, owners: createOwners(redis), awaitCopies };
  const inStep = (step: ReshardStep) => ({
    ...common,
    onProgress: (done: number, total: number) => {
      onProgress({ step, done, total });
    },
  });
  const sources = createKeyspace(SHARD_TAGS.length).shards;
  await mergeKeyVersions(redis, sources, target);
  await mergePauses(redis, sources, target);
  let keys = 0;
  for (const [index, shard] of sources.entries()) {
    keys += await splitIndexes(common, shard);
    onProgress({ step: 'indexes', done: index + 1, total: sources.length });
  }
  // A round that finds nothing to move proves that nothing is left.
  for (let round = 1, moved = 1; moved > 0; round++) {
    if (round > ROUND_LIMIT)
      throw new ConfigError('Something still writes to this Redis; stop it, and run this again.');
    moved = (await moveLists(inStep('lists'))) + (await moveRecords(inStep('records')));
    keys += moved;
  }
  const enqueued = await enqueuePending({ ...inStep('queue'), keyspace: target, now });
  return { keys, enqueued, dropped: isFewer ? await dropLeftovers(inStep('leftovers')) : 0 };
}

/** Every new shard knows each key that secrets were ever encrypted with: more than it needs does no harm. */
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

/** What an operator has paused stays paused, with all that now shares its queue. */
async function mergePauses(redis: RedisClient, sources: Keyspace['shards'], target: Keyspace): Promise<void> {
  const paused = await Promise.all(sources.map(({ queue }) => redis.hexists(queue.settings, 'paused')));
  if (!paused.includes(1)) return;
  for (const { queue } of target.shards) await redis.hset(queue.settings, 'paused', '1');
}

/** What is left in shards that are no more belongs to nothing: it would come back to life if there were more again. */
async function dropLeftovers(deps: Parameters<typeof moveLists>[0]): Promise<number> {
  return await walkShardKeys(deps, async ({ shard, kind }, name) => {
    if (shard < deps.target.shards.length) return 0;
    const removed = await deps.redis.unlink(name);
    return KEY_KINDS[kind].step === 'merged' ? 0 : removed;
  });
}

function refuseRunning(running: readonly string[]): void {
  if (running.length === 0) return;
  throw new ConfigError(
    `Something works on this Redis: ${running.join(', ')}. ` +
      'Nothing was changed; stop every API and worker, and run this again.',
  );
}
