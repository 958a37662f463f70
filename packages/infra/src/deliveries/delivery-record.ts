import { DELIVERY_STATUSES, EventName, type Delivery, type DeliveryId, type DeliveryStatus } from '@herald/core';
import { z } from 'zod';
import { readEndpoint, type EndpointRecord } from '../endpoints/endpoint-record.ts';

/** What one attempt leaves in the log. */
export type AttemptRecord = {
  /** Epoch ms. */
  readonly at: number;
  readonly durationMs: number;
  /** The receiver's HTTP status; absent when none came. */
  readonly status?: number;
  /** Why no status came. */
  readonly error?: string;
  /** First 1 KiB of the answer, safe to show. */
  readonly answer?: string;
};

/** A delivery with all that an attempt needs. */
export type LoadedDelivery = {
  readonly kind: 'loaded';
  readonly delivery: Delivery;
  readonly body: Buffer;
  /** Absent when it was removed meanwhile. */
  readonly endpoint?: EndpointRecord;
};

/** `body_lost`: Redis forgot the transition but not the record, as a failover can. */
export type LoadReply = LoadedDelivery | { readonly kind: 'body_lost' } | { readonly kind: 'missing' };

const FlatReply = z.array(z.string());
const LoadFields = z.tuple([FlatReply, FlatReply, FlatReply]);

/** Parses the reply of `LOAD_DELIVERY_LUA`. */
export function readLoadedDelivery(id: DeliveryId, reply: unknown): LoadReply {
  if (reply === null) return { kind: 'missing' };
  const [delivery, transition, endpoint] = LoadFields.parse(reply).map(toRecord);
  if (!delivery || !transition) return { kind: 'missing' };
  const { e: endpointId = '', x: transitionId = '', s: status, n, at, due } = delivery;
  const { ev, ws = '', task, body } = transition;
  if (body === undefined) return { kind: 'body_lost' };
  const record = readEndpoint(endpointId, endpoint ?? {});
  return {
    kind: 'loaded',
    delivery: {
      id,
      endpointId,
      transitionId,
      workspaceId: ws,
      ...(task !== undefined && { taskId: task }),
      event: EventName.parse(ev),
      status: readStatus(status),
      createdAt: Number(at),
      tries: Number(n),
      ...(due !== undefined && { nextAttemptAt: Number(due) }),
    },
    body: Buffer.from(body),
    ...(record && { endpoint: record }),
  };
}

export function readStatus(text: string | undefined): DeliveryStatus {
  return z.enum(DELIVERY_STATUSES).parse(text);
}

export function toRecord(flat: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let index = 0; index + 1 < flat.length; index += 2) record[flat[index] ?? ''] = flat[index + 1] ?? '';
  return record;
}
