import { z } from 'zod';
import { ATTEMPT_ERRORS } from '../codes/attempt-errors.ts';
import { isCodeOf } from '../codes/code-table.ts';
import { DELIVERY_REASONS } from '../codes/delivery-reasons.ts';
import { EventName } from '../events.ts';
import { ID_PATTERNS } from '../ids/ids.ts';
import { refuseBoth, rule } from '../text.ts';
import { DELIVERY_STATUSES } from './delivery.ts';

/** An RFC 3339 time, as epoch ms. */
export const Time = z.iso
  .datetime({ offset: true, abort: true, error: rule('must be a time such as 2030-01-31T12:00:00Z') })
  .transform((text) => Date.parse(text))
  .meta({ examples: ['2030-01-31T12:00:00Z'] });

/** The place where a page begins, as a query parameter. */
export const CursorText = z
  .string()
  .max(256, 'must be the nextCursor of an earlier page')
  .meta({ description: 'The `nextCursor` of the page before.' });

const DeliveryStatusText = z.enum(DELIVERY_STATUSES).meta({ id: 'DeliveryStatus' });

/** The error of an attempt, or the reason of a delivery, that is asked for. */
export const ErrorFilter = z
  .string()
  .refine(
    (code) => isCodeOf(ATTEMPT_ERRORS, code) || isCodeOf(DELIVERY_REASONS, code),
    'must be the error of an attempt or the reason of a delivery, such as tls_expired; /errors lists them',
  );

/** The status of HTTP that is asked for, or a hundred of them. */
export const HttpStatusFilter = z
  .string()
  .regex(/^[1-9](\d\d|xx)$/, 'must be a status such as 503, or a hundred of them such as 5xx');

/** Query parameters, and fields of a replay, that ask for what deliveries came to. */
const ResultFields = {
  error: ErrorFilter.meta({
    description: 'Whose last attempt has this `error`, or which have this `reason`.',
    examples: ['tls_expired'],
  }).exactOptional(),
  httpStatus: HttpStatusFilter.meta({
    description: 'Whose last attempt was answered with this status, or with one of this hundred: `503`, `5xx`.',
    examples: ['5xx'],
  }).exactOptional(),
};

const PAGE_LIMIT_RULE = 'must be a whole number from 1 to 100';

/** How many items a page may hold, as a query parameter. */
export const PageLimit = z
  .string(PAGE_LIMIT_RULE)
  .regex(/^\d{1,3}$/, PAGE_LIMIT_RULE)
  .transform(Number)
  .refine((limit) => limit >= 1 && limit <= 100, PAGE_LIMIT_RULE)
  .default(50)
  .meta({
    description: 'How many items a page may hold, from 1 to 100. Default: 50.',
    // A query is text, and means a number.
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      delete jsonSchema.pattern;
      Object.assign(jsonSchema, { type: 'integer', minimum: 1, maximum: 100 });
    },
    examples: [50],
  });

/** Query of the lists of deliveries. */
const ListFields = {
  status: DeliveryStatusText.meta({ description: 'In this status.' }).exactOptional(),
  event: EventName.meta({ description: 'Of this event.' }).exactOptional(),
  since: Time.meta({ description: 'Accepted at or after this time.' }).exactOptional(),
  until: Time.meta({ description: 'Accepted before this time.' }).exactOptional(),
  ...ResultFields,
  sinceCursor: z
    .string()
    .max(256, 'must be the sinceCursor of an earlier list')
    .meta({
      description:
        'The `sinceCursor` of an earlier list: what was accepted since then, and again some of the half minute before.',
    })
    .exactOptional(),
  limit: PageLimit,
  cursor: CursorText.exactOptional(),
};

/** The rule of a time range, for a refinement by `isSpan`. */
export const UNTIL_RULE = { path: ['until'], error: 'must be later than since' };
export const isSpan = ({ since, until }: { readonly since?: number; readonly until?: number }) =>
  since === undefined || until === undefined || until > since;

export const ListDeliveries = z.strictObject(ListFields).refine(isSpan, UNTIL_RULE);
export type ListDeliveries = z.infer<typeof ListDeliveries>;

const ENDPOINT_RULE = 'must be the id of a receiver, such as wh_01kes8t4a0q3m1y5b9z7x2c6vd, or of a callback (cb_…)';
const RECEIVER_RULE = 'must be the id of a receiver, such as wh_01kes8t4a0q3m1y5b9z7x2c6vd';
const CALLBACK_RULE = 'must be the id of a callback, such as cb_01kes8t4a0q3m1y5b9z7x2c6vd';
const TaskIdFilter = z
  .string()
  .regex(ID_PATTERNS.task, 'must be the id of a Task, such as task_01kes8t4a0q3m1y5b9z7x2c6vd');

