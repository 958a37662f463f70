import { PLATFORM } from '@herald/core';
import { EXPRESS_MARK, type GroupState } from '@herald/queue';
import { createGroupReaders, type GroupReadersDeps } from '../endpoints/find-groups.ts';
import { timeToEmpty, toSentPerSecond } from '../stats/service-rates.ts';
import { createStatsReader } from '../stats/stats-reader.ts';
import { describeDelivery, type DeliveryDescription } from './describe-delivery.ts';

/**
 * A group with waiting deliveries: those of a receiver, those of a workspace to callbacks of one origin, or notices.
 * `delivery`: the first one; absent when its record is gone.
 *
 * `sentPerSecond`: attempts, in the last minute or two; `emptyInMs`: when what is due will be sent at this rate, if no more
 * comes. Absent where nothing counts them, or where nothing goes.
 */
export type GroupDescription = GroupState & {
  readonly kind: 'receiver' | 'callbacks' | 'notices';
  readonly delivery?: DeliveryDescription;
  readonly sentPerSecond?: number;
  readonly emptyInMs?: number;
};

/** Groups per shard: more than anyone reads. */
const LIMIT = 500;
/** The largest groups, of which the rates are read: some 20 KB each. */
const WITH_RATES = 100;

/** The groups of all shards, as an operator sees them. */
export function createGroupView(deps: GroupReadersDeps) {
  const shards = [...createGroupReaders(deps)];
  const stats = createStatsReader(deps);
  const withRate = async (group: GroupDescription): Promise<GroupDescription> => {
    if (group.kind !== 'receiver' || !group.delivery) return group;
    const at = deps.now();
    const minutes = await stats.ofReceiver(group.delivery.delivery.workspaceId, group.group, '1h');
    const sentPerSecond = toSentPerSecond(minutes, at);
    const isHeldUp = group.isStopped || group.isOpen || group.heldUntil !== undefined;
    const rates = { acceptedPerSecond: 0, deliveredPerSecond: isHeldUp ? 0 : sentPerSecond };
    const emptyInMs = timeToEmpty(group.due, rates);
    return { ...group, sentPerSecond, ...(emptyInMs !== undefined && { emptyInMs }) };
  };
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
      const groups = found.flat().sort((a, b) => b.waiting - a.waiting);
      return [...(await Promise.all(groups.slice(0, WITH_RATES).map(withRate))), ...groups.slice(WITH_RATES)];
    },
  };
}

function kindOf(group: string): GroupDescription['kind'] {
  if (group === PLATFORM) return 'notices';
  return group.startsWith('wh') ? 'receiver' : 'callbacks';
}
