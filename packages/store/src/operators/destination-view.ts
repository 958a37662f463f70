import { EXPRESS_MARK, type GroupState } from '@herald/queue';
import { createGroupReaders, type GroupReadersDeps } from '../endpoints/find-destinations.ts';
import { describeDelivery, type DeliveryDescription } from './describe-delivery.ts';

/** The group of a destination with waiting deliveries. `delivery`: the first one; absent when its record is gone. */
export type DestinationDescription = GroupState & { readonly delivery?: DeliveryDescription };

/** Destinations per shard: more than anyone reads. */
const LIMIT = 500;

/** The destinations of all shards, as an operator sees them. */
export function createDestinationView(deps: GroupReadersDeps) {
  const shards = [...createGroupReaders(deps)];
  const listIn = async ([keys, groups]: (typeof shards)[number]): Promise<DestinationDescription[]> => {
    // Test events wait in groups that are no destination.
    const found = (await groups.list(LIMIT)).filter(({ group }) => !group.startsWith(EXPRESS_MARK));
    return await Promise.all(
      found.map(async (group) => {
        const delivery = group.first && (await describeDelivery(deps.redis, keys, group.first.id));
        return { ...group, ...(delivery && { delivery }) };
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
