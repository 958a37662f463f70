import { PLATFORM } from '@herald/core';
import { EXPRESS_MARK, type GroupState } from '@herald/queue';
import { createGroupReaders, type GroupReadersDeps } from '../endpoints/find-groups.ts';
import { describeDelivery, type DeliveryDescription } from './describe-delivery.ts';

/**
 * A group with waiting deliveries: those of a receiver, those of a workspace to callbacks of one origin, or notices.
 * `delivery`: the first one; absent when its record is gone.
 */
export type GroupDescription = GroupState & {
  readonly kind: 'receiver' | 'callbacks' | 'notices';
  readonly delivery?: DeliveryDescription;
};

/** Groups per shard: more than anyone reads. */
const LIMIT = 500;

/** The groups of all shards, as an operator sees them. */
export function createGroupView(deps: GroupReadersDeps) {
  const shards = [...createGroupReaders(deps)];
  const listIn = async ([keys, groups]: (typeof shards)[number]): Promise<GroupDescription[]> => {
    // Test events wait in a group that belongs to nobody.
    const found = (await groups.list(LIMIT)).filter(({ group }) => !group.startsWith(EXPRESS_MARK));
    return await Promise.all(
      found.map(async (group) => {
        const delivery = group.first && (await describeDelivery(deps.redis, keys, group.first.id));
        return { ...group, kind: kindOf(group.group), ...(delivery && { delivery }) };
      }),
    );
  };
  return {
    /** Those with the most waiting deliveries first. Of very many, only those that are served soonest. */
    async list() {
      const found = await Promise.all(shards.map(listIn));
      return found.flat().sort((a, b) => b.waiting - a.waiting);
    },
  };
}

function kindOf(group: string): GroupDescription['kind'] {
  if (group === PLATFORM) return 'notices';
  return group.startsWith('wh') ? 'receiver' : 'callbacks';
}
