import { DeliveryIdText, PageLimit } from '@herald/core';
import { workspaceOfOwner } from '@herald/store/keyspace/platform';
import type { GroupDescription } from '@herald/store/operators/group-view';
import { z } from 'zod';
import { TimeText, toTime } from '../../http/to-time.ts';

/** What operators look for: an id, or a part of a host. */
export const SearchText = z
  .string()
  .min(1)
  .max(256)
  .meta({ description: 'An id, or a part of a host or of a workspace.', examples: ['hooks.example.com'] });

/** Query of the receivers with waiting deliveries. */
export const ListWaitingReceivers = z.strictObject({ limit: PageLimit, find: SearchText.exactOptional() });

const Count = z.int().min(0);

/** A receiver with waiting deliveries, or callbacks. */
const WaitingReceiverRow = z
  .strictObject({
    group: z.string().meta({ description: 'Its name in the queue: of a receiver, its id.' }),
    kind: z
      .enum(['receiver', 'callbacks', 'notices'])
      .meta({ description: '`callbacks`: those of a workspace to one origin.' }),
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
    stopped: z.literal(true).meta({ description: 'An operator has paused it. Absent: not.' }).exactOptional(),
    breaker: z.enum(['closed', 'open']),
    nextProbeAt: TimeText.exactOptional(),
    pausedUntil: TimeText.exactOptional(),
    suspectUntil: TimeText.exactOptional(),
    unanswered: Count.meta({ description: 'Attempts without an answer, in a row.' }),
    sentPerSecond: z
      .number()
      .min(0)
      .meta({ description: 'Attempts, in the last minute or two. Absent: nothing counts them.' })
      .exactOptional(),
    emptyInMs: Count.meta({
      description: 'When what is due will be sent at this rate, if no more comes. Absent: nothing goes.',
    }).exactOptional(),
    first: z.strictObject({ id: DeliveryIdText, dueAt: TimeText }).exactOptional(),
    why: z.string().meta({ description: 'What keeps its deliveries waiting, as a sentence.' }),
  })
  .meta({
    id: 'WaitingReceiver',
    description: 'A receiver, or the callbacks of a workspace to one origin: what waits for it, and why.',
  });

export const WaitingReceiverList = z
  .strictObject({ receivers: z.array(WaitingReceiverRow) })
  .meta({ id: 'WaitingReceiverList' });
export type WaitingReceiverList = z.infer<typeof WaitingReceiverList>;

/** @param now epoch ms */
export function toWaitingRow(found: GroupDescription, now: number): WaitingReceiverList['receivers'][number] {
  const { group, kind, waiting, due, inWork, isOpen, unanswered, nextProbeAt, heldUntil, suspectUntil } = found;
  const { first, delivery, limit, isStopped, sentPerSecond, emptyInMs } = found;
  return {
    group,
    kind,
    workspaceId: delivery ? workspaceOfOwner(delivery.delivery.workspaceId) : null,
    host: delivery?.host ?? null,
    ...(limit !== undefined && { limit }),
    inWork,
    waiting,
    due,
    ...(isStopped && { stopped: true as const }),
    breaker: isOpen ? 'open' : 'closed',
    ...(nextProbeAt !== undefined && { nextProbeAt: toTime(nextProbeAt) }),
    ...(heldUntil !== undefined && { pausedUntil: toTime(heldUntil) }),
    ...(suspectUntil !== undefined && { suspectUntil: toTime(suspectUntil) }),
    unanswered,
    ...(sentPerSecond !== undefined && { sentPerSecond }),
    ...(emptyInMs !== undefined && { emptyInMs }),
    ...(first && { first: { id: first.id, dueAt: toTime(first.dueAt) } }),
    why: explainWait(found, now),
  };
}

function explainWait(
  { isStopped, isOpen, unanswered, heldUntil, suspectUntil, due, inWork, waitingForRate }: GroupDescription,
  now: number,
): string {
  if (isStopped) return 'An operator has paused it: nothing goes until it is resumed.';
  if (isOpen) {
    return `It gave no answer ${unanswered} times in a row: one probe at a time goes out until one succeeds.`;
  }
  if (heldUntil !== undefined && heldUntil > now) return 'It asked to be left alone for a while (Retry-After).';
  if (due === 0) return 'Nothing is due yet.';
  if (waitingForRate !== undefined) return 'It gets no more a second than its rate limit says.';
  if (suspectUntil !== undefined && suspectUntil > now) {
    return 'It gave no answer lately, or is slow: it gets few slots at a time.';
  }
  if (inWork > 0) return 'Others of it are being sent: the rest waits for its next free slot.';
  return 'It waits for a free worker.';
}
