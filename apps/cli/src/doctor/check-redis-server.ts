import { checkRedis } from '@herald/store/requirements/check-redis';
import { createRedisProbe } from '@herald/store/readiness/create-redis-probe';
import type { Herald } from '../context/open-herald.ts';
import type { Check } from './check.ts';

/** The server itself: what a process says of it at its start, and what makes it not ready. */
export async function checkRedisServer({ config, redis }: Pick<Herald, 'config' | 'redis'>): Promise<Check> {
  const settings = await checkRedis(redis, {
    target: config.redis,
    minReplicas: config.minReplicas,
    shardCount: config.shardCount,
    wallClock: Date.now,
  });
  // What is wrong already would only show once more, in words for strangers.
  const probe = settings.some(({ level }) => level === 'error') ? [] : await createRedisProbe(redis)();
  const known = new Set(settings.map(({ code }) => code));
  return {
    name: 'redis',
    findings: [...settings, ...probe.filter(({ code }) => !known.has(code))],
    well: 'it takes writes, keeps them on disk and throws nothing away; versions and clocks agree',
  };
}
