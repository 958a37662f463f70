import { error, type Finding } from '@herald/runtime/findings/finding';

/** Whether Redis may evict what was accepted, by its `INFO memory`. */
export function judgeEviction(memory: ReadonlyMap<string, string>): Finding[] {
  const policy = memory.get('maxmemory_policy');
  if (policy === undefined || policy === 'noeviction') return [];
  const sentence = `Redis throws data away when it is full (maxmemory-policy ${policy}); set maxmemory-policy noeviction`;
  return [error('eviction_policy', sentence)];
}
