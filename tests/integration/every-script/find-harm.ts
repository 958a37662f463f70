import { deliveryIdOf, transitionIdOfFact } from '@herald/core';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { readFactValue } from '@herald/store/keyspace/fact-value';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { findFaults, idOf, readQueue } from '../queue/read-queue.ts';

/**
 * What is wrong in the first shard of a Redis, as sentences: in the queue, and with what was promised. A fact that a
 * Task knows has its transition, a transition has its deliveries, and each that is pending is in the queue.
 * @param hasHistory what has settled may have left
 */
export async function findHarm(redis: RedisClient, hasHistory = false): Promise<readonly string[]> {
  const [keys] = createKeyspace(1).shards;
  if (!keys) throw new Error('there is always a first shard');
  const { prefix, queue } = keys;
  const harm = [...(await findFaults({ redis, keys: queue }))];
  const groups = await readQueue({ redis, keys: queue });
  const queued = new Set(
    [...groups.values()].flatMap(({ waiting, leases }) => [...waiting.keys(), ...leases.map(idOf)]),
  );
  const facts = hasHistory ? [] : await redis.keys(`${prefix}t:*:facts`);
  for (const key of facts) {
    const taskId = key.slice(prefix.length + 2, -':facts'.length);
    for (const [fact, value] of Object.entries(await redis.hgetall(key))) {
      const id = readFactValue(value).sequence > 0 ? transitionIdOfFact(taskId, fact) : undefined;
      if (id !== undefined && (await redis.exists(keys.transition(id))) === 0)
        harm.push(`${fact} is known, and has no transition`);
    }
  }
  for (const key of await redis.keys(`${prefix}x:*`)) {
    const id = key.slice(prefix.length + 2);
    const { eps, open } = await redis.hgetall(key);
    let pending = 0;
    for (const endpointId of eps?.split(',') ?? []) {
      const delivery = deliveryIdOf(id, endpointId);
      const { s: status, owe } = await redis.hgetall(keys.delivery(delivery));
      if (status === undefined && !hasHistory) harm.push(`${id} has no delivery to ${endpointId}`);
      if (status === 'pending') pending++;
      if ((status === 'pending' || owe !== undefined) && !queued.has(delivery)) harm.push(`${delivery} waits nowhere`);
    }
    if (open !== undefined && Number(open) !== pending) harm.push(`${id} counts ${open} pending and has ${pending}`);
  }
  return harm;
}
