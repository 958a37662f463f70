import { PLATFORM } from '@herald/core';
import { EXPRESS_MARK } from '@herald/queue';
import type { RedisClient } from '../redis/connect-redis.ts';
import { KEY_KINDS, type KeyName } from '../keys/key-name.ts';

/**
 * Deletes a key that says only where deliveries stand in the queue; they can be made anew from the records. What is known
 * of an endpoint stays, such as an open breaker, but not that of a receiver that was removed: no record leads to it.
 * @returns true for a key of the queue
 */
export async function forgetPlace(redis: RedisClient, kind: KeyName['kind'], id: string, name: string) {
  const isRemoved = kind === 'group' && id.startsWith('wh') && (await redis.exists(endpointOf(name))) === 0;
  const isEndpoint = id !== PLATFORM && !id.startsWith(EXPRESS_MARK) && !isRemoved;
  if (KEY_KINDS[kind].step === 'rebuilt' || (kind === 'group' && !isEndpoint)) await redis.unlink(name);
  else if (kind === 'group') await redis.hdel(name, 'p', 'n');
  // The number of waiting deliveries.
  else if (kind === 'settings') await redis.hdel(name, 'n');
  else return false;
  return true;
}

/** The record beside the group of a receiver. */
function endpointOf(group: string): string {
  return group.replace('}:g:', '}:e:');
}
