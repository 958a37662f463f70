import { warning } from '@herald/runtime/findings/finding';
import { GLOBAL_KEYS } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';

/** How long the finding stays after the last request that shows it, in ms. */
export const UNTRUSTED_PROXY_KEPT_MS = 300_000;

/** The page is open to everybody: the sentence names no address. */
export const PROXY_NOT_TRUSTED = warning(
  'proxy_not_trusted',
  'requests come with X-Forwarded-For or Forwarded, and TRUST_PROXY is 0: all callers behind a proxy share its address, ' +
    'and with it the limits of wrong keys and sign-ins; set TRUST_PROXY to the number of your proxies that add to ' +
    'X-Forwarded-For, or, if there is none in front, let nobody reach the port who sends such headers',
);

/** Set by APIs that get such requests, for `herald doctor`. Expires some minutes after the last of them. */
export function createUntrustedProxyMark(redis: RedisClient) {
  const key = GLOBAL_KEYS.untrustedProxy;
  return {
    async set(): Promise<void> {
      await redis.set(key, '1', 'PX', UNTRUSTED_PROXY_KEPT_MS);
    },
    isThere: async () => (await redis.exists(key)) === 1,
  };
}
export type UntrustedProxyMark = ReturnType<typeof createUntrustedProxyMark>;
