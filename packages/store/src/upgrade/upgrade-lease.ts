import { randomUUID } from 'node:crypto';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../scripts/script.ts';

/** Another process takes over after a dead one after this, in ms. */
const LEASE_MS = 10_000;
const RENEWED_EVERY_MS = 2_500;

const RENEW_LUA = /* lua */ `
-- Renew or end a lease, unless another process has it.
-- KEYS[1] lease (string)
-- ARGV[1] its holder   ARGV[2] how long it lasts from now (ms); 0: it ends
-- Returns 1 when it was held, else 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/**
 * Takes the lease under which one process takes data over, so that processes don't do the same work. A process that
 * loses it unnoticed does no harm: several processes may run every step at once.
 * @returns undefined when another process has it
 */
export async function takeUpgradeLease(redis: RedisClient) {
  const [key, token] = [GLOBAL_KEYS.upgrade, randomUUID()];
  if ((await redis.set(key, token, 'PX', LEASE_MS, 'NX')) === null) return undefined;
  // When Redis is away, the steps fail, too.
  const script = defineScript(redis, RENEW_LUA);
  const renew = (ms: number) => script([key], [token, ms]).catch(() => undefined);
  const timer = setInterval(() => void renew(LEASE_MS), RENEWED_EVERY_MS);
  return {
    async release(): Promise<void> {
      clearInterval(timer);
      await renew(0);
    },
  };
}
