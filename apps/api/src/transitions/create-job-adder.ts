import { addOwedJobs, owedMarkOf, type DeliveryQueue, type DutyStore, type LineUp } from '@herald/infra';
import type { AcceptedEmission, JobAdder } from './accept-transitions.ts';
import type { AcceptanceReport } from './create-acceptance-report.ts';

type Shard = { readonly duties: DutyStore; readonly queue: Pick<DeliveryQueue, 'add'>; readonly lineUp: LineUp };

export type JobAdderDeps = {
  readonly shardOf: (workspaceId: string) => Shard;
  readonly report: Pick<AcceptanceReport, 'jobsLeftOwed'>;
  readonly now: () => number;
};

/** Emissions whose jobs go into the line together. */
type Crowd = { readonly emissions: AcceptedEmission[]; readonly added: Promise<void> };

/**
 * Adds the jobs of transitions just accepted, and clears their marks: in one go for all that were accepted in one turn of the event
 * loop, whoever reported them. A failure here is no failure of the acceptance, which is durable: the marks stay, and the sweeper completes it.
 */
export function createJobAdder({ shardOf, report, now }: JobAdderDeps): JobAdder {
  const gathering = new Map<Shard, Crowd>();
  const lineUp = async (shard: Shard, emissions: readonly AcceptedEmission[]): Promise<void> => {
    try {
      await shard.lineUp(
        emissions.map(({ acceptedAt, ...emission }) => ({ ...emission, markedAt: owedMarkOf(acceptedAt) })),
        now(),
      );
    } catch (error) {
      report.jobsLeftOwed(
        emissions.map(({ transitionId }) => transitionId),
        error,
      );
    }
  };
  const gather = (shard: Shard): Crowd => {
    const emissions: AcceptedEmission[] = [];
    const added = new Promise<void>((resolve) => {
      process.nextTick(() => {
        gathering.delete(shard);
        resolve(lineUp(shard, emissions));
      });
    });
    const crowd = { emissions, added };
    gathering.set(shard, crowd);
    return crowd;
  };
  return {
    async addJobs(emissions) {
      const crowds = emissions.map((emission) => {
        const shard = shardOf(emission.workspaceId);
        const crowd = gathering.get(shard) ?? gather(shard);
        crowd.emissions.push(emission);
        return crowd.added;
      });
      await Promise.all(new Set(crowds));
    },
    async completeOwed(workspaceId, id) {
      const shard = shardOf(workspaceId);
      const owed = await shard.duties.findOwed(id);
      if (owed) await addOwedJobs(shard, [owed.duty], owed.markedAt, now());
    },
  };
}
