import {
  CallbackIdText,
  DELIVERY_REASONS,
  DELIVERY_STATUSES,
  DeliveryIdText,
  EndpointIdText,
  EventName,
  isCallbackId,
  isCodeOf,
  ReceiverIdText,
  TaskEventName,
  TaskIdText,
  TransitionIdText,
} from '@herald/core';
import type { DeliveryPage as ListedPage } from '@herald/store/deliveries/delivery-lists';
import type { ListedDelivery } from '@herald/store/deliveries/delivery-reader';
import { z } from 'zod';
import { CodeList } from '../http/problem.ts';
import { NextCursor, readCursor, writeCursor } from '../http/cursor.ts';
import { TimeText, toTime } from '../http/to-time.ts';
import { AttemptView, LastAttempt, toLastAttempt } from './attempt-view.ts';
import { DeliveryRequest, REQUEST_EXAMPLE } from './request-view.ts';

/** Why a delivery was not delivered. */
export const DeliveryReasonCode = CodeList('DeliveryReason', DELIVERY_REASONS, 'Why it failed or was canceled.');

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
