import {
  DELIVERY_STATUSES,
  EventName,
  type Delivery,
  type DeliveryId,
  type DeliveryStatus,
  type DestinationId,
} from '@herald/core';
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

/** What keeps a destination's deliveries back for now. */
export type DestinationState = {
  readonly id: DestinationId;
  /** The breaker is open: one probe at a time, and no more. */
  readonly isOpen: boolean;
  /** Nothing goes out before this time, epoch ms; 0: nothing was asked. */
  readonly holdUntil: number;
};

/** A delivery with all that an attempt needs. */
export type LoadedDelivery = {
  readonly kind: 'loaded';
  readonly delivery: Delivery;
  readonly body: Buffer;
  /** The trace in which its transition was accepted (W3C Trace Context). */
  readonly traceparent?: string;
  /** Absent when it was removed meanwhile. */
  readonly endpoint?: EndpointRecord;
  readonly destination: DestinationState;
  /** Of the request that reported the transition; for the log. */
  readonly requestId?: string;
  /** It waits in its destination's backlog, visible from then (epoch ms); a time in the future is a lease: it is in work. */
  readonly inBacklogFrom?: number;
};

/** `body_lost`: Redis forgot the transition but not the record, as a failover can. */
export type LoadReply = LoadedDelivery | { readonly kind: 'body_lost' } | { readonly kind: 'missing' };

const FlatReply = z.array(z.string());
const LoadFields = z.tuple([FlatReply, FlatReply, FlatReply, FlatReply, z.string()]);

/** Parses what `LOAD_DELIVERIES_LUA` replies for one delivery. */
export function readLoadedDelivery(id: DeliveryId, reply: unknown): LoadReply {
  if (reply === '') return { kind: 'missing' };
  const [delivery, transition, endpoint, breaker, backlogScore] = LoadFields.parse(reply);
  const { ev, ws = '', task, body, req, trace } = toRecord(transition);
  if (body === undefined) return { kind: 'body_lost' };
  const fields = toRecord(delivery);
  const { open, hold } = toRecord(breaker);
  const record = readEndpoint(fields.e ?? '', toRecord(endpoint));
  return {
    kind: 'loaded',
    delivery: readDelivery(id, fields, { workspaceId: ws, event: EventName.parse(ev), ...(task && { taskId: task }) }),
    body: Buffer.from(body),
    ...(trace !== undefined && { traceparent: trace }),
    ...(record && { endpoint: record }),
    destination: { id: record?.destination ?? '', isOpen: open === '1', holdUntil: Number(hold ?? 0) },
    ...(req !== undefined && { requestId: req }),
    ...(backlogScore !== '' && { inBacklogFrom: Number(backlogScore) }),
  };
}

/** A record's fields, with what its transition says of it. */
export function readDelivery(
  id: DeliveryId,
  { e, x, s, n, at, from, due, owe, end, why }: Record<string, string>,
  transition: Pick<Delivery, 'workspaceId' | 'event' | 'taskId'>,
): Delivery {
  return {
    ...transition,
    id,
    endpointId: e ?? '',
    transitionId: x ?? '',
    status: readStatus(s),
    createdAt: Number(at),
    scheduledAt: Number(from ?? at),
    tries: Number(n),
    owedAttempts: Number(owe ?? 0),
    ...(due !== undefined && { nextAttemptAt: Number(due) }),
    ...(end !== undefined && { settledAt: Number(end) }),
    ...(why !== undefined && { reason: why }),
  };
}

function readStatus(text: string | undefined): DeliveryStatus {
  return z.enum(DELIVERY_STATUSES).parse(text);
}

function toRecord(flat: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let index = 0; index + 1 < flat.length; index += 2) record[flat[index] ?? ''] = flat[index + 1] ?? '';
  return record;
}
