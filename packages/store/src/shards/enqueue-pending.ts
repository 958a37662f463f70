import { z } from 'zod';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import { defineScript } from '../scripts/script.ts';
import type { AwaitCopies } from './await-copies.ts';
import { ENQUEUE_PENDING_LUA } from './enqueue-pending-script.ts';
import { readKeyName } from './key-name.ts';

export type EnqueuePendingDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly awaitCopies?: AwaitCopies;
  readonly onProgress?: (looked: number, total: number) => void;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Deliveries of one script: Redis does nothing else meanwhile. */
const PAGE = 200;

const Reply = z.tuple([z.number(), z.string()]);

/**
 * Walks all delivery records, and enqueues each delivery that is pending or has a pending redelivery, and is neither
 * waiting nor in work. The record says when it is due, and whether it is background again: it was replayed, and not
 * tried since. Each step is complete in itself, so another walk completes one that was killed. Workers may work
 * meanwhile.
 * @returns deliveries enqueued
 */
export async function enqueuePending(deps: EnqueuePendingDeps): Promise<number> {
  const { redis, keyspace, onProgress } = deps;
  let enqueued = 0;
  for await (const { names, looked, total } of walkKeys(redis, '{*}:d:*')) {
    const deliveries = names.flatMap((name) => readKeyName(name) ?? []).filter(({ kind }) => kind === 'delivery');
    const counts = await Promise.all(
      keyspace.shards.map((keys, index) => {
        const ids = deliveries.filter(({ shard }) => shard === index).map(({ id }) => id);
        return enqueueIn(deps, keys, ids);
      }),
    );
    for (const count of counts) enqueued += count;
    onProgress?.(looked, total);
  }
  return enqueued;
}

async function enqueueIn(deps: EnqueuePendingDeps, keys: ShardKeys, ids: readonly string[]): Promise<number> {
  const { redis, awaitCopies, now } = deps;
  const enqueue = defineScript(redis, ENQUEUE_PENDING_LUA);
  let enqueued = 0;
  for (let start = 0; start < ids.length; start += PAGE) {
    const page = ids.slice(start, start + PAGE);
    const reply = await enqueue(page.map(keys.delivery), [keys.prefix, now(), ...page]);
    const [count, group] = Reply.parse(reply);
    if (count > 0) await awaitCopies?.([keys.queue.waiting(group)]);
    enqueued += count;
  }
  return enqueued;
}
