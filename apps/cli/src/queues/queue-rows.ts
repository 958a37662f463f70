import { bad, doubtful, good, type Cell } from '../output/cell.ts';
import { relativeText, spanText } from '../output/time-text.ts';
import type { DestinationLine, QueueLine, Queues } from './read-queues.ts';

export const QUEUE_COLUMNS = ['shard', 'queue', 'waiting', 'active', 'delayed', 'overdue', 'state'];

/** A delivery waits for a worker for longer than this only while workers are too few, or gone; in ms. */
const DOUBTFUL_AFTER_MS = 10_000;

export function toQueueRow({ shard, queue, waiting, active, delayed, oldestDueMs, isPaused }: QueueLine): Cell[] {
  const overdue = oldestDueMs > 0 ? spanText(oldestDueMs) : undefined;
  return [
    ...[shard, queue, waiting, active, delayed],
    overdue !== undefined && oldestDueMs > DOUBTFUL_AFTER_MS ? doubtful(overdue) : overdue,
    isPaused ? bad('paused') : good('running'),
  ];
}

export const DESTINATION_COLUMNS = ['destination', 'workspace', 'deliveries', 'due', 'state', 'longest due'];

export function toDestinationRow(destination: DestinationLine, now: number): Cell[] {
  const { host, workspace, deliveries, due, waitsSince } = destination;
  return [
    ...[host ?? '(removed)', workspace ?? undefined, deliveries, due, stateOf(destination, now)],
    waitsSince === null ? undefined : spanText(Math.max(0, now - Date.parse(waitsSince))),
  ];
}

function stateOf({ state, unanswered, nextProbeAt, pausedUntil, nextDueAt }: DestinationLine, now: number): Cell {
  if (state === 'paused') return doubtful(`paused, ends ${relativeTo(pausedUntil, now)}`);
  if (state === 'breaker_open')
    return bad(`open breaker, ${unanswered} unanswered, next probe ${relativeTo(nextProbeAt, now)}`);
  return good(nextDueAt === null ? 'flowing' : `flowing, next try ${relativeTo(nextDueAt, now)}`);
}

function relativeTo(time: string | null, now: number): string {
  return time === null ? 'now' : relativeText(Math.max(now, Date.parse(time)), now);
}

export function toServiceFacts({ workers, runningReplays, failedLately, destinationCount }: Queues) {
  return {
    'workers seen lately': workers === 0 ? bad('0') : good(String(workers)),
    'destinations with waiting deliveries': destinationCount,
    'replays under way': runningReplays,
    'deliveries failed lately': failedLately,
  } satisfies Record<string, Cell>;
}
