import { REPLAY_WAITS, type Replay } from '@herald/store/replays/replay-record';
import { toDate } from '../output/time-text.ts';

/** The result of a replay in one sentence, with the next command. */
export function describeReplay({ id, endpointId, status, replayed, seen, total }: Replay): string {
  const deliveries = `${Math.max(seen, total)} deliveries of that time`;
  const next = `"herald deliveries list --receiver ${endpointId}" shows how they end`;
  switch (status) {
    case 'running':
      return `Started replay ${id}; "herald replay show ${id}" says how far it is.`;
    case 'done':
      return replayed === 0
        ? `Nothing to replay: none of the ${deliveries} has such a status.`
        : `Replayed ${replayed} of ${deliveries}: they are pending and go out now; ${next}.`;
    case 'stopped':
      return `Replay ${id} was stopped after ${replayed} of ${deliveries}: by request, or because the receiver was disabled or removed.`;
  }
}

export function toReplayFacts(replay: Replay) {
  return {
    replay: replay.id,
    receiver: replay.endpointId,
    status: replay.status,
    'of status': replay.statuses.join(', '),
    since: new Date(replay.since),
    until: new Date(replay.until),
    started: new Date(replay.createdAt),
    ended: toDate(replay.endedAt),
    'looked at': `${replay.seen} of ${replay.total} deliveries`,
    replayed: replay.replayed,
    waits: replay.fullOf && REPLAY_WAITS[replay.fullOf],
  };
}

export function toReplayJson({ endpointId, since, until, createdAt, endedAt, fullOf, ...replay }: Replay) {
  return {
    ...replay,
    receiverId: endpointId,
    since: new Date(since),
    until: new Date(until),
    createdAt: new Date(createdAt),
    endedAt: toDate(endedAt) ?? null,
    ...(fullOf && { waits: REPLAY_WAITS[fullOf] }),
  };
}
