import { UnavailableError, WorkspaceFullError, type DomainError, type WorkspaceId } from '@herald/core';
import { oneAtATime } from '@herald/runtime/async';
import { everyBeat } from '@herald/runtime/beat';
import type { RedisClient } from '../redis/connect-redis.ts';
import { CROWDED_SHARE, readMemory, RESERVED_SHARE, shareOf } from '../redis/read-info.ts';
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
 * @param largest of all workspaces, largest first
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

/** Keeps looking how full Redis is, and which workspaces must wait for that. */
export function startMemoryGuard({
  redis,
  accounts,
}: {
  readonly redis: RedisClient;
  readonly accounts: WorkspaceAccounts;
}) {
  let share = 0;
  let refused: ReadonlySet<WorkspaceId> = new Set();
  const look = oneAtATime(async () => {
    share = Math.max(0, ...(await readMemory(redis)).map(shareOf)); // of the fullest master
    refused = share < CROWDED_SHARE ? new Set() : chooseRefused(share, await accounts.largest(LOOKED_AT));
  });
  // While Redis is away nothing is written, and what is known holds.
  const stop = everyBeat(LOOK_EVERY_MS, () => void look().catch(() => undefined));
  const findRefusal: FindRefusal = (workspaceId) => {
    if (share >= RESERVED_SHARE)
      return new UnavailableError('the store is nearly full, and takes only what ends or frees something; try again');
    return refused.has(workspaceId) ? new WorkspaceFullError('memory') : undefined;
  };
  return { findRefusal, stop };
}
