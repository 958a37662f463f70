import {
  DELIVERY_STATUSES,
  DeliveryEvent,
  TaskEventName,
  type Delivery,
  type ListedPast,
  type PastDelivery,
} from '@herald/core';
import { z } from 'zod';

const Bytes = z.instanceof(Uint8Array);
const Time = z.number();

const DeliveryRow = z.object({
  id: Bytes,
  workspace_id: z.string(),
  endpoint_id: z.string(),
  transition_id: Bytes,
  task_id: z.string().nullable(),
  event: DeliveryEvent,
  status: z.enum(DELIVERY_STATUSES),
  reason: z.string().nullable(),
  created_at: Time,
  scheduled_at: Time.nullable(),
  settled_at: Time,
  tries: z.number(),
  place: z.number().nullable(),
  is_released: z.boolean(),
  sample_of: TaskEventName.nullable(),
  erased_at: Time.nullable(),
});

const WithAttempts = DeliveryRow.extend({ attempts: z.string() });
const WithLast = DeliveryRow.extend({ last_attempt: z.string().nullable() });

/** @throws ZodError when the row is damaged */
export function readDeliveryRow(given: unknown): PastDelivery {
  const row = WithAttempts.parse(given);
  return { delivery: toDelivery(row), attempts: readAttemptsText(row.attempts) };
}

/** @throws ZodError when the row is damaged */
export function readListedRow(given: unknown): ListedPast {
  const row = WithLast.parse(given);
  return { delivery: toDelivery(row), ...(row.last_attempt !== null && { last: row.last_attempt }) };
}

function toDelivery(row: z.infer<typeof DeliveryRow>): Delivery {
  return {
    id: toDeliveryId(row.id),
    workspaceId: row.workspace_id,
    endpointId: row.endpoint_id,
    transitionId: toTransitionId(row.transition_id),
    event: row.event,
    status: row.status,
    createdAt: row.created_at,
    tries: row.tries,
    scheduledAt: row.scheduled_at ?? row.created_at,
    settledAt: row.settled_at,
    owedAttempts: 0,
    ...(row.task_id !== null && { taskId: row.task_id }),
    ...(row.sample_of !== null && { sampleOf: row.sample_of }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.place !== null && { place: row.place }),
    ...(row.is_released && { isReleased: true }),
    ...(row.erased_at !== null && { erasedAt: row.erased_at }),
  };
}

/** The entries of a log from a JSON array of them. */
export function readAttemptsText(text: string): string[] {
  return z
    .array(z.unknown())
    .parse(JSON.parse(text))
    .map((entry) => JSON.stringify(entry));
}

/** Parts of an attempt that tell nothing of what the receiver answered. The first is the attempt itself. */
const KEPT = new Set(['', 'at', 'durationMs', 'status', 'error', 'p']);

/** An entry of a log without what the receiver answered. */
export function withoutAnswer(attempt: string): string {
  const kept = (name: string, value: unknown) => (KEPT.has(name) ? value : undefined);
  return JSON.stringify(JSON.parse(attempt, kept));
}

/** The alphabet of base32 in the order of ASCII: the bytes of two ids have the order of their texts. */
const ALPHABET = '234567abcdefghijklmnopqrstuvwxyz';
const VALUES = new Map(Array.from(ALPHABET, (character, value) => [character, value]));
const TEXT = /^[a-z]{3}_[a-z2-7]{32}$/;
const BYTES = 20;

/** The 160 bits of the id of a delivery or a transition. */
export function toIdBytes(id: string): Buffer {
  if (!TEXT.test(id)) throw new TypeError(`${id} is no id of a delivery or a transition`);
  const bytes = Buffer.alloc(BYTES);
  let buffer = 0;
  let bits = 0;
  let end = 0;
  for (let index = 4; index < id.length; index++) {
    buffer = ((buffer << 5) | (VALUES.get(id.charAt(index)) ?? 0)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[end++] = buffer >>> bits;
  }
  return bytes;
}

export const toDeliveryId = (bytes: Uint8Array): string => toId('dlv_', bytes);
export const toTransitionId = (bytes: Uint8Array): string => toId('trn_', bytes);

function toId(prefix: string, bytes: Uint8Array): string {
  let text = prefix;
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xffff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET.charAt((buffer >>> (bits - 5)) & 31);
  }
  return text;
}
