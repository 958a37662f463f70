import { randomUUID } from 'node:crypto';
import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';

/** A process that dies is followed by another after so long, in ms. */
const LEASE_MS = 10_000;
const RENEWED_EVERY_MS = 2_500;

const RENEW_LUA = /* lua */ `
-- Let a lease last longer, or end it, if it is still this one's.
-- KEYS[1] lease (string)
-- ARGV[1] who holds it   ARGV[2] how long it lasts from now (ms); 0: it ends
-- Returns 1 when it was held, else 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

export type UpgradeLease = { readonly release: () => Promise<void> };

/**
 * The right to take data over, so that processes don't do the same work. No more than that: who has lost it without noticing does no harm,
 * since every step may be done by several at once.
 * @returns undefined when another process has it
 */
export async function takeUpgradeLease(redis: RedisClient): Promise<UpgradeLease | undefined> {
  const [key, token] = [GLOBAL_KEYS.upgrade, randomUUID()];
  if ((await redis.set(key, token, 'PX', LEASE_MS, 'NX')) === null) return undefined;
  const renew = (ms: number) => redis.eval(RENEW_LUA, 1, key, token, ms);
  const timer = setInterval(() => {
    // Redis is away: then the steps fail, too.
    renew(LEASE_MS).catch(() => undefined);
  }, RENEWED_EVERY_MS);
  return {
    async release() {
      clearInterval(timer);
      await renew(0).catch(() => undefined);
    },
  };
}
