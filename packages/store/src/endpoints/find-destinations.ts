import { createGroupReader, type GroupState } from '@herald/queue';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import type { EndpointRecord } from './endpoint-record.ts';

export type GroupReadersDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace; readonly now: () => number };

/** Reads the groups of the queue in each shard, by the shard's keys. */
export function createGroupReaders({ redis, keyspace, now }: GroupReadersDeps) {
  const define = (_name: string, lua: string) => defineScript(redis, lua);
  return new Map(
    keyspace.shards.map((keys) => [keys, createGroupReader({ prefix: keys.prefix, defineScript: define, now })]),
  );
}

/** A destination's group in the queue; undefined when nothing waits in it and nothing is known of it. */
export type DestinationHealth = GroupState | undefined;

/** `group`: with that of an endpoint that has a rate, its own waiting for it is found too. */
type Place = Pick<EndpointRecord, 'workspaceId' | 'destination'> & Partial<Pick<EndpointRecord, 'group'>>;

/** Finds the groups of these endpoints' destinations, in their order. */
export function createFindDestinations(deps: GroupReadersDeps) {
  const readers = createGroupReaders(deps);
  const find = async ({ workspaceId, destination, group = destination }: Place): Promise<DestinationHealth> =>
    await readers.get(deps.keyspace.of(workspaceId))?.find(group);
  return (endpoints: readonly Place[]) => Promise.all(endpoints.map(find));
}
export type FindDestinations = ReturnType<typeof createFindDestinations>;
