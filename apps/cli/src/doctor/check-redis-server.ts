import { checkRedis, createRedisProbe } from '@herald/infra';
import type { Herald } from '../open-herald.ts';
import type { Check } from './check.ts';

/** The server itself: what a process says of it at its start, and what makes it not ready. */
export async function checkRedisServer({
  config,
  redis,
  now,
}: Pick<Herald, 'config' | 'redis' | 'now'>): Promise<Check> {
  const [settings, probe] = [
    await checkRedis(redis, {
      isClusterExpected: config.redis.kind === 'cluster',
      minReplicas: config.minReplicas,
      now,
    }),
    await createRedisProbe(redis)(),
  ];
  const known = new Set(settings.map(({ code }) => code));
  return {
    name: 'redis',
    findings: [...settings, ...probe.filter(({ code }) => !known.has(code))],
    well: 'it takes writes, keeps them on disk and throws nothing away; versions and clocks agree',
  };
}
