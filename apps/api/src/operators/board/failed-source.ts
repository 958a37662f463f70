import type { DeliveryDescription, FailedView } from '@herald/infra';
import type { BoardJob } from './board-job.ts';
import type { BoardSource } from './board-queue.ts';
import { toFacts, toTitle } from './delivery-facts.ts';
import type { AttemptNow } from './line-source.ts';

export type FailedSourceDeps = {
  readonly failed: FailedView;
  readonly attemptNow: AttemptNow;
  readonly now: () => number;
};

/** Deliveries that failed lately, each as one job. */
export function createFailedSource({ failed, attemptNow, now }: FailedSourceDeps): BoardSource {
  const toBoardJob = (description: DeliveryDescription): BoardJob => {
    const { id, workspaceId, createdAt, settledAt, tries, reason } = description.delivery;
    return {
      ...{ id, state: 'failed', title: toTitle(description), data: toFacts(description), addedAt: createdAt, tries },
      ...(settledAt !== undefined && { takenAt: createdAt, endedAt: settledAt }),
      failure: `${reason ?? 'failed'}, last outcome ${description.lastOutcome ?? 'none'}`,
      attemptNow: async () => {
        await attemptNow(workspaceId, id);
      },
    };
  };
  return {
    states: ['failed'],
    count: async () => ({ failed: await failed.count(now()) }),
    list: async (_states, start, end) => (await failed.list(now(), start, end)).map(toBoardJob),
    async find(id) {
      const description = await failed.find(id);
      return description && toBoardJob(description);
    },
  };
}
