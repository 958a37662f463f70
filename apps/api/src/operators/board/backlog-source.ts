import type { BacklogDescription, BacklogView, DeliveryDescription } from '@herald/infra';
import type { BoardJob } from './board-job.ts';
import type { BoardSource } from './board-queue.ts';
import { toIso } from './delivery-facts.ts';

export type BacklogSourceDeps = { readonly backlogs: BacklogView; readonly now: () => number };

/** A destination is served, or something holds it back: an open breaker, or its own `Retry-After`. */
const STATES = ['waiting', 'delayed'] as const;
type State = (typeof STATES)[number];

/** Destinations with a backlog, each as one job. */
export function createBacklogSource({ backlogs, now }: BacklogSourceDeps): BoardSource {
  const list = async () => (await backlogs.list(now())).map((backlog) => toBoardJob(backlog, now()));
  return {
    states: STATES,
    async count() {
      const all = await list();
      const countIn = (state: State) => all.filter((job) => job.state === state).length;
      return { waiting: countIn('waiting'), delayed: countIn('delayed') };
    },
    async list(states, start, end) {
      const all = await list();
      return all.filter(({ state }) => states.some((wanted) => wanted === state)).slice(start, end + 1);
    },
    async find(id) {
      const backlog = await backlogs.find(id, now());
      if (!backlog) return undefined;
      const job = toBoardJob(backlog, now());
      return { ...job, data: { ...job.data, next: backlog.next.map(toLine) } };
    },
  };
}

/** Objects in a list would be folded away. */
function toLine({ delivery, host, lastOutcome }: DeliveryDescription): string {
  const { id, event, endpointId, tries } = delivery;
  return `${id}: ${event} → ${host ?? '(removed)'} (${endpointId}), tries ${tries}, last outcome ${lastOutcome ?? 'none yet'}`;
}

function toBoardJob(backlog: BacklogDescription, at: number): BoardJob {
  const { id, count, first, isOpen, unanswered, nextProbeAt, holdUntil, waitsSince } = backlog;
  const heldUntil = holdUntil ?? (isOpen ? (nextProbeAt ?? at) : undefined);
  const addedAt = waitsSince ?? first?.delivery.createdAt ?? at;
  return {
    id,
    state: heldUntil === undefined ? 'waiting' : 'delayed',
    title: `${first?.host ?? '(removed)'}: ${count} waiting`,
    addedAt,
    ...(heldUntil !== undefined && { runsAt: heldUntil }),
    tries: 0,
    data: {
      host: first?.host ?? '(removed)',
      ...(first && { workspace: first.delivery.workspaceId }),
      waiting: count,
      ...(waitsSince !== undefined && { oldestWaitsSince: toIso(waitsSince) }),
      breaker: isOpen ? 'open' : 'closed',
      ...(unanswered > 0 && { unansweredInARow: unanswered }),
      ...(isOpen && nextProbeAt !== undefined && { nextProbe: toIso(nextProbeAt) }),
      ...(holdUntil !== undefined && { askedToBeLeftAloneUntil: toIso(holdUntil) }),
    },
  };
}
