import type { DeliveryStatus } from '@herald/core';
import { z } from 'zod';

const Status = z.enum(['running', 'done', 'stopped']);

/** A replay and its progress. Times are epoch ms. */
export type Replay = ReturnType<typeof readReplay>;

export function readReplay(id: string, { e = '', s, statuses = '', end, ...numbers }: Record<string, string>) {
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
    /** Deliveries in the time range. */
    total: Number(numbers.total),
    /** Deliveries that it has looked at. */
    seen: Number(numbers.seen),
    /** Deliveries that it has set pending again. */
    replayed: Number(numbers.replayed),
  };
}
