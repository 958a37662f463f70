import { bad, doubtful, good, type Cell } from '../output/cell.ts';
import { relativeText, spanText } from '../output/time-text.ts';
import type { DestinationLine, QueueLine, Queues } from './read-queues.ts';

export const QUEUE_COLUMNS = ['shard', 'queue', 'waiting', 'active', 'delayed', 'overdue', 'state'];

/** Deliveries wait longer for a worker only when there are too few, or none; in ms. */
const DOUBTFUL_AFTER_MS = 10_000;

export function toQueueRow({ shard, queue, waiting, active, delayed, oldestDueMs, isPaused }: QueueLine): Cell[] {
  const span = oldestDueMs > 0 ? spanText(oldestDueMs) : undefined;
  const overdue = span !== undefined && oldestDueMs > DOUBTFUL_AFTER_MS ? doubtful(span) : span;
  return [shard, queue, waiting, active, delayed, overdue, isPaused ? bad('paused') : good('running')];
}

export const DESTINATION_COLUMNS = ['destination', 'workspace', 'deliveries', 'due', 'state', 'longest due'];

export function toDestinationRow(destination: DestinationLine, now: number): Cell[] {
  const { host, workspace, deliveries, due, waitsSince } = destination;
  const longestDue = waitsSince === null ? undefined : spanText(Math.max(0, now - waitsSince.getTime()));
  return [host ?? '(removed)', workspace ?? undefined, deliveries, due, stateOf(destination, now), longestDue];
}

function stateOf({ state, unanswered, nextProbeAt, pausedUntil, nextDueAt }: DestinationLine, now: number): Cell {
  if (state === 'paused') return doubtful(`paused, ends ${relativeTo(pausedUntil, now)}`);
  if (state === 'breaker_open')
    return bad(`open breaker, ${unanswered} unanswered, next probe ${relativeTo(nextProbeAt, now)}`);
  return good(nextDueAt === null ? 'flowing' : `flowing, next try ${relativeTo(nextDueAt, now)}`);
}

function relativeTo(time: Date | null, now: number): string {
  return relativeText(Math.max(now, time?.getTime() ?? now), now);
}

export function toServiceFacts({ workers, runningReplays, failedLately, destinationCount }: Queues) {
  return {
    'workers seen lately': workers === 0 ? bad('0') : good(String(workers)),
    'destinations with waiting deliveries': destinationCount,
    'replays under way': runningReplays,
    'deliveries failed lately': failedLately,
  };
}
