import type { WorkspaceId } from '@herald/core';
import { createGroupReader, type GroupState } from '@herald/queue';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keys/keys.ts';
import { defineScript } from '../redis/script.ts';

export type GroupReadersDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace; readonly now: () => number };

/** Reads the groups of the queue in each shard, by the shard's keys. */
export function createGroupReaders({ redis, keyspace, now }: GroupReadersDeps) {
  const define = (_name: string, lua: string) => defineScript(redis, lua);
  return new Map(
    keyspace.shards.map((keys) => [keys, createGroupReader({ prefix: keys.prefix, defineScript: define, now })]),
  );
}

/** An endpoint's group in the queue; undefined when nothing waits in it and nothing is known of it. */
export type GroupHealth = GroupState | undefined;

/** Finds these groups, in their order. */
export function createFindGroups(deps: GroupReadersDeps) {
  const readers = createGroupReaders(deps);
  return (groups: readonly { readonly workspaceId: WorkspaceId; readonly group: string }[]) =>
    Promise.all(
      groups.map(
        async ({ workspaceId, group }): Promise<GroupHealth> =>
          await readers.get(deps.keyspace.of(workspaceId))?.find(group),
      ),
    );
}
export type FindGroups = ReturnType<typeof createFindGroups>;
