import { deliveryIdOf } from '@herald/core';
import { addOwedJobs, owedMarkOf, type DeliveryQueue, type DutyStore, type Logger } from '@herald/infra';
import type { JobAdder } from './accept-transitions.ts';

export type JobAdderDeps = {
  readonly shardOf: (workspaceId: string) => { readonly duties: DutyStore; readonly queue: DeliveryQueue };
  readonly logger: Logger;
  readonly now: () => number;
};

/**
 * Adds the jobs of transitions just accepted, and clears their marks. A failure here is no failure of the acceptance,
 * which is durable: the marks stay, and the sweeper completes it.
 */
export function createJobAdder({ shardOf, logger, now }: JobAdderDeps): JobAdder {
  return {
    async addJobs(workspaceId, emissions, acceptedAt) {
      if (emissions.length === 0) return;
      const { duties, queue } = shardOf(workspaceId);
      try {
        const jobs = emissions.flatMap(({ transitionId, event, targets, inBacklog }) =>
          targets
            .filter(({ enabled }) => enabled)
            .map(({ endpointId }) => ({ id: deliveryIdOf(transitionId, endpointId), event }))
            .filter(({ id }) => !inBacklog.has(id)),
        );
        await queue.add(jobs, acceptedAt);
        const markedAt = owedMarkOf(acceptedAt);
        await Promise.all(emissions.map(({ transitionId }) => duties.clearOwed(transitionId, markedAt)));
      } catch (error) {
        logger.warn('transition.jobs_left_owed', { transitions: emissions.length }, error);
      }
    },
    async completeOwed(workspaceId, id) {
      const shard = shardOf(workspaceId);
      const owed = await shard.duties.findOwed(id);
      if (owed) await addOwedJobs(shard, [owed.duty], owed.markedAt, now());
    },
  };
}
