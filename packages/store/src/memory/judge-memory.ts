import { error, warning, type Finding } from '@herald/runtime/findings/finding';
import { CROWDED_SHARE, RESERVED_SHARE, shareOf, type MasterMemory } from './read-memory.ts';

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
