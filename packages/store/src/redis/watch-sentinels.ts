import { Redis, type RedisOptions } from 'ioredis';
import type { RedisTarget } from '../server/redis-target.ts';

type SentinelTarget = Extract<RedisTarget, { kind: 'sentinel' }>;

/** How often each Sentinel is asked which server is the master, in ms. */
const ASK_EVERY_MS = 1_000;

/**
 * Asks every Sentinel for the master's address, and tells each time when one of them names another than it did: the failover is
 * over, and a connection to the old master may still look sound. Sentinels learn of a failover one after the other, and a
 * connection that was made meanwhile may have asked one that lagged behind. Asking also shows that the connection to the Sentinel lives.
 * @param options settings of connections to Sentinels, credentials included
 */
export function watchSentinels(
  { sentinels, masterName }: SentinelTarget,
  options: Omit<RedisOptions, 'replyMapping'>,
  onSwitch: () => void,
): { readonly close: () => void } {
  const clients = sentinels.map(({ host, port }) => {
    const client = new Redis({ ...options, host, port });
    client.on('error', () => undefined); // it tries again; the service needs one Sentinel that answers
    let named: string | undefined;
    let isAsked = false;
    const ask = async () => {
      if (isAsked) return;
      isAsked = true;
      try {
        const reply: unknown = await client.call('SENTINEL', 'get-master-addr-by-name', masterName);
        const address = Array.isArray(reply) ? reply.join(':') : named;
        if (named !== undefined && named !== address) onSwitch();
        named = address;
      } catch {
        // The connection broke, and is made again.
      }
      isAsked = false;
    };
    void ask();
    return { client, timer: setInterval(() => void ask(), ASK_EVERY_MS) };
  });
  return {
    close() {
      for (const { client, timer } of clients) {
        clearInterval(timer);
        client.disconnect();
      }
    },
  };
}
