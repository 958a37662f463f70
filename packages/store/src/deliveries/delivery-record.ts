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
import { DELIVERY_FIELDS, ENDPOINT_FIELDS, TRANSITION_FIELDS } from './loaded-fields.ts';

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
  /** The trace in which its transition was accepted (W3C Trace Context). */
  readonly traceparent?: string;
  /** Absent when it was removed meanwhile. */
  readonly endpoint?: EndpointRecord;
  readonly destination: DestinationId;
  /** Of the request that reported the transition; for the log. */
  readonly requestId?: string;
};

/** `body_lost`: Redis forgot the transition but not the record, as a failover can. */
export type LoadReply = LoadedDelivery | { readonly kind: 'body_lost' } | { readonly kind: 'missing' };

const Values = z.array(z.string().nullable());
const Shared = z.union([Values, z.literal(1)]);
const LoadedRow = z.union([z.tuple([Values, Shared, Shared]), z.tuple([])]);

/** What deliveries of one reply share: each is in it once. */
type SharedParts = {
  readonly transitions: Map<string, TransitionPart>;
  readonly endpoints: Map<string, EndpointRecord | undefined>;
};
type TransitionPart = { readonly fields: Readonly<Record<string, string>>; readonly body: Buffer | undefined };

/**
 * Parses what a script read of deliveries with `load`, all of one reply. Undefined where that failed, so that nothing else fails with it:
 * whoever needs the delivery loads it by itself, and learns why.
 */
export function readLoadedDeliveries(
  rows: readonly { readonly id: DeliveryId; readonly row: unknown }[],
): (LoadReply | undefined)[] {
  const shared: SharedParts = { transitions: new Map(), endpoints: new Map() };
  return rows.map(({ id, row }) => {
    try {
      return readLoadedDelivery(id, row, shared);
    } catch {
      return undefined;
    }
  });
}

function readLoadedDelivery(id: DeliveryId, reply: unknown, shared: SharedParts): LoadReply {
  const row = LoadedRow.parse(reply);
  if (row.length === 0) return { kind: 'missing' };
  const [values, transitionValues, endpointValues] = row;
  const fields = takeFields(DELIVERY_FIELDS, values);
  const transition = readTransition(fields.x ?? '', transitionValues, shared);
  const endpoint = readSharedEndpoint(fields.e ?? '', endpointValues, shared);
  const { ev, ws = '', task, req, trace } = transition.fields;
  if (transition.body === undefined) return { kind: 'body_lost' };
  return {
    kind: 'loaded',
    delivery: readDelivery(id, fields, { workspaceId: ws, event: EventName.parse(ev), ...(task && { taskId: task }) }),
    body: transition.body,
    ...(trace !== undefined && { traceparent: trace }),
    ...(endpoint && { endpoint }),
    destination: endpoint?.destination ?? '',
    ...(req !== undefined && { requestId: req }),
  };
}

function readTransition(id: string, values: z.infer<typeof Shared>, { transitions }: SharedParts): TransitionPart {
  if (values !== 1) {
    const fields = takeFields(TRANSITION_FIELDS, values);
    transitions.set(id, { fields, body: fields.body === undefined ? undefined : Buffer.from(fields.body) });
  }
  const part = transitions.get(id);
  if (!part) throw new Error('the reply has no such transition');
  return part;
}

function readSharedEndpoint(id: string, values: z.infer<typeof Shared>, { endpoints }: SharedParts) {
  if (values !== 1) endpoints.set(id, readEndpoint(id, takeFields(ENDPOINT_FIELDS, values)));
  return endpoints.get(id);
}

/** Values by the names of their fields; those that there aren't are left out. */
function takeFields(names: readonly string[], values: readonly (string | null)[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const value = values[index];
    if (value != null) fields[name] = value;
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
