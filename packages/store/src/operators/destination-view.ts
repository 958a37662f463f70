import type { DestinationId } from '@herald/core';
import { createGroupReader, EXPRESS_MARK, type GroupState } from '@herald/queue';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import { describeDeliveries, type DeliveryDescription } from './describe-deliveries.ts';

/** A destination with waiting deliveries. Times are epoch ms. */
export type DestinationDescription = {
  readonly id: DestinationId;
  /** Its waiting deliveries, due or not. */
  readonly waiting: number;
  readonly due: number;
  readonly inWork: number;
  /** Its breaker is open: one probe at a time goes out, the next one at `nextProbeAt`. */
  readonly isOpen: boolean;
  /** Sends without an answer, in a row. */
  readonly unanswered: number;
  readonly nextProbeAt?: number;
  /** Until when it asked to be left alone. */
  readonly pausedUntil?: number;
  /** The delivery that goes first, and when it is due. */
  readonly firstDueAt: number;
  /** Absent when its record is gone. */
  readonly first?: DeliveryDescription;
};

/** The destinations of all shards, as an operator sees them. */
export type DestinationView = {
  /** Those for which most is waiting first. Of very many only some: those that are served soonest. */
  readonly list: () => Promise<readonly DestinationDescription[]>;
};

/** Destinations per shard: more than the reader looks at. */
const LIMIT = 500;

export type DestinationViewDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly now: () => number;
};

export function createDestinationView({ redis, keyspace, now }: DestinationViewDeps): DestinationView {
  const define = (name: string, lua: string) => defineScript(redis, name, lua);
  const shards = keyspace.shards.map((keys) => ({
    keys,
    groups: createGroupReader({ prefix: keys.prefix, defineScript: define, now }),
  }));
  return {
    async list() {
      const found = await Promise.all(
        shards.map(async ({ keys, groups }) => await describeGroups(redis, keys, await groups.list(LIMIT))),
      );
      return found.flat().sort((a, b) => b.waiting - a.waiting);
    },
  };
}

async function describeGroups(
  redis: RedisClient,
  keys: ShardKeys,
  groups: readonly GroupState[],
): Promise<DestinationDescription[]> {
  // Test events stand in groups that are no destination.
  const destinations = groups.filter(({ group }) => !group.startsWith(EXPRESS_MARK));
  const firsts = await describeDeliveries(
    redis,
    keys,
    destinations.map(({ first }) => first?.id ?? ''),
  );
  return destinations.map((group, index) => toDescription(group, firsts[index]));
}

function toDescription(state: GroupState, delivery: DeliveryDescription | undefined): DestinationDescription {
  const { group, waiting, due, inWork, isOpen, unanswered, nextProbeAt, heldUntil, first } = state;
  return {
    id: group,
    waiting,
    due,
    inWork,
    isOpen,
    unanswered,
    ...(nextProbeAt !== undefined && { nextProbeAt }),
    ...(heldUntil !== undefined && { pausedUntil: heldUntil }),
    firstDueAt: first?.dueAt ?? 0,
    ...(delivery && { first: delivery }),
  };
}
