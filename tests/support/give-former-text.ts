import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { digestApiKey, newPortalToken } from '../../packages/store/src/access/api-key-store.ts';

/** Gives a key a text as releases up to 0.2.0 make and know them: without its id. Returns that text. */
export async function giveFormerText(redis: RedisClient, keyId: string): Promise<string> {
  const key = newPortalToken().replace('hrlp_', 'hrld_');
  const { lookUp, proof } = digestApiKey(key);
  const known = (await redis.hget(GLOBAL_KEYS.apiKeyIndex, keyId)) ?? '';
  const fields = await redis.hgetall(GLOBAL_KEYS.apiKey(known));
  await redis.hset(GLOBAL_KEYS.apiKey(lookUp), { ...fields, proof });
  await redis.hset(GLOBAL_KEYS.apiKeyIndex, keyId, lookUp);
  await redis.del(GLOBAL_KEYS.apiKey(known));
  if (!(await createApiKeyStore({ redis, now: Date.now }).find(key))) throw new Error('it was written just now');
  return key;
}
