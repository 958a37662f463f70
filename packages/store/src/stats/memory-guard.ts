import { UnavailableError, WorkspaceFullError, type DomainError, type WorkspaceId } from '@herald/core';
import { oneAtATime } from '@herald/runtime/async';
import { everyBeat } from '@herald/runtime/beat';
import type { Redis } from 'ioredis';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { findMaster } from '../redis/find-master.ts';
import { CROWDED_SHARE, readMemoryOf, RESERVED_SHARE, shareOf } from '../redis/read-info.ts';
import type { WorkspaceAccount, WorkspaceAccounts, WorkspaceLimits } from './workspace-accounts.ts';

/** Workspaces that are looked at: more than these hold little. */
const LOOKED_AT = 1_000;
const LOOK_EVERY_MS = 1_000;

/** Why a workspace may not write more now; undefined while it may. No I/O. */
export type FindRefusal = (workspaceId: WorkspaceId) => DomainError | undefined;

/** What bounds whatever adds to a workspace. Default: nothing does. */
export type RoomDeps = {
  /** Of each workspace. */
  readonly limits?: WorkspaceLimits;
  readonly findRefusal?: FindRefusal;
};

/**
 * The workspaces that are refused: those that hold the most, largest first, as many as hold together so much of all as
 * Redis is on its way from crowded to reserved.
 * @param share of its memory that a master uses
 * @param largest of the workspaces on that master, largest first
 */
export function chooseRefused(share: number, largest: readonly WorkspaceAccount[]): ReadonlySet<WorkspaceId> {
  const refused = new Set<WorkspaceId>();
  if (share < CROWDED_SHARE) return refused;
  const all = largest.reduce((sum, { bytes }) => sum + bytes, 0);
  const mostBytes = (all * (share - CROWDED_SHARE)) / (RESERVED_SHARE - CROWDED_SHARE);
  let bytes = 0;
  for (const account of largest) {
    if (refused.size > 0 && bytes >= mostBytes) break;
    refused.add(account.workspaceId);
    bytes += account.bytes;
  }
  return refused;
}

/**
 * Keeps looking how full Redis is, and which workspaces must wait for that. In a cluster each master is judged by itself:
 * refusing the workspaces of another one frees nothing on it.
 */
export function startMemoryGuard({
  redis,
  keyspace,
  accounts,
}: {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly accounts: Pick<WorkspaceAccounts, 'largest'>;
}) {
  /** Of the master of each shard. */
  const shares = new Map<ShardKeys, number>();
  const refused = new Map<ShardKeys, ReadonlySet<WorkspaceId>>();
  const lookAt = async (master: Redis | undefined, shards: readonly ShardKeys[]) => {
    if (!master) return; // nobody has these slots now
    const share = shareOf(await readMemoryOf(master));
    for (const keys of shards) shares.set(keys, share);
    const largest = share < CROWDED_SHARE ? [] : await accounts.largest(LOOKED_AT, 'held', shards);
    const chosen = chooseRefused(share, largest);
    for (const keys of shards) refused.set(keys, chosen);
  };
  const look = oneAtATime(async () => {
    // Anew each time: slots move. While a master is away nothing is written to it, and what is known of it holds.
    const byMaster = Map.groupBy(keyspace.shards, ({ prefix }) => findMaster(redis, prefix));
    await Promise.allSettled([...byMaster].map(([master, shards]) => lookAt(master, shards)));
  });
  const stop = everyBeat(LOOK_EVERY_MS, () => void look());
  const findRefusal: FindRefusal = (workspaceId) => {
    const keys = keyspace.of(workspaceId);
    if ((shares.get(keys) ?? 0) >= RESERVED_SHARE)
      return new UnavailableError('the store is nearly full, and takes only what ends or frees something; try again');
    return refused.get(keys)?.has(workspaceId) ? new WorkspaceFullError('memory') : undefined;
  };
  return { findRefusal, stop };
}
