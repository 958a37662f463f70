import { bad, doubtful, good, type Cell } from '../output/cell.ts';
import { relativeText, spanText } from '../output/time-text.ts';
import type { BacklogLine, QueueLine, Queues } from './read-queues.ts';

export const QUEUE_COLUMNS = ['shard', 'queue', 'waiting', 'active', 'delayed', 'overdue', 'state'];

/** A job is due for longer than this only while workers are too few, or gone; in ms. */
const DOUBTFUL_AFTER_MS = 10_000;

export function toQueueRow({ shard, queue, waiting, active, delayed, oldestDueMs, isPaused }: QueueLine): Cell[] {
  const overdue = oldestDueMs > 0 ? spanText(oldestDueMs) : undefined;
  return [
    ...[shard, queue, waiting, active, delayed],
    overdue !== undefined && oldestDueMs > DOUBTFUL_AFTER_MS ? doubtful(overdue) : overdue,
    isPaused ? bad('paused') : good('running'),
  ];
}

export const BACKLOG_COLUMNS = ['backlog of', 'workspace', 'deliveries', 'state', 'longest waiting'];

export function toBacklogRow(backlog: BacklogLine, now: number): Cell[] {
  const { host, workspace, deliveries, waitsSince } = backlog;
  return [
    ...[host ?? '(removed)', workspace ?? undefined, deliveries, stateOf(backlog, now)],
    waitsSince === null ? undefined : spanText(Math.max(0, now - Date.parse(waitsSince))),
  ];
}

function stateOf({ state, unanswered, nextProbeAt, holdUntil }: BacklogLine, now: number): Cell {
  if (state === 'flowing') return good('flowing');
  if (state === 'on_hold') return doubtful(`on hold, ends ${relativeTo(holdUntil, now)}`);
  return bad(`open breaker, ${unanswered} unanswered, next probe ${relativeTo(nextProbeAt, now)}`);
}

function relativeTo(time: string | null, now: number): string {
  return time === null ? 'now' : relativeText(Math.max(now, Date.parse(time)), now);
}

export function toServiceFacts(queues: Queues) {
  const { workers, openTransitions, overdueOwed, runningReplays, failedLately, backlogDestinations } = queues;
  return {
    'workers seen lately': workers === 0 ? bad('0') : good(String(workers)),
    'transitions with pending deliveries': openTransitions,
    'destinations with a backlog': backlogDestinations,
    'jobs owed and overdue': overdueOwed,
    'replays under way': runningReplays,
    'deliveries failed lately': failedLately,
  } satisfies Record<string, Cell>;
}
