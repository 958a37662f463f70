import { createAuditTrail, type AuditTrail } from '@herald/store/access/audit-trail';
import { createKeyspace } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';

/** The audit trail of a service, to read. */
export function auditTrailOf({ redis }: { readonly redis: RedisClient }, shardCount = 1): AuditTrail {
  return createAuditTrail({ redis, keyspace: createKeyspace(shardCount), length: 10_000, now: Date.now });
}
