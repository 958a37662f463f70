import { isErrorLike } from '@herald/runtime/errors';
import { mastersOf, type RedisClient } from './connect-redis.ts';

/** The names and values of a section of `INFO`; undefined where the user may not read it. */
export async function readInfo(redis: RedisClient, section: string): Promise<ReadonlyMap<string, string> | undefined> {
  const text = await ifPermitted(redis.info(section));
  if (text === undefined) return undefined;
  const lines = text.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

/** A setting of the server; undefined where the user may not read it, or the server doesn't have it. */
export async function readSetting(redis: RedisClient, name: string): Promise<string | undefined> {
  const reply = await ifPermitted(redis.config('GET', name));
  return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : undefined;
}

/** A reply; undefined where a managed server or an access list refuses the command, by NOPERM or as an unknown one. */
export async function ifPermitted<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply;
  } catch (error) {
    if (isErrorLike(error) && /^(NOPERM|ERR unknown command|ERR command not allowed)/i.test(error.message)) {
      return undefined;
    }
    throw error;
  }
}

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
  return await Promise.all(mastersOf(redis).map(readMemoryOf));
}

/** The same of one master. */
export async function readMemoryOf(master: RedisClient): Promise<MasterMemory | undefined> {
  const info = await readInfo(master, 'memory');
  return (
    info && {
      usedBytes: Number(info.get('used_memory') ?? 0),
      limitBytes: Number(info.get('maxmemory') ?? 0),
      policy: info.get('maxmemory_policy'),
    }
  );
}

/** The share of its memory that a master uses; 0 where it has no limit, or doesn't tell. */
export function shareOf(memory: MasterMemory | undefined): number {
  return memory === undefined || memory.limitBytes === 0 ? 0 : memory.usedBytes / memory.limitBytes;
}
