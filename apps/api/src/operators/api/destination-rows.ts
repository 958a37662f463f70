import { DeliveryIdText, PageLimit } from '@herald/core';
import { workspaceOfOwner } from '@herald/store/keyspace/platform';
import type { DestinationDescription } from '@herald/store/operators/destination-view';
import { z } from 'zod';
import { TimeText, toTime } from '../../http/to-time.ts';

/** What operators look for: an id, or a part of a host. */
export const SearchText = z
  .string()
  .min(1)
  .max(256)
  .meta({ description: 'An id, or a part of a host or of a workspace.', examples: ['hooks.example.com'] });

/** Query of the destinations. */
export const ListDestinations = z.strictObject({ limit: PageLimit, find: SearchText.exactOptional() });

const Count = z.int().min(0);

/** A destination with waiting deliveries. */
const DestinationRow = z
  .strictObject({
    group: z.string().meta({ description: 'Its name in the queue.' }),
    workspaceId: z.string().nullable().meta({ description: 'Null when nothing tells.' }),
    host: z.string().nullable(),
    limit: z
      .int()
      .min(1)
      .meta({ description: 'Deliveries that may be in work. Absent: as configured.' })
      .exactOptional(),
    inWork: Count,
    waiting: Count.meta({ description: 'Waiting deliveries, due or not.' }),
    due: Count,
    breaker: z.enum(['closed', 'open']),
    nextProbeAt: TimeText.exactOptional(),
    pausedUntil: TimeText.exactOptional(),
    suspectUntil: TimeText.exactOptional(),
    unanswered: Count.meta({ description: 'Attempts without an answer, in a row.' }),
    first: z.strictObject({ id: DeliveryIdText, dueAt: TimeText }).exactOptional(),
    why: z.string().meta({ description: 'What keeps its deliveries waiting, as a sentence.' }),
  })
  .meta({ id: 'Destination', description: 'A workspace and the origin of a url: what waits for it, and why.' });

export const DestinationList = z
  .strictObject({ destinations: z.array(DestinationRow) })
  .meta({ id: 'DestinationList' });
export type DestinationList = z.infer<typeof DestinationList>;

/** @param now epoch ms */
export function toDestinationRow(
  destination: DestinationDescription,
  now: number,
): DestinationList['destinations'][number] {
  const { group, waiting, due, inWork, isOpen, unanswered, nextProbeAt, heldUntil, suspectUntil } = destination;
  const { first, delivery, limit } = destination;
  return {
    group,
    workspaceId: delivery ? workspaceOfOwner(delivery.delivery.workspaceId) : null,
    host: delivery?.host ?? null,
    ...(limit !== undefined && { limit }),
    inWork,
    waiting,
    due,
    breaker: isOpen ? 'open' : 'closed',
    ...(nextProbeAt !== undefined && { nextProbeAt: toTime(nextProbeAt) }),
    ...(heldUntil !== undefined && { pausedUntil: toTime(heldUntil) }),
    ...(suspectUntil !== undefined && { suspectUntil: toTime(suspectUntil) }),
    unanswered,
    ...(first && { first: { id: first.id, dueAt: toTime(first.dueAt) } }),
    why: explainWait(destination, now),
  };
}

function explainWait(
  { isOpen, unanswered, heldUntil, suspectUntil, due, inWork }: DestinationDescription,
  now: number,
): string {
  if (isOpen) {
    return `It gave no answer ${unanswered} times in a row: one probe at a time goes out until one succeeds.`;
  }
  if (heldUntil !== undefined && heldUntil > now) return 'It asked to be left alone for a while (Retry-After).';
  if (due === 0) return 'Nothing is due yet.';
  if (suspectUntil !== undefined && suspectUntil > now) {
    return 'It gave no answer lately, or is slow: it gets few slots at a time.';
  }
  if (inWork > 0) return 'Others of it are being sent: the rest waits for its next free slot.';
  return 'It waits for a free worker.';
}
