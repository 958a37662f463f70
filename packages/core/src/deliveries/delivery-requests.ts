import { z } from 'zod';
import { EventName } from '../events.ts';
import { DELIVERY_STATUSES } from './delivery.ts';

/** An RFC 3339 time, as epoch ms. */
const Time = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2030-01-31T12:00:00Z' })
  .transform((text) => Date.parse(text));

const PAGE_LIMIT_RULE = 'must be given once, as a whole number from 1 to 100';

/** How many items a page may hold, as a query parameter. */
export const PageLimit = z
  .string(PAGE_LIMIT_RULE)
  .regex(/^\d{1,3}$/, PAGE_LIMIT_RULE)
  .transform(Number)
  .refine((limit) => limit >= 1 && limit <= 100, PAGE_LIMIT_RULE)
  .default(50);

/** Query of the lists of deliveries. */
export const ListDeliveries = z.strictObject({
  status: z.enum(DELIVERY_STATUSES).exactOptional(),
  event: EventName.exactOptional(),
  /** Accepted at or after. */
  since: Time.exactOptional(),
  /** Accepted before. */
  until: Time.exactOptional(),
  limit: PageLimit,
  cursor: z.string().max(256).exactOptional(),
});
export type ListDeliveries = z.infer<typeof ListDeliveries>;

const REPLAYABLE = ['delivered', 'failed', 'canceled'] as const;
const Replayable = z.enum(REPLAYABLE, { error: `must be one of ${REPLAYABLE.join(', ')}` });

/** Body of `POST /api/public/webhooks/{id}/replay`. */
export const RequestReplay = z
  .strictObject({
    since: Time,
    until: Time.exactOptional(),
    /** One status or several; what is pending needs no replay. */
    status: z
      .union([Replayable.transform((status) => [status]), z.array(Replayable).min(1).max(REPLAYABLE.length)])
      .default(['failed', 'canceled']),
  })
  .refine(({ since, until }) => until === undefined || until > since, {
    path: ['until'],
    error: 'must be later than since',
  });
export type RequestReplay = z.infer<typeof RequestReplay>;
