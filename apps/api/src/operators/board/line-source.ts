import { LINE_STATES, type LineJob, type LineState, type LineView } from '@herald/infra';
import type { BoardJob } from './board-job.ts';
import type { BoardSource } from './board-queue.ts';
import { toFacts, toTitle } from './delivery-facts.ts';

export type LineSourceDeps = { readonly line: LineView; readonly attemptNow: AttemptNow };

/** Makes one attempt now, whatever the schedule says. */
export type AttemptNow = (workspaceId: string, deliveryId: string) => Promise<unknown>;

/** A BullMQ queue, each of whose jobs stands for a delivery. */
export function createLineSource({ line, attemptNow }: LineSourceDeps): BoardSource {
  const toBoardJob = (job: LineJob, state: LineState): BoardJob => {
    const { id, addedAt, runsAt, takenAt, delivery: description } = job;
    const times = {
      addedAt,
      ...(runsAt !== undefined && { runsAt }),
      ...(state === 'active' && takenAt !== undefined && { takenAt }),
    };
    if (!description) {
      const note = 'There is no record of this delivery: its job ends without a send.';
      return { ...{ id, state, ...times }, title: job.event, data: { event: job.event, note }, tries: 0 };
    }
    const { workspaceId, tries } = description.delivery;
    return {
      ...{ id, state, ...times, tries },
      title: toTitle(description),
      data: toFacts(description),
      attemptNow: async () => {
        await attemptNow(workspaceId, id);
      },
    };
  };
  return {
    states: LINE_STATES,
    count: line.count,
    async list(states, start, end) {
      const known = LINE_STATES.filter((state) => states.includes(state));
      const jobs = await line.list(known, start, end);
      const only = known.length === 1 ? known[0] : undefined;
      return jobs.map((job) => toBoardJob(job, only ?? guessState(job)));
    },
    async find(id) {
      const job = await line.find(id);
      return job && toBoardJob(job, job.state);
    },
    line,
  };
}

/** Of a job in a list of several states, which don't say which is whose. */
function guessState({ runsAt, takenAt }: LineJob): LineState {
  if (runsAt !== undefined) return 'delayed';
  return takenAt === undefined ? 'waiting' : 'active';
}
