import type { Redis } from 'ioredis';
import type { Finding } from '@herald/runtime/findings/finding';
import { readInfo } from '../redis/read-info.ts';

/** Whether it is a server that keeps what it is given: a replica throws away what it was given, even where it takes it. */
export async function checkRole(redis: Redis): Promise<Finding[]> {
  const replication = await readInfo(redis, 'replication');
  if (replication?.get('role') !== 'slave') return [];
  const master = `${replication.get('master_host') ?? '?'}:${replication.get('master_port') ?? '?'}`;
  return [
    {
      level: 'error',
      code: 'redis_replica',
      sentence: `Redis is a replica, and what is written to it doesn't last; set REDIS_URL to its master (${master}), or make it one with REPLICAOF NO ONE`,
    },
  ];
}
