import { TaskStatus, type WorkspaceId } from '@herald/core';
import type { ShardKeys } from '@herald/store/keyspace/keys';
import { readScoredIds } from '@herald/store/keyspace/scored-ids';
import type { KindsOf } from '@herald/store/keyspace/key-name';
import { keyInShard, type MoveDeps } from './move-records.ts';
import type { Owners } from './owners.ts';

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
export async function splitIndexes(deps: MoveDeps, from: ShardKeys): Promise<number> {
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
