import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { readInfo } from '../redis/read-info.ts';

/** Share of `maxmemory` from which the workspaces that hold the most are refused. */
export const CROWDED_SHARE = 0.85;
/** From here on all are: the rest is left for what ends, frees or controls. */
export const RESERVED_SHARE = 0.95;

/** What a master says of its memory. */
export type MasterMemory = {
  readonly usedBytes: number;
  /** 0: it has no limit. */
  readonly limitBytes: number;
  /** What it does when it is full. */
  readonly policy: string | undefined;
};

/**
 * The memory of each master; undefined where one doesn't tell. Reads `INFO memory` alone: a user that may read it need
 * not be allowed to read settings.
 */
export async function readMemory(redis: RedisClient): Promise<readonly (MasterMemory | undefined)[]> {
  const infos = await Promise.all(mastersOf(redis).map((master) => readInfo(master, 'memory')));
  return infos.map(
    (info) =>
      info && {
        usedBytes: Number(info.get('used_memory') ?? 0),
        limitBytes: Number(info.get('maxmemory') ?? 0),
        policy: info.get('maxmemory_policy'),
      },
  );
}

/** The share of its memory that a master uses; 0 where it has no limit, or doesn't tell. */
export function shareOf(memory: MasterMemory | undefined): number {
  return memory === undefined || memory.limitBytes === 0 ? 0 : memory.usedBytes / memory.limitBytes;
}