/** Query parameters that name one endpoint. */
const EndpointFields = {
  receiverId: z
    .string()
    .regex(ID_PATTERNS.receiver, RECEIVER_RULE)
    .meta({ description: 'Of this receiver.' })
    .exactOptional(),
  callbackId: z
    .string()
    .regex(/^cb_[0-9a-hjkmnp-tv-z]{26}$/, CALLBACK_RULE)
    .meta({ description: 'Of this callback of a Task.' })
    .exactOptional(),
  receiver: z
    .string()
    .regex(/^(wh|cb)_[0-9a-hjkmnp-tv-z]{26}$/, ENDPOINT_RULE)
    .meta({ deprecated: true, description: 'The former name of `receiverId` and `callbackId`.' })
    .exactOptional(),
};

/** Query of what tells whether anything has happened. */
export const NameEndpoint = z
  .strictObject(EndpointFields)
  .superRefine(refuseBoth('receiver', 'receiverId', 'callbackId'));

/** The endpoint that a query names, if it names one. */
export function namedEndpoint({ receiverId, callbackId, receiver }: z.infer<typeof NameEndpoint>): string | undefined {
  return receiverId ?? callbackId ?? receiver;
}

/** Query of the list of a workspace's deliveries. */
export const ListWorkspaceDeliveries = z
  .strictObject({
    ...ListFields,
    ...EndpointFields,
    taskId: TaskIdFilter.meta({ description: 'About this Task.' }).exactOptional(),
    transitionId: z
      .string()
      .regex(/^trn_[a-z2-7]{32}$/, 'must be the id of a transition, such as trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw')
      .meta({
        description:
          'About this transition: the `id` in the body of an event. All of them on one page; of those that have left for the history, only those to receivers.',
      })
      .exactOptional(),
    task: TaskIdFilter.meta({ deprecated: true, description: 'The former name of `taskId`.' }).exactOptional(),
  })
  .refine(isSpan, UNTIL_RULE)
  .superRefine(refuseBoth('receiver', 'receiverId', 'callbackId'))
  .superRefine(refuseBoth('task', 'taskId'));
export type ListWorkspaceDeliveries = z.infer<typeof ListWorkspaceDeliveries>;

const REPLAYABLE = ['delivered', 'failed', 'canceled', 'pending'] as const;
// Generators of clients need its name.
const Replayable = z.enum(REPLAYABLE).meta({ id: 'ReplayableStatus' });

/** Replays that a workspace may have under way at once. */
export const REPLAY_LIMIT = 10;

/** Body of `POST /api/public/webhooks/{id}/replay`. */
export const RequestReplay = z
  .strictObject({
    since: Time.meta({ description: 'Deliveries accepted at or after this time.' }),
    until: Time.meta({ description: 'Deliveries accepted before this time. Default: now.' }).exactOptional(),
    status: z
      .union(
        [
          Replayable.transform((status) => [status]),
          z
            .array(Replayable)
            .min(1, 'must have at least one status, or be left out for failed and canceled')
            .max(REPLAYABLE.length),
        ],
        { error: `must be one of ${REPLAYABLE.join(', ')}, or an array of them` },
      )
      .default(['failed', 'canceled'])
      .meta({
        description:
          'Default: `failed` and `canceled`. One that is `pending` gets one more attempt now, beside its schedule, unless it is due anyway or waits for its turn; while the receiver is held back, one is tried at once. One that is `delivered` stays so, at its time, and gets one more attempt. One status alone, without the array, is taken too.',
        // A union without a name makes generated clients clumsy.
        override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
          const list = (jsonSchema.anyOf as Record<string, unknown>[] | undefined)?.find(
            ({ type }) => type === 'array',
          );
          delete jsonSchema.anyOf;
          Object.assign(jsonSchema, list);
        },
      }),
    event: EventName.meta({ description: 'Only deliveries of this event.' }).exactOptional(),
    ...ResultFields,
  })
  .refine(({ since, until }) => until === undefined || until > since, {
    path: ['until'],
    error: 'must be later than since',
  })
  .meta({ id: 'RequestReplay', examples: [{ since: '2030-01-31T12:00:00Z', status: ['failed'] }] });
export type RequestReplay = z.infer<typeof RequestReplay>;
