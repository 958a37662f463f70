import {
  ATTEMPT_ERRORS,
  CallbackIdText,
  DELIVERY_REASONS,
  DELIVERY_STATUSES,
  DeliveryIdText,
  EventName,
  isCodeOf,
  ReceiverIdText,
  TaskIdText,
  TransitionIdText,
  type AttemptError,
  type Delivery,
} from '@herald/core';
import type { AttemptRecord } from '@herald/store/deliveries/delivery-record';
import { z } from 'zod';
import { CodeList } from '../http/code-list.ts';
import { NextCursor } from '../http/cursor.ts';
import { TimeText, toTime } from '../http/to-time.ts';

const DeliveryFields = {
  id: DeliveryIdText,
  event: EventName,
  status: z.enum(DELIVERY_STATUSES),
  endpointId: z.union([ReceiverIdText, CallbackIdText]),
  transitionId: TransitionIdText,
  taskId: TaskIdText.nullable().meta({ description: 'Null on a test event.' }),
  createdAt: TimeText,
  tries: z.int().min(0).meta({ description: 'Attempts made that count against the schedule.' }),
  nextAttemptAt: TimeText.nullable().meta({ description: 'When the next try is due. Null when none is.' }),
  settledAt: TimeText.nullable(),
  reason: CodeList('DeliveryReason', DELIVERY_REASONS, 'Why it failed or was canceled.').exactOptional(),
  owedAttempts: z.int().min(1).meta({ description: 'Pending redeliveries.' }).exactOptional(),
  erasedAt: TimeText.meta({
    description: 'When its payload was erased with those of its Task. No body and no text of an answer is left.',
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
  .meta({ id: 'Delivery', description: 'One transition for one endpoint.', examples: [EXAMPLE] });

/** Why an attempt got no status. */
export const AttemptErrorCode = CodeList('AttemptError', ATTEMPT_ERRORS, 'Why no usable answer came.');

const AttemptView = z
  .strictObject({
    at: TimeText,
    durationMs: z.int().min(0),
    status: z.int().min(100).max(999).meta({ description: "The endpoint's HTTP status." }).exactOptional(),
    error: AttemptErrorCode.exactOptional(),
    answer: z.string().meta({ description: 'The first 1 KiB of the answer, safe to display.' }).exactOptional(),
  })
  .meta({ id: 'Attempt', description: 'One HTTP request made for a delivery.' });

export const DeliveryWithAttempts = z
  .strictObject({
    ...DeliveryFields,
    attempts: z.array(AttemptView).meta({ description: 'Oldest first.' }),
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
    ...(isCodeOf(DELIVERY_REASONS, delivery.reason) && { reason: delivery.reason }),
    ...(delivery.owedAttempts > 0 && { owedAttempts: delivery.owedAttempts }),
    ...(delivery.erasedAt !== undefined && { erasedAt: toTime(delivery.erasedAt) }),
  };
}

export function toAttemptView({ at, durationMs, status, error, answer }: AttemptRecord): z.infer<typeof AttemptView> {
  return {
    at: toTime(at),
    durationMs,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error: toAttemptError(error) }),
    ...(answer !== undefined && { answer }),
  };
}

/** A code of a newer version's worker reads as the most general one. */
export function toAttemptError(code: string): AttemptError {
  return isCodeOf(ATTEMPT_ERRORS, code) ? code : 'connection_failed';
}
