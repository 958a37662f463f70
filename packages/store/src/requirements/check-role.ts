import type { Redis } from 'ioredis';
import { error, type Finding } from '@herald/runtime/findings/finding';
import { readInfo } from '../redis/read-info.ts';

/** Whether the server is a master. A replica loses what is written to it, even where it takes writes. */
export async function checkRole(redis: Redis): Promise<Finding[]> {
  const replication = await readInfo(redis, 'replication');
  if (replication?.get('role') !== 'slave') return [];
  const master = `${replication.get('master_host') ?? '?'}:${replication.get('master_port') ?? '?'}`;
  const sentence = `Redis is a replica, and what is written to it doesn't last; set REDIS_URL to its master (${master}), or make it one with REPLICAOF NO ONE`;
  return [error('redis_replica', sentence)];
}
