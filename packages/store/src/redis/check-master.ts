import type { Redis } from 'ioredis';
import { error, warning, type Finding } from '@herald/runtime/finding';
import { CROWDED_SHARE, readInfo, readSetting, RESERVED_SHARE, shareOf, type MasterMemory } from './read-info.ts';

/** Whether the server is a master. A replica loses what is written to it, even where it takes writes. */
export async function checkRole(redis: Redis): Promise<Finding[]> {
  const replication = await readInfo(redis, 'replication');
  if (replication?.get('role') !== 'slave') return [];
  const master = `${replication.get('master_host') ?? '?'}:${replication.get('master_port') ?? '?'}`;
  const sentence = `Redis is a replica, and what is written to it doesn't last; set REDIS_URL to its master (${master}), or make it one with REPLICAOF NO ONE`;
  return [error('redis_replica', sentence)];
}

/** Finds what a master of Redis would lose in a crash, and snapshots that it writes although nobody reads them. */
export async function checkPersistence(redis: Redis): Promise<Finding[]> {
  const info = await readInfo(redis, 'persistence');
  if (!info) return [cannotTell('persistence', 'INFO persistence')];
  const failed = info.get('rdb_last_bgsave_status') === 'err' ? [SNAPSHOT_FAILED] : [];
  const snapshots = await readSetting(redis, 'save');
  if (info.get('aof_enabled') === '1') return [...failed, ...(snapshots ? [snapshotsOn(snapshots)] : [])];
  if (snapshots === undefined)
    return [...failed, cannotTell('persistence', 'CONFIG GET save'), aofOff('The AOF is off')];
  if (snapshots !== '') return [...failed, aofOff(`Redis keeps snapshots alone (save ${snapshots})`)];
  const sentence =
    'Redis keeps nothing on disk: a restart of it loses every accepted transition; set appendonly yes and appendfsync everysec';
  return [...failed, warning('persistence_off', sentence)];
}

const SNAPSHOT_FAILED = warning(
  'snapshot_failed',
  "Redis couldn't write its last snapshot: it refuses all writes meanwhile if it saves by itself; make room on its disk, or memory for the fork, and run BGSAVE",
);

function snapshotsOn(rules: string): Finding {
  const sentence = `Redis writes snapshots (save ${rules}) beside the append-only file: each is a fork and all of the data to disk, for a file that no start reads, and one that fails stops all writes; set save ''`;
  return warning('snapshots_on', sentence);
}

function aofOff(fact: string): Finding {
  return warning('aof_off', `${fact}: a crash of Redis loses minutes; set appendonly yes and appendfsync everysec`);
}

/** For what a server doesn't tell. */
export function cannotTell(what: string, command: string): Finding {
  const sentence = `Redis refuses ${command}, so its ${what} can't be checked; allow the command, or see to it yourself`;
  return warning(`${what}_unknown`, sentence);
}

const MIB = 1_048_576;

/** What is wrong with the memory of a master: what it does when it is full, and how near that is. */
export function judgeMemory(memory: MasterMemory): Finding[] {
  return [...judgePolicy(memory), ...judgeLimit(memory), ...judgeShare(memory)];
}

function judgePolicy({ policy }: MasterMemory): Finding[] {
  if (policy === undefined || policy === 'noeviction') return [];
  const sentence = `Redis throws data away when it is full (maxmemory-policy ${policy}); set maxmemory-policy noeviction`;
  return [error('eviction_policy', sentence)];
}

function judgeLimit({ limitBytes }: MasterMemory): Finding[] {
  if (limitBytes > 0) return [];
  const sentence =
    'Redis has no memory limit: full, it is killed by the system instead of refusing writes; set maxmemory below what the machine has';
  return [warning('maxmemory_unset', sentence)];
}

function judgeShare(memory: MasterMemory): Finding[] {
  const share = shareOf(memory);
  if (share < CROWDED_SHARE) return [];
  const [used, limit] = [memory.usedBytes, memory.limitBytes].map((bytes) => Math.round(bytes / MIB));
  const refused = share < RESERVED_SHARE ? 'the workspaces that hold the most are' : 'every workspace is';
  const sentence = `Redis uses ${used} of ${limit} MiB: ${refused} refused; raise maxmemory, or purge what "herald queues --by-workspace" shows`;
  // Not an error: what ends or frees something goes on, and so do the pages of operators.
  return [warning('redis_nearly_full', sentence)];
}
