import { deliveryIdOf } from '@herald/core';
import { addOwedJobs, owedMarkOf, type DeliveryJob, type DeliveryQueue, type DutyStore } from '@herald/infra';
import type { AcceptedEmission, JobAdder } from './accept-transitions.ts';
import type { AcceptanceReport } from './create-acceptance-report.ts';

type Shard = { readonly duties: DutyStore; readonly queue: DeliveryQueue };

export type JobAdderDeps = {
  readonly shardOf: (workspaceId: string) => Shard;
  readonly report: Pick<AcceptanceReport, 'jobsLeftOwed'>;
  readonly now: () => number;
};

/**
 * Adds the jobs of transitions just accepted, and clears their marks. A failure here is no failure of the acceptance,
 * which is durable: the marks stay, and the sweeper completes it.
 */
export function createJobAdder({ shardOf, report, now }: JobAdderDeps): JobAdder {
  const addToShard = async ({ duties, queue }: Shard, emissions: readonly AcceptedEmission[]): Promise<void> => {
    try {
      await queue.add(emissions.flatMap(jobsOf), now());
      await Promise.all(
        emissions.map(({ transitionId, acceptedAt }) => duties.clearOwed(transitionId, owedMarkOf(acceptedAt))),
      );
    } catch (error) {
      report.jobsLeftOwed(
        emissions.map(({ transitionId }) => transitionId),
        error,
      );
    }
  };
  return {
    async addJobs(emissions) {
      const byShard = Map.groupBy(emissions, ({ workspaceId }) => shardOf(workspaceId));
      await Promise.all([...byShard].map(([shard, some]) => addToShard(shard, some)));
    },
    async completeOwed(workspaceId, id) {
      const shard = shardOf(workspaceId);
      const owed = await shard.duties.findOwed(id);
      if (owed) await addOwedJobs(shard, [owed.duty], owed.markedAt, now());
    },
  };
}

function jobsOf({ transitionId, event, targets, inBacklog }: AcceptedEmission): DeliveryJob[] {
  return targets
    .filter(({ enabled }) => enabled)
    .map(({ endpointId }) => ({ id: deliveryIdOf(transitionId, endpointId), event }))
    .filter(({ id }) => !inBacklog.has(id));
}
