import {
  CallbackIdText,
  DELIVERY_STATUSES,
  DeliveryIdText,
  EventName,
  ReceiverIdText,
  TaskIdText,
  TransitionIdText,
  type Delivery,
} from '@herald/core';
import type { AttemptRecord } from '@herald/store/deliveries/delivery-record';
import { z } from 'zod';
import { NextCursor } from '../http/cursor.ts';
import { StableCode, TimeText, toTime } from '../http/to-time.ts';

const DeliveryFields = {
  id: DeliveryIdText,
  event: EventName,
  status: z.enum(DELIVERY_STATUSES),
  endpointId: z.union([ReceiverIdText, CallbackIdText]),
  transitionId: TransitionIdText,
  taskId: TaskIdText.nullable().meta({ description: 'Null on a test event.' }),
  createdAt: TimeText,
  tries: z.int().min(0).meta({ description: 'Tries made of the schedule.' }),
  nextAttemptAt: TimeText.nullable().meta({ description: 'When the next try is due; null when none is.' }),
  settledAt: TimeText.nullable(),
  reason: StableCode.meta({
    description: 'Why it failed or was canceled, as a stable code.',
    examples: ['schedule_exhausted', 'too_old', 'receiver_disabled', 'receiver_removed', 'payload_erased'],
  }).exactOptional(),
  owedAttempts: z.int().min(1).meta({ description: 'Redeliveries asked for and not made yet.' }).exactOptional(),
  erasedAt: TimeText.meta({
    description: 'When its payload was erased with those of its Task: no body, and no text of its answers, is left.',
  }).exactOptional(),
};

const EXAMPLE = {
  id: 'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
  event: 'task.done',
  status: 'delivered',
  endpointId: 'wh_01kes8t4a0q3m1y5b9z7x2c6vd',
  transitionId: 'trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw',
  taskId: 'task_01kes8t4a0q3m1y5b9z7x2c6vd',
  createdAt: '2030-01-31T12:00:00.000Z',
  tries: 2,
  nextAttemptAt: null,
  settledAt: '2030-01-31T12:00:05.351Z',
};

/** A delivery as its workspace sees it. */
export const DeliveryView = z
  .strictObject(DeliveryFields)
  .meta({ id: 'Delivery', description: 'One transition that one endpoint is to be told of.', examples: [EXAMPLE] });

const AttemptView = z
  .strictObject({
    at: TimeText,
    durationMs: z.int().min(0),
    status: z.int().min(100).max(999).meta({ description: "The endpoint's HTTP status." }).exactOptional(),
    error: StableCode.meta({
      description: 'Why no status came, as a stable code.',
      examples: ['timeout_response', 'connection_refused', 'dns_failed', 'address_blocked'],
    }).exactOptional(),
    answer: z.string().meta({ description: 'The first 1 KiB of the answer, made harmless.' }).exactOptional(),
  })
  .meta({ id: 'Attempt', description: 'One HTTP request made for a delivery.' });

export const DeliveryWithAttempts = z
  .strictObject({
    ...DeliveryFields,
    attempts: z.array(AttemptView).meta({ description: 'In the order they were made.' }),
  })
  .meta({
    id: 'DeliveryWithAttempts',
    examples: [
      {
        ...EXAMPLE,
        attempts: [
          { at: '2030-01-31T12:00:00.120Z', durationMs: 83, status: 503, answer: 'try later' },
          { at: '2030-01-31T12:00:05.310Z', durationMs: 41, status: 204, answer: '' },
        ],
      },
    ],
  });

export const DeliveryPage = z
  .strictObject({ deliveries: z.array(DeliveryView), nextCursor: NextCursor })
  .meta({ id: 'DeliveryPage' });

export function toDeliveryView(delivery: Delivery): z.infer<typeof DeliveryView> {
  const { id, event, status, endpointId, transitionId, taskId, createdAt, tries, nextAttemptAt, settledAt } = delivery;
  return {
    id,
    // A notice to the platform has another owner, so none gets here.
    event: EventName.parse(event),
    status,
    endpointId,
    transitionId,
    taskId: taskId ?? null,
    createdAt: toTime(createdAt),
    tries,
    nextAttemptAt: nextAttemptAt === undefined ? null : toTime(nextAttemptAt),
    settledAt: settledAt === undefined ? null : toTime(settledAt),
    ...(delivery.reason !== undefined && { reason: delivery.reason }),
    ...(delivery.owedAttempts > 0 && { owedAttempts: delivery.owedAttempts }),
    ...(delivery.erasedAt !== undefined && { erasedAt: toTime(delivery.erasedAt) }),
  };
}

export function toAttemptView({ at, durationMs, status, error, answer }: AttemptRecord): z.infer<typeof AttemptView> {
  return {
    at: toTime(at),
    durationMs,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...(answer !== undefined && { answer }),
  };
}
