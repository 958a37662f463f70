import type { Delivery, DeliveryId } from '@herald/core';
import type { ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';

/** What an ordered delivery waits for: the first of its line. Undefined when nothing but time keeps it. */
export async function findWaitingFor(
  redis: RedisClient,
  keys: ShardKeys,
  delivery: Delivery,
): Promise<DeliveryId | undefined> {
  const { id, endpointId, taskId } = delivery;
  if (!mayWaitForTurn(delivery) || taskId === undefined) return undefined;
  const [first] = await redis.zrange(keys.line(endpointId, taskId), 0, '0');
  return first === id ? undefined : first;
}

/** One that has been tried goes by its schedule, and a pending redelivery goes at once. */
function mayWaitForTurn({ place, status, tries, owedAttempts }: Delivery): boolean {
  return place !== undefined && status === 'pending' && tries === 0 && owedAttempts === 0;
}
