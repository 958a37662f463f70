import type { Finding } from '@herald/runtime/findings/finding';

/** Whether Redis may throw away what was accepted, by what `INFO memory` says. */
export function judgeEviction(memory: ReadonlyMap<string, string>): Finding[] {
  const policy = memory.get('maxmemory_policy');
  if (policy === undefined || policy === 'noeviction') return [];
  return [
    {
      level: 'error',
      code: 'eviction_policy',
      sentence: `Redis throws data away when it is full (maxmemory-policy ${policy}); set maxmemory-policy noeviction`,
    },
  ];
}
