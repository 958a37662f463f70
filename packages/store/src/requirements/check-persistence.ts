import type { Redis } from 'ioredis';
import { warning, type Finding } from '@herald/runtime/findings/finding';
import { readInfo, readSetting } from '../redis/read-info.ts';

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
