import { createGroupReader } from '@herald/queue';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import type { EndpointRecord } from './endpoint-record.ts';

/** How a destination is: what waits for it, and what keeps it back. */
export type DestinationHealth = {
  /** Deliveries that are due and wait for it. */
  readonly backlog: number;
  /** It gives no answers: its breaker is open. */
  readonly isOpen: boolean;
  /** It asked to be left alone until then, epoch ms; absent once that has passed. */
  readonly heldUntil?: number;
};

/** How the destinations of some endpoints are, in their order. */
export type FindDestinations = (endpoints: readonly EndpointRecord[]) => Promise<readonly DestinationHealth[]>;

export type FindDestinationsDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly now: () => number;
};

const UNKNOWN: DestinationHealth = { backlog: 0, isOpen: false };

export function createFindDestinations({ redis, keyspace, now }: FindDestinationsDeps): FindDestinations {
  const define = (name: string, lua: string) => defineScript(redis, name, lua);
  const readers = new Map(
    keyspace.shards.map(({ prefix }) => [prefix, createGroupReader({ prefix, defineScript: define, now })]),
  );
  return (endpoints) =>
    Promise.all(
      endpoints.map(async ({ workspaceId, destination }) => {
        const group = await readers.get(keyspace.of(workspaceId).prefix)?.find(destination);
        if (!group) return UNKNOWN;
        const { due, isOpen, heldUntil } = group;
        return { backlog: due, isOpen, ...(heldUntil !== undefined && { heldUntil }) };
      }),
    );
}
