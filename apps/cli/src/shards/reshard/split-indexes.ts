import { TaskStatus, type WorkspaceId } from '@herald/core';
import { readPurgeMark } from '@herald/store/purges/purge-store';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { Keyspace, ShardKeys } from '@herald/store/keyspace/keys';
import { readScoredIds, type ScoredId } from '@herald/store/keyspace/scored-ids';
import type { AwaitCopies } from '@herald/store/shards/await-copies';
import type { KindsOf } from '@herald/store/shards/key-name';
import type { Owners } from './owners.ts';

/** Members looked at in one go. */
const PAGE = 500;

type SplitKind = KindsOf<'split'>;

/** Whose a member of an index is. */
type OwnerOf = (owners: Owners, keys: ShardKeys, id: string) => Promise<WorkspaceId | undefined>;

const MEMBERS: Record<SplitKind, OwnerOf> = {
  tasksIn: (owners, keys, id) => owners.ofRecord(keys.task(id)),
  replays: (owners, keys, id) => owners.ofRecord(keys.replay(id)),
  failed: (owners, keys, id) => owners.ofDelivery(keys, id),
  purge: (owners, keys, mark) => owners.ofEndpoint(keys, readPurgeMark(mark).endpointId),
};

type Index = { readonly key: (keys: ShardKeys) => string; readonly ownerOf: OwnerOf };
const INDEXES: readonly Index[] = Object.entries(MEMBERS).flatMap(([name, ownerOf]) => {
  const kind = name as SplitKind;
  if (kind !== 'tasksIn') return [{ key: (keys) => keys[kind], ownerOf }];
  return TaskStatus.options.map((status) => ({ key: (keys: ShardKeys) => keys.tasksIn(status), ownerOf }));
});

export type SplitIndexesDeps = {
  readonly redis: RedisClient;
  readonly target: Keyspace;
  readonly owners: Owners;
  readonly awaitCopies: AwaitCopies;
};

/**
 * Moves the members of a shard's indexes to where their workspaces are to be, with their times. Before the records move, since these
 * say whose a member is. A member that is nobody's any more stays.
 * @returns members moved
 */
export async function splitIndexes({ redis, target, owners, awaitCopies }: SplitIndexesDeps, from: ShardKeys) {
  let moved = 0;
  for (const { key, ownerOf } of INDEXES) {
    const source = key(from);
    const expiresAt = await redis.pexpiretime(source);
    for (let offset = 0; ;) {
      const page = readScoredIds(await redis.zrange(source, offset, String(offset + PAGE - 1), 'WITHSCORES'));
      if (page.length === 0) break;
      const homes = await Promise.all(
        page.map(async ({ id }) => {
          const owner = await ownerOf(owners, from, id);
          return owner === undefined ? source : key(target.of(owner));
        }),
      );
      const byHome = Map.groupBy(page.keys(), (index) => homes[index] ?? source);
      const stay = byHome.get(source)?.length ?? 0;
      byHome.delete(source);
      const leaving: ScoredId[] = [];
      for (const [home, indexes] of byHome) {
        const members = indexes.flatMap((index) => page[index] ?? []);
        await redis.zadd(home, ...members.flatMap(({ score, id }) => [score, id]));
        if (expiresAt > 0) {
          await redis.pexpireat(home, expiresAt, 'NX');
          await redis.pexpireat(home, expiresAt, 'GT');
        }
        leaving.push(...members);
      }
      await awaitCopies([...byHome.keys()]);
      if (leaving.length > 0) await redis.zrem(source, ...leaving.map(({ id }) => id));
      moved += leaving.length;
      offset += stay;
    }
  }
  return moved;
}
