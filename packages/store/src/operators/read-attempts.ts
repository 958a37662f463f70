import type { DeliveryId } from '@herald/core';
import type { AttemptRecord } from '../deliveries/delivery-record.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../keyspace/keys.ts';

/** A delivery's attempts, oldest first, whosever it is. */
export async function readAttempts(
  redis: RedisClient,
  keys: ShardKeys,
  id: DeliveryId,
): Promise<readonly AttemptRecord[]> {
  return (await redis.lrange(keys.attempts(id), 0, -1)).map((text) => JSON.parse(text) as AttemptRecord);
}
