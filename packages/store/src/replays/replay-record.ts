import type { DeliveryStatus } from '@herald/core';
import { z } from 'zod';

const Status = z.enum(['running', 'done', 'stopped']);
const FullOf = z.enum(['pending', 'bytes', 'memory']);

/** Why a replay waits for its workspace, by what that is full of. */
export const REPLAY_WAITS: Readonly<Record<z.infer<typeof FullOf>, string>> = {
  pending: 'this workspace has as many deliveries pending as it may; the replay goes on when some of them have ended',
  bytes:
    'the Tasks, facts and bodies of this workspace take as much as they may; the replay goes on when some are gone',
  memory:
    'the store is nearly full, and this workspace is among those that hold the most; the replay goes on by itself',
};

/** A replay and its progress. Times are epoch ms. */
export type Replay = ReturnType<typeof readReplay>;

export function readReplay(id: string, { e = '', s, statuses = '', end, full, ...numbers }: Record<string, string>) {
  return {
    id,
    endpointId: e,
    since: Number(numbers.since),
    /** Exclusive. */
    until: Number(numbers.until),
    createdAt: Number(numbers.at),
    statuses: statuses.split(',') as readonly DeliveryStatus[],
    /** `stopped`: by request, or because the receiver was disabled or removed. */
    status: Status.parse(s),
    ...(end !== undefined && { endedAt: Number(end) }),
    /** What its workspace is full of, while it waits for that. */
    ...(full !== undefined && { fullOf: FullOf.parse(full) }),
    /** Deliveries in the time range. */
    total: Number(numbers.total),
    /** Deliveries that it has looked at. */
    seen: Number(numbers.seen),
    /** Deliveries that it has set pending again. */
    replayed: Number(numbers.replayed),
  };
}
