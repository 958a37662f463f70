import { createKeyspace } from '@herald/store/keys/keys';
import { readKeyName } from '@herald/store/keys/key-name';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { listKeys } from '../../support/start-topology.ts';

/** Where deliveries stand in the queues of all shards, by id. */
export interface Places {
  readonly waiting: ReadonlyMap<string, { readonly group: string; readonly score: number }>;
  readonly inWork: number;
  /** Groups that stand in a ring or in `later`, each as shard and name. */
  readonly known: readonly string[];
  /** Groups with waiting deliveries, likewise. */
  readonly withWaiting: readonly string[];
  /** Groups whose own state says another place, or that something is in work; shards whose count of what waits is another. */
  readonly wrong: readonly string[];
}

export async function readPlaces(redis: RedisClient): Promise<Places> {
  const waiting = new Map<string, { group: string; score: number }>();
  const [known, withWaiting, wrong]: string[][] = [[], [], []];
  const [counts, counted] = [new Map<number, number>(), new Map<number, number>()];
  const now = Date.now();
  let inWork = 0;
  const { shards } = createKeyspace(64);
  for (const name of await listKeys(redis)) {
    const key = readKeyName(name);
    const queue = key && shards[key.shard]?.queue;
    if (!queue) continue;
    if (key.kind === 'waiting') {
      withWaiting?.push(`${key.shard} ${key.id}`);
      const rows = await redis.zrange(name, 0, '-1', 'WITHSCORES');
      counts.set(key.shard, (counts.get(key.shard) ?? 0) + rows.length / 2);
      for (let index = 0; index < rows.length; index += 2) {
        const id = rows[index] ?? '';
        if (waiting.has(id)) throw new Error(`${id} waits twice`);
        const score = Number(rows[index + 1]);
        // Since when something urgent is due says the time at which it was enqueued.
        waiting.set(id, { group: key.id, score: score <= now ? 0 : score });
      }
    }
    if (key.kind === 'ready' || key.kind === 'later') {
      for (const group of await redis.zrange(name, 0, '-1')) {
        known?.push(`${key.shard} ${group}`);
        const [place, count] = await redis.hmget(queue.group(group), 'p', 'n');
        const isRight = key.kind === 'ready' ? place === key.id : place === 'l' || place === 'f';
        if (!isRight || Number(count ?? 0) !== 0) wrong?.push(`${key.shard} ${group}`);
      }
    }
    if (key.kind === 'settings') counted.set(key.shard, Number((await redis.hget(name, 'n')) ?? 0));
    if (key.kind === 'leases') inWork += await redis.zcard(name);
  }
  for (const shard of new Set([...counts.keys(), ...counted.keys()])) {
    if ((counts.get(shard) ?? 0) !== (counted.get(shard) ?? 0)) wrong?.push(String(shard));
  }
  const groups = [...new Set(withWaiting)].sort();
  return { waiting, inWork, known: known?.sort() ?? [], withWaiting: groups, wrong: wrong ?? [] };
}
