import type { DestinationId } from '@herald/core';
import { EXPRESS_MARK, type GroupState } from '@herald/queue';
import { createGroupReaders, type GroupReadersDeps } from '../endpoints/find-destinations.ts';
import { describeDelivery, type DeliveryDescription } from './describe-delivery.ts';

/** A destination with waiting deliveries. Times are epoch ms. */
export type DestinationDescription = Pick<
  GroupState,
  'waiting' | 'due' | 'inWork' | 'isOpen' | 'unanswered' | 'nextProbeAt'
> & {
  readonly id: DestinationId;
  /** Until when it asked to be left alone. */
  readonly pausedUntil?: number;
  /** The delivery that goes first, and when it is due. */
  readonly firstDueAt: number;
  /** Absent when its record is gone. */
  readonly first?: DeliveryDescription;
};

/** Destinations per shard: more than anyone reads. */
const LIMIT = 500;

/** The destinations of all shards, as an operator sees them. */
export function createDestinationView(deps: GroupReadersDeps) {
  const shards = [...createGroupReaders(deps)];
  const listIn = async ([keys, groups]: (typeof shards)[number]): Promise<DestinationDescription[]> => {
    // Test events wait in groups that are no destination.
    const found = (await groups.list(LIMIT)).filter(({ group }) => !group.startsWith(EXPRESS_MARK));
    return await Promise.all(
      found.map(async ({ group, heldUntil, first, ...state }) => {
        const delivery = first && (await describeDelivery(deps.redis, keys, first.id));
        return {
          ...state,
          id: group,
          ...(heldUntil !== undefined && { pausedUntil: heldUntil }),
          firstDueAt: first?.dueAt ?? 0,
          ...(delivery && { first: delivery }),
        };
      }),
    );
  };
  return {
    /** The destinations with the most waiting deliveries first. Of very many, only those that are served soonest. */
    async list() {
      const found = await Promise.all(shards.map(listIn));
      return found.flat().sort((a, b) => b.waiting - a.waiting);
    },
  };
}
