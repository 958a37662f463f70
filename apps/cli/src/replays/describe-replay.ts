import type { Replay } from '@herald/store/replays/replay-store';

/** One sentence for people: what became of a replay, and what to type next. */
export function describeReplay({ id, endpointId, status, replayed, seen, total }: Replay): string {
  const counts = `${replayed} of ${Math.max(seen, total)} deliveries of that time`;
  const next = `"herald deliveries list --receiver ${endpointId}" shows how they end`;
  switch (status) {
    case 'running':
      return `Started replay ${id}; "herald replay show ${id}" says how far it is.`;
    case 'done':
      return replayed === 0
        ? `Nothing to replay: none of the ${Math.max(seen, total)} deliveries of that time has such a status.`
        : `Replayed ${counts}: they are pending and go out now; ${next}.`;
    case 'stopped':
      return `Replay ${id} was stopped after ${counts}: by request, or because the receiver was disabled or removed.`;
  }
}

export function toReplayFacts({
  id,
  endpointId,
  status,
  statuses,
  since,
  until,
  createdAt,
  endedAt,
  ...counts
}: Replay) {
  return {
    replay: id,
    receiver: endpointId,
    status,
    'of status': statuses.join(', '),
    since: new Date(since),
    until: new Date(until),
    started: new Date(createdAt),
    ended: endedAt === undefined ? undefined : new Date(endedAt),
    'looked at': `${counts.seen} of ${counts.total} deliveries`,
    replayed: counts.replayed,
  };
}

export function toReplayJson({ endpointId, since, until, createdAt, endedAt, ...replay }: Replay) {
  return {
    ...replay,
    receiverId: endpointId,
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    createdAt: new Date(createdAt).toISOString(),
    endedAt: endedAt === undefined ? null : new Date(endedAt).toISOString(),
  };
}
