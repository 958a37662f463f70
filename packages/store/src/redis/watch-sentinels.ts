import { Redis, type RedisOptions } from 'ioredis';
import { oneAtATime } from '@herald/runtime/async/one-at-a-time';
import type { RedisTarget } from '../server/redis-target.ts';

type SentinelTarget = Extract<RedisTarget, { kind: 'sentinel' }>;

/** How often each Sentinel is asked which server is the master, in ms. */
const ASK_EVERY_MS = 1_000;

/**
 * Asks every Sentinel for the master's address, and calls `onSwitch` each time when one of them names another than
 * before: the failover is over, and a connection to the old master may still look sound. Sentinels learn of a failover
 * one after the other, so a connection made meanwhile may have asked one that lagged behind. The questions also show
 * that the connections to Sentinels live.
 * @param options settings of connections to Sentinels, credentials included
 * @returns what ends the watch
 */
export function watchSentinels(
  { sentinels, masterName }: SentinelTarget,
  options: Omit<RedisOptions, 'replyMapping'>,
  onSwitch: () => void,
): () => void {
  const watches = sentinels.map((address) => {
    const client = new Redis({ ...options, ...address });
    client.on('error', () => undefined); // it tries again; the service needs one Sentinel that answers
    let named: string | undefined;
    const ask = oneAtATime(async () => {
      // Without an answer the connection broke, and is made again.
      const reply: unknown = await client
        .call('SENTINEL', 'get-master-addr-by-name', masterName)
        .catch(() => undefined);
      const found = Array.isArray(reply) ? reply.join(':') : named;
      if (named !== undefined && named !== found) onSwitch();
      named = found;
    });
    void ask();
    return { client, timer: setInterval(() => void ask(), ASK_EVERY_MS) };
  });
  return () => {
    for (const { client, timer } of watches) {
      clearInterval(timer);
      client.disconnect();
    }
  };
}
