import { deliveryIdOf, transitionIdOfFact, type DeliveryId, type TaskId } from '@herald/core';
import { readFactValue } from '../keyspace/fact-value.ts';
import type { ShardKeys } from '../keyspace/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { isAfter, type ListPlace } from './log-reader.ts';

/** A fact that emitted, by its key. */
type EmittedFact = { readonly key: string; readonly sequence: number };

/** The facts of a Task that emitted, newest first: those before this sequence. */
export async function readEmittedFacts(redis: RedisClient, keys: ShardKeys, taskId: TaskId, beforeSequence = Infinity) {
  return Object.entries(await redis.hgetall(keys.facts(taskId)))
    .map(([key, value]): EmittedFact => ({ key, sequence: readFactValue(value).sequence }))
    .filter(({ sequence }) => sequence > 0 && sequence < beforeSequence)
    .sort((a, b) => b.sequence - a.sequence);
}

/** The deliveries of a fact's transition; none when it is no longer kept. */
export async function readDeliveryIds(redis: RedisClient, keys: ShardKeys, taskId: TaskId, { key }: EmittedFact) {
  const transitionId = transitionIdOfFact(taskId, key);
  const endpoints = transitionId && (await redis.hget(keys.transition(transitionId), 'eps'));
  if (!endpoints) return [];
  return endpoints.split(',').map((endpointId): DeliveryId => deliveryIdOf(transitionId, endpointId));
}

/**
 * Reads a Task's deliveries, newest transition first, from a place on. Each entry is a sequence and the id of a
 * delivery. It looks at no more facts than a Task can have.
 */
export function createTaskReader(redis: RedisClient, keys: ShardKeys, taskId: TaskId, after?: ListPlace) {
  let facts: EmittedFact[] | undefined;
  const unread: ListPlace[] = [];
  const readFact = async (fact: EmittedFact) => {
    const ids = await readDeliveryIds(redis, keys, taskId, fact);
    return ids.sort((a, b) => (a < b ? 1 : -1)).map((id): ListPlace => ({ at: fact.sequence, id }));
  };
  /** The next entries; fewer than `count` are the last ones. */
  return async function next(count: number): Promise<ListPlace[]> {
    facts ??= await readEmittedFacts(redis, keys, taskId, after && after.at + 1);
    while (unread.length < count && facts.length > 0) {
      const entries = await Promise.all(facts.splice(0, count).map(readFact));
      unread.push(...entries.flat().filter((entry) => !after || isAfter(entry, after)));
    }
    return unread.splice(0, count);
  };
}
