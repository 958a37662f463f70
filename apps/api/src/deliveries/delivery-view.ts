import {
  ANSWER_HEADERS,
  type AnswerHeaders,
  ATTEMPT_ERRORS,
  type AttemptError,
  BODY_NOTES,
  CallbackIdText,
  DELIVERY_REASONS,
  DELIVERY_STATUSES,
  deliveryHeaders,
  DeliveryIdText,
  EndpointIdText,
  EventName,
  isCallbackId,
  isCodeOf,
  ReceiverIdText,
  SIGNATURE_HEADERS,
  TaskEventName,
  TaskIdText,
  TransitionIdText,
} from '@herald/core';
import { toRequestHeaders } from '@herald/egress/create-sender';
import { VERSION } from '@herald/runtime/version';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import type { DeliveryPage as ListedPage } from '@herald/store/lists/delivery-lists';
import type { DeliveryReader, ListedDelivery } from '@herald/store/lists/delivery-reader';
import { z } from 'zod';
import { NextCursor, readCursor, TimeText, toTime, writeCursor } from '../http/answer-fields.ts';
import { CodeList } from '../http/problem.ts';

/** Why a delivery was not delivered. */
export const DeliveryReasonCode = CodeList('DeliveryReason', DELIVERY_REASONS, 'Why it failed or was canceled.');

/** Why an attempt got no status. */
export const AttemptErrorCode = CodeList('AttemptError', ATTEMPT_ERRORS, 'Why no usable answer came.');

const AttemptFields = {
  at: TimeText,
  durationMs: z.int().min(0),
  status: z.int().min(100).max(999).meta({ description: "The endpoint's HTTP status." }).exactOptional(),
  error: AttemptErrorCode.exactOptional(),
};

/** The last attempt, in a list: without its answer. */
export const LastAttempt = z.strictObject(AttemptFields).meta({ id: 'LastAttempt' });

const DeliveryFields = {
  id: DeliveryIdText,
  event: EventName,
  sampleOf: TaskEventName.meta({
    description: 'Of a test event that is a sample: the event that it shows.',
  }).exactOptional(),
  status: z.enum(DELIVERY_STATUSES),
  receiverId: ReceiverIdText.nullable().meta({
    description: 'The receiver that it goes to. Null: it goes to a callback.',
  }),
  callbackId: CallbackIdText.nullable().meta({
    description: "The Task's callback that it goes to. Null: it goes to a receiver.",
  }),
  endpointId: EndpointIdText.meta({ deprecated: true, description: 'The former name of both.' }),
  transitionId: TransitionIdText,
  taskId: TaskIdText.nullable().meta({ description: 'Null on a test event.' }),
  createdAt: TimeText,
  tries: z.int().min(0).meta({ description: 'Attempts made that count against the schedule.' }),
  nextAttemptAt: TimeText.nullable().meta({
    description: 'When the next try is due. With `waitingFor`, the latest time. Null when none is.',
  }),
  waitingFor: DeliveryIdText.meta({
    description:
      'Only of a receiver or callback with `ordering: "task"`: the delivery of the same Task that must end first.',
  }).exactOptional(),
  settledAt: TimeText.nullable(),
  lastAttempt: LastAttempt.nullable().meta({ description: 'Null before the first.' }),
  reason: DeliveryReasonCode.exactOptional(),
  owedAttempts: z.int().min(1).meta({ description: 'Pending redeliveries.' }).exactOptional(),
  erasedAt: TimeText.meta({
    description: 'When its payload was erased with those of its Task. No body and nothing of an answer is left.',
  }).exactOptional(),
};

const EXAMPLE = {
  id: 'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
  event: 'task.done',
  status: 'delivered',
  receiverId: 'wh_01kes8t4a0q3m1y5b9z7x2c6vd',
  callbackId: null,
  endpointId: 'wh_01kes8t4a0q3m1y5b9z7x2c6vd',
  transitionId: 'trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw',
  taskId: 'task_01kes8t4a0q3m1y5b9z7x2c6vd',
  createdAt: '2030-01-31T12:00:00.000Z',
  tries: 2,
  nextAttemptAt: null,
  settledAt: '2030-01-31T12:00:05.351Z',
  lastAttempt: { at: '2030-01-31T12:00:05.310Z', durationMs: 41, status: 204 },
};

/** A delivery as its workspace sees it. */
export const DeliveryView = z
  .strictObject(DeliveryFields)
  .meta({ id: 'Delivery', description: 'One transition for one endpoint.', examples: [EXAMPLE] });

/** A note that a newer version made is left out. */
export const BodyNoteCode = CodeList(
  'BodyNote',
  BODY_NOTES,
  'What was odd about the answer. It changes nothing: the status decides. Absent when nothing was.',
);

