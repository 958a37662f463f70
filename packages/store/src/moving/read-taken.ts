import {
  deliveryIdOf,
  type DeliveryId,
  type MovedDelivery,
  type MovedTransition,
  type TransitionId,
} from '@herald/core';
import { z } from 'zod';
import { readAttempt, writeAttempt } from '../deliveries/attempt-record.ts';
import { readFirstAttempt } from '../deliveries/first-attempt.ts';
import { readDelivery, takeFields } from '../deliveries/delivery-record.ts';
import { MOVED_DELIVERY_FIELDS, MOVED_TRANSITION_FIELDS } from './take-settled-script.ts';

/** A settled delivery as it moves. */
export type SettledDelivery = MovedDelivery & {
  /** Its place in the list of what is to move: by it and by its attempts it is told from a later version. */
  readonly score: string;
};

export type SettledTransition = MovedTransition & {
  /** All of its deliveries, those elsewhere too. */
  readonly deliveryIds: readonly DeliveryId[];
};

const Values = z.array(z.string().nullable());
export const TakeReply = z.union([
  z.tuple([z.literal('held')]),
  z.tuple([
    z.literal('taken'),
    z.number(),
    z.array(z.tuple([z.string(), z.string(), Values, z.array(z.string())])),
    z.array(z.tuple([z.string(), Values])),
  ]),
]);
type Taken = Extract<z.infer<typeof TakeReply>, readonly ['taken', ...unknown[]]>;

/** As renderWebhookBody begins it. */
const SEQUENCE = /^\{"id":"[^"]*","event":"[^"]*","created_at":"[^"]*","sequence":(\d+),/;

/** Parses what was taken. A record that is damaged is named in `damaged`, and holds up no other. */
export function readTaken([, , rows, transitionRows]: Taken) {
  const fieldsOf = new Map(transitionRows.map(([id, values]) => [id, takeFields(MOVED_TRANSITION_FIELDS, values)]));
  const transitions = new Map<TransitionId, SettledTransition>();
  const deliveries: SettledDelivery[] = [];
  const damaged: DeliveryId[] = [];
  for (const [id, score, values, list] of rows) {
    try {
      const fields = takeFields(MOVED_DELIVERY_FIELDS, values);
      const transitionFields = fieldsOf.get(fields.x ?? '') ?? {};
      const delivery = readDelivery(id, fields, transitionFields);
      const { transitionId, createdAt, settledAt = createdAt, erasedAt = 0 } = delivery;
      const first = readFirstAttempt(fields);
      const attempts = [...(first ? [writeAttempt(first)] : []), ...list];
      const last = attempts.at(-1);
      const changedAt = Math.max(settledAt, erasedAt, last === undefined ? 0 : readAttempt(last).at);
      deliveries.push({ delivery, attempts, changedAt, score });
      if (!transitions.has(transitionId)) {
        transitions.set(transitionId, toTransition(transitionId, createdAt, transitionFields));
      }
    } catch {
      damaged.push(id);
    }
  }
  return { deliveries, transitions: [...transitions.values()], damaged };
}

function toTransition(id: TransitionId, createdAt: number, fields: Record<string, string>): SettledTransition {
  const { as, req, trace, erased, body, eps = '' } = fields;
  const sequence = SEQUENCE.exec(body ?? '')?.[1];
  return {
    id,
    createdAt,
    ...(sequence !== undefined && { sequence: Number(sequence) }),
    ...(as !== undefined && { sampleOf: as }),
    ...(req !== undefined && { requestId: req }),
    ...(trace !== undefined && { traceparent: trace }),
    ...(erased !== undefined && { erasedAt: Number(erased) }),
    ...(body !== undefined && { body }),
    deliveryIds: eps.split(',').map((endpointId) => deliveryIdOf(id, endpointId)),
  };
}
