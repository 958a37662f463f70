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
import { BREAKER_FIELDS, DELIVERY_FIELDS, ENDPOINT_FIELDS, TRANSITION_FIELDS } from './loaded-fields.ts';

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

const LoadedValues = z.array(z.string().nullable());

/** Parses what `LOAD_DELIVERIES_LUA` replies for one delivery. */
export function readLoadedDelivery(id: DeliveryId, reply: unknown): LoadReply {
  const values = LoadedValues.parse(reply).values();
  const fields = takeFields(DELIVERY_FIELDS, values);
  if (fields.s === undefined) return { kind: 'missing' };
  const { ev, ws = '', task, body, req, trace } = takeFields(TRANSITION_FIELDS, values);
  if (body === undefined) return { kind: 'body_lost' };
  const record = readEndpoint(fields.e ?? '', takeFields(ENDPOINT_FIELDS, values));
  const { open, hold } = takeFields(BREAKER_FIELDS, values);
  const { score } = takeFields(['score'], values);
  return {
    kind: 'loaded',
    delivery: readDelivery(id, fields, { workspaceId: ws, event: EventName.parse(ev), ...(task && { taskId: task }) }),
    body: Buffer.from(body),
    ...(trace !== undefined && { traceparent: trace }),
    ...(record && { endpoint: record }),
    destination: { id: record?.destination ?? '', isOpen: open === '1', holdUntil: Number(hold ?? 0) },
    ...(req !== undefined && { requestId: req }),
    ...(score !== undefined && { inBacklogFrom: Number(score) }),
  };
}

/**
 * Parses what a script read on the way to something else. Undefined when that failed, so that nothing else fails with it: whoever needs
 * the delivery loads it by itself, and learns why.
 */
export function readLoadedIfSound(id: DeliveryId, reply: unknown): LoadReply | undefined {
  try {
    return readLoadedDelivery(id, reply);
  } catch {
    return undefined;
  }
}

/** The next values by the names of their fields; those that there aren't are left out. */
function takeFields(names: readonly string[], values: Iterator<string | null>): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const name of names) {
    const next = values.next();
    if (next.done !== true && next.value !== null) fields[name] = next.value;
  }
  return fields;
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

const StatusText = z.enum(DELIVERY_STATUSES);

function readStatus(text: string | undefined): DeliveryStatus {
  return StatusText.parse(text);
}