/** The beginning of an endpoint's answer. */
export const AnswerText = z.string().meta({
  description:
    'The first 1 KiB of the answer, as it came. Escape it before you show it. Invalid UTF-8 is U+FFFD. Absent when it was empty.',
});

const answerHeader = z.string().exactOptional();

const AttemptView = z
  .strictObject({
    ...AttemptFields,
    headers: z
      .strictObject(
        Object.fromEntries(ANSWER_HEADERS.map((name) => [name, answerHeader])) as Record<
          keyof AnswerHeaders,
          typeof answerHeader
        >,
      )
      .meta({
        description: 'The headers that explain the answer, the first 256 bytes of each. Absent if there are none.',
      })
      .exactOptional(),
    answer: AnswerText.exactOptional(),
    bodyNote: BodyNoteCode.exactOptional(),
    address: z
      .string()
      .meta({
        description:
          'The IP address that was called, also through a proxy of the platform. Absent when there was no connection.',
        examples: ['203.0.113.7'],
      })
      .exactOptional(),
    keyIds: z
      .array(z.string())
      .meta({
        description:
          'Ids of the signing secrets that were used: the first 6 hexadecimal digits of the SHA-256 of the secret as it was shown. During a rotation first the new one, then the former one, which made `x-service-signature`.',
        examples: [['5f2a90']],
      })
      .exactOptional(),
    answerDigest: z
      .string()
      .meta({
        description:
          'The first 32 hexadecimal digits of the SHA-256 of the body of the answer, as far as it was read (at most 64 KiB). Absent when there was none.',
        examples: ['2689367b205c16ce32ed4200942b8b8b'],
      })
      .exactOptional(),
  })
  .meta({ id: 'Attempt', description: 'One HTTP request made for a delivery.' });

const EXAMPLE_BODY =
  '{"id":"trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw","event":"task.done","created_at":"2030-01-31T12:00:00.000Z","sequence":3,"task":{"id":"task_01kes8t4a0q3m1y5b9z7x2c6vd","status":"done"}}';

const REQUEST_EXAMPLE = {
  method: 'POST',
  url: 'https://hooks.example.com/herald',
  headers: {
    host: 'hooks.example.com',
    'user-agent': `Herald/${VERSION}`,
    'content-type': 'application/json',
    'content-length': String(EXAMPLE_BODY.length),
    'x-service-event': 'task.done',
    'x-service-delivery': 'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
    'webhook-id': 'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
    'webhook-timestamp': '1896091205',
  },
  omittedHeaders: [...SIGNATURE_HEADERS],
  body: EXAMPLE_BODY,
};

/** What is sent, on every attempt alike but for the time and the signatures. */
export const DeliveryRequest = z
  .strictObject({
    method: z.literal('POST'),
    url: z.string().nullable().meta({ description: 'The url of its endpoint. Null when that was removed.' }),
    urlChangedAt: TimeText.meta({
      description: 'When the url was changed after the last attempt, which went to the former one.',
    }).exactOptional(),
    headers: z.record(z.string(), z.string()).meta({
      description:
        'As the last attempt sent them, names in lower case. `host` is that of `url`, and `webhook-timestamp` is there once there was an attempt. Without those of the connection, and without `traceparent`, which differs with every attempt.',
    }),
    omittedHeaders: z.array(z.string()).meta({
      description: "Sent as well, and never shown: the signatures, and the endpoint's own headers as they are now.",
    }),
    body: z
      .string()
      .nullable()
      .meta({ description: 'The exact bytes that are sent, in UTF-8. Null when they are no longer kept.' }),
    bodyGone: z.enum(['not_kept', 'erased']).meta({ description: 'Why there is no body.' }).exactOptional(),
  })
  .meta({ id: 'DeliveryRequest' });

export const DeliveryWithAttempts = z
  .strictObject({
    ...DeliveryFields,
    request: DeliveryRequest,
    attempts: z.array(AttemptView).meta({ description: 'Oldest first.' }),
  })
  .meta({
    id: 'DeliveryWithAttempts',
    examples: [
      {
        ...EXAMPLE,
        request: REQUEST_EXAMPLE,
        attempts: [
          {
            at: '2030-01-31T12:00:00.120Z',
            durationMs: 83,
            status: 503,
            headers: { 'content-type': 'text/plain', 'retry-after': '5', server: 'nginx' },
            answer: 'try later',
          },
          { at: '2030-01-31T12:00:05.310Z', durationMs: 41, status: 204 },
        ],
      },
    ],
  });

export const DeliveryPage = z
  .strictObject({
    deliveries: z.array(DeliveryView),
    nextCursor: NextCursor,
    sinceCursor: z
      .string()
      .meta({
        description:
          'Keep it for the next look: as `sinceCursor`, it lists what has come since. On the first page of a list; absent when the history could not be reached.',
      })
      .exactOptional(),
    historyUnavailable: z
      .literal(true)
      .meta({ description: 'The history could not be reached: deliveries may be missing in this page.' })
      .exactOptional(),
  })
  .meta({ id: 'DeliveryPage' });

