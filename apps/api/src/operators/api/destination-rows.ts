import { DeliveryIdText, PageLimit } from '@herald/core';
import { z } from 'zod';
import { TimeText } from '../../http/to-time.ts';

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
