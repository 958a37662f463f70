import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import type { AwaitCopies } from './await-copies.ts';
import { readKeyName } from './key-name.ts';
import { ENQUEUE_PENDING_LUA } from './enqueue-pending-script.ts';

export type EnqueuePendingDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly awaitCopies: AwaitCopies;
  readonly onProgress: (looked: number, total: number) => void;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Deliveries that one script looks at: Redis does nothing else meanwhile. */
const PAGE = 200;

const Reply = z.tuple([z.number(), z.string()]);

/**
 * Walks all delivery records, and enqueues each that is pending, or has a pending redelivery, and is neither waiting nor in work. The record
 * says when it is due, and whether it was replayed and not tried since: then it is background again. Each step is complete in itself, so
 * a walk that is killed is completed by another; workers may work meanwhile.
 * @returns deliveries enqueued
 */
export async function enqueuePending(deps: EnqueuePendingDeps): Promise<number> {
  const { redis, keyspace, onProgress } = deps;
  let enqueued = 0;
  for await (const { names, looked, total } of walkKeys(redis, '{*}:d:*')) {
    const keys = names.flatMap((name) => readKeyName(name) ?? []).filter(({ kind }) => kind === 'delivery');
    const counts = await Promise.all(
      [...Map.groupBy(keys, ({ shard }) => shard)].map(async ([shard, all]) => {
        const shardKeys = keyspace.shards[shard];
        return shardKeys
          ? await enqueueIn(
              deps,
              shardKeys,
              all.map(({ id }) => id),
            )
          : 0;
      }),
    );
    for (const count of counts) enqueued += count;
    onProgress(looked, total);
  }
  return enqueued;
}

async function enqueueIn(
  { redis, awaitCopies, now }: EnqueuePendingDeps,
  keys: ShardKeys,
  ids: readonly string[],
): Promise<number> {
  let enqueued = 0;
  for (let start = 0; start < ids.length; start += PAGE) {
    const page = ids.slice(start, start + PAGE);
    const records = page.map(keys.delivery);
    // In full each time: it is rarely run, and on connections that others use.
    const reply = await redis.eval(ENQUEUE_PENDING_LUA, page.length, ...records, keys.prefix, now(), ...page);
    const [count, group] = Reply.parse(reply);
    if (count > 0) await awaitCopies([keys.queue.waiting(group)]);
    enqueued += count;
  }
  return enqueued;
}