export function toDeliveryView(delivery: ListedDelivery): z.infer<typeof DeliveryView> {
  const { id, event, status, endpointId, transitionId, taskId, createdAt, tries, nextAttemptAt, settledAt } = delivery;
  const { sampleOf, waitingFor, lastAttempt, reason, owedAttempts, erasedAt } = delivery;
  return {
    id,
    // A notice to the platform has another owner, so none gets here.
    event: EventName.parse(event),
    ...(sampleOf !== undefined && { sampleOf }),
    status,
    receiverId: isCallbackId(endpointId) ? null : endpointId,
    callbackId: isCallbackId(endpointId) ? endpointId : null,
    endpointId,
    transitionId,
    taskId: taskId ?? null,
    createdAt: toTime(createdAt),
    tries,
    nextAttemptAt: nextAttemptAt === undefined ? null : toTime(nextAttemptAt),
    ...(waitingFor !== undefined && { waitingFor }),
    settledAt: settledAt === undefined ? null : toTime(settledAt),
    lastAttempt: lastAttempt ? toLastAttempt(lastAttempt) : null,
    ...(isCodeOf(DELIVERY_REASONS, reason) && { reason }),
    ...(owedAttempts > 0 && { owedAttempts }),
    ...(erasedAt !== undefined && { erasedAt: toTime(erasedAt) }),
  };
}

/** What is accepted is in the lists within this time after the time that it bears, in ms: a process may wait for Redis. */
const SETTLED_AFTER_MS = 30_000;

/** The filter of a list that goes on from an earlier look. */
export function sinceLook<Filter extends { readonly since?: number; readonly sinceCursor?: string }>({
  sinceCursor,
  ...filter
}: Filter) {
  const at = readCursor(sinceCursor, 'sinceCursor')?.at;
  return at === undefined ? filter : { ...filter, since: Math.max(at, filter.since ?? 0) };
}

/** @param lookedAt when the list was asked for, of its first page (epoch ms) */
export function toDeliveryPage(
  { deliveries, next, isPartial }: ListedPage,
  lookedAt?: number,
): z.infer<typeof DeliveryPage> {
  const isWhole = lookedAt !== undefined && !isPartial;
  return {
    deliveries: deliveries.map(toDeliveryView),
    nextCursor: next ? writeCursor(next) : null,
    ...(isWhole && { sinceCursor: writeCursor({ at: lookedAt - SETTLED_AFTER_MS, id: '' }) }),
    ...(isPartial && { historyUnavailable: true }),
  };
}

/** Of the lists that go on in history. */
export const MAY_BE_PARTIAL =
  'Old deliveries come from the history, if the service has one. When it cannot be reached, a page with newer ones says `historyUnavailable`, and one that would have none is `history_unavailable`.';

export function toLastAttempt({ at, durationMs, status, error }: AttemptRecord): z.infer<typeof LastAttempt> {
  return {
    at: toTime(at),
    durationMs,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error: toAttemptError(error) }),
  };
}

/** A code of a newer version's worker reads as the most general one. */
export function toAttemptError(code: string): AttemptError {
  return isCodeOf(ATTEMPT_ERRORS, code) ? code : 'connection_failed';
}

export function toAttemptView(attempt: AttemptRecord): z.infer<typeof AttemptView> {
  const { headers, answer, bodyNote, address, keyIds, digest } = attempt;
  return {
    ...toLastAttempt(attempt),
    ...(headers && { headers }),
    ...(answer !== undefined && { answer }),
    ...(isCodeOf(BODY_NOTES, bodyNote) && { bodyNote }),
    ...(address !== undefined && { address }),
    ...(keyIds && { keyIds: [...keyIds] }),
    ...(digest !== undefined && { answerDigest: digest }),
  };
}

type Content = Awaited<ReturnType<DeliveryReader['readContent']>>;

export function toRequestView(
  delivery: ListedDelivery,
  { url, urlChangedAt, headerNames = [], body }: Content,
): z.infer<typeof DeliveryRequest> {
  const lastAt = delivery.lastAttempt?.at;
  const bodyBytes = body === undefined ? undefined : Buffer.byteLength(body);
  return {
    method: 'POST',
    url: url ?? null,
    ...(urlChangedAt !== undefined &&
      lastAt !== undefined &&
      lastAt < urlChangedAt && { urlChangedAt: toTime(urlChangedAt) }),
    headers: {
      ...toRequestHeaders(url === undefined ? undefined : URL.parse(url), bodyBytes),
      ...deliveryHeaders(delivery, lastAt),
    },
    omittedHeaders: [...SIGNATURE_HEADERS, ...headerNames],
    body: body ?? null,
    ...(body === undefined && { bodyGone: delivery.erasedAt === undefined ? 'not_kept' : 'erased' }),
  };
}
