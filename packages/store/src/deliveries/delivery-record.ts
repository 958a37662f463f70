import { DELIVERY_STATUSES, DeliveryEvent, TaskEventName, type Delivery, type DeliveryId } from '@herald/core';
import { z } from 'zod';
import { ENDPOINT_FIELDS, readEndpoint, type EndpointRecord } from '../endpoints/endpoint-record.ts';
import { TRIED_MS, UNUSED_LOG_MS } from '../keys/segment-lua.ts';

// The fields that an attempt needs of a delivery and of its transition, in the order in which `LOAD_LUA` returns their
// values. Of its endpoint it gets all (`ENDPOINT_FIELDS`).

/**
 * The script reads the first three by position. A million deliveries pay for each field, so one that was never tried has
 * no `n`, and one that has been due since it was accepted no `due`. Version 0.2.0 wrote both.
 */
export const DELIVERY_FIELDS = ['e', 'x', 's', 'n', 'at', 'from', 'due', 'owe', 'end', 'why', 'o', 'rel'] as const;
export const TRANSITION_FIELDS = ['ev', 'ws', 'task', 'body', 'req', 'trace', 'as'] as const;

/** A delivery with everything that an attempt needs. */
export type LoadedDelivery = {
  readonly kind: 'loaded';
  readonly delivery: Delivery;
  readonly body: Buffer;
  /** The trace in which its transition was accepted (W3C Trace Context). */
  readonly traceparent?: string;
  /** Absent when it has been removed. */
  readonly endpoint?: EndpointRecord;
  /** The request that reported the transition; for the log. */
  readonly requestId?: string;
};

/**
 * `body_lost`: Redis lost the transition but kept the record, which a failover can cause. `ended`: the delivery is
 * settled and owes no attempt, and its body is gone: it was erased.
 */
export type LoadReply =
  | LoadedDelivery
  | { readonly kind: 'body_lost' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'missing' };

const Values = z.array(z.string().nullable());
/** 1 stands for values that an earlier row of the same reply has. */
const SharedValues = z.union([Values, z.literal(1)]);
type SharedValues = z.infer<typeof SharedValues>;
const LoadedRow = z.union([z.tuple([Values, SharedValues, SharedValues]), z.tuple([])]);
const Status = z.enum(DELIVERY_STATUSES);

type Fields = Record<string, string>;
/** The transitions and endpoints of one reply, by id. */
const newShared = () => ({
  transitions: new Map<string, { readonly fields: Fields; readonly body: Buffer | undefined }>(),
  endpoints: new Map<string, EndpointRecord | undefined>(),
});
type Shared = ReturnType<typeof newShared>;

/**
 * Parses the rows that `load` returned in one reply. A row that can't be parsed becomes undefined, so that it doesn't
 * fail the others; `readLoadedDelivery` on that delivery alone throws the error.
 */
export function readLoadedDeliveries(
  rows: readonly { readonly id: DeliveryId; readonly row: unknown }[],
): (LoadReply | undefined)[] {
  const shared = newShared();
  return rows.map(({ id, row }) => {
    try {
      return readLoadedDelivery(id, row, shared);
    } catch {
      return undefined;
    }
  });
}

export function readLoadedDelivery(id: DeliveryId, reply: unknown, shared = newShared()): LoadReply {
  const row = LoadedRow.parse(reply);
  if (row.length === 0) return { kind: 'missing' };
  const [values, transitionValues, endpointValues] = row;
  const fields = takeFields(DELIVERY_FIELDS, values);
  const transition = readTransition(fields.x ?? '', transitionValues, shared);
  const endpoint = readSharedEndpoint(fields.e ?? '', endpointValues, shared);
  if (transition.body === undefined) {
    return { kind: fields.s !== 'pending' && fields.owe === undefined ? 'ended' : 'body_lost' };
  }
  const { req, trace } = transition.fields;
  return {
    kind: 'loaded',
    delivery: readDelivery(id, fields, transition.fields),
    body: transition.body,
    ...(trace !== undefined && { traceparent: trace }),
    ...(endpoint && { endpoint }),
    ...(req !== undefined && { requestId: req }),
  };
}

function readTransition(id: string, values: SharedValues, { transitions }: Shared) {
  if (values !== 1) {
    const fields = takeFields(TRANSITION_FIELDS, values);
    transitions.set(id, { fields, body: fields.body === undefined ? undefined : Buffer.from(fields.body) });
  }
  const transition = transitions.get(id);
  if (!transition) throw new Error('the reply has no such transition');
  return transition;
}

function readSharedEndpoint(id: string, values: SharedValues, { endpoints }: Shared) {
  if (values !== 1) endpoints.set(id, readEndpoint(id, takeFields(ENDPOINT_FIELDS, values)));
  return endpoints.get(id);
}

/** The fields that have a value, by name. */
export function takeFields(names: readonly string[], values: readonly (string | null)[]): Fields {
  const fields: Fields = {};
  for (const [index, name] of names.entries()) {
    const value = values[index];
    if (value != null) fields[name] = value;
  }
  return fields;
}

/** The fields of a transition that its deliveries show: `as` is the event of which it is a sample. */
export const SHOWN_TRANSITION_FIELDS = ['ws', 'ev', 'task', 'as', 'erased'] as const;

/**
 * A delivery, from the fields of its record and of its transition.
 * @throws ZodError when one of them is damaged
 */
export function readDelivery(
  id: DeliveryId,
  { e, x, s, n, at, from, due, owe, end, why, o, rel }: Fields,
  { ws, ev, task, as, erased }: Fields,
): Delivery {
  const dueAt = due ?? (s === 'pending' ? (from ?? at) : undefined);
  return {
    workspaceId: ws ?? '',
    event: DeliveryEvent.parse(ev),
    ...(as !== undefined && { sampleOf: TaskEventName.parse(as) }),
    ...(task !== undefined && { taskId: task }),
    id,
    endpointId: e ?? '',
    transitionId: x ?? '',
    status: Status.parse(s),
    createdAt: Number(at),
    scheduledAt: Number(from ?? at),
    tries: Number(n ?? 0),
    owedAttempts: Number(owe ?? 0),
    ...(dueAt !== undefined && { nextAttemptAt: Number(dueAt) }),
    ...(o !== undefined && { place: Number(o) }),
    ...(rel !== undefined && { isReleased: true }),
    ...(end !== undefined && { settledAt: Number(end) }),
    ...(why !== undefined && { reason: why }),
    ...(erased !== undefined && { erasedAt: Number(erased) }),
  };
}

/**
 * How long settled deliveries are kept, in ms. `expiryMs`: a record and its body, from settlement; 0: they don't expire,
 * but move to the history. `logMs`: an entry in an endpoint's log, from acceptance. It covers the longest time that the
 * record can live. `callbackMs`: a callback, beyond its Task.
 * @param recordMs `RETENTION`
 */
export function createDeliveryRetention(recordMs: number, hasHistory = false) {
  return {
    expiryMs: hasHistory ? 0 : recordMs,
    logMs: hasHistory ? UNUSED_LOG_MS : recordMs + TRIED_MS,
    callbackMs: recordMs + TRIED_MS,
  };
}
export type DeliveryRetention = ReturnType<typeof createDeliveryRetention>;

/** Begins the time for which settled deliveries are kept. Needs ACCOUNT_LUA and `local prefix`. */
export const RETAIN_LUA = /* lua */ `
-- Whether what has settled waits for the history: ttl is 0, or this process has none, though its data has one.
local hasHistory = nil
local function waits(ttl)
  if tonumber(ttl) == 0 then return true end
  if hasHistory == nil then hasHistory = redis.call('EXISTS', prefix .. 'history') == 1 end
  return hasHistory
end

-- ttl: ms from now; 0: until the delivery has moved to the history. isFirst: a time that has begun goes on. hasList:
-- false when all of its attempts are in its record.
local function retain(id, now, ttl, isFirst, hasList)
  if waits(ttl) then
    redis.call('ZADD', prefix .. 'settled', now, id)
    return
  end
  local record = prefix .. id
  for _, key in ipairs({ record, hasList ~= false and record .. ':a' or nil }) do
    if isFirst then redis.call('PEXPIRE', key, ttl, 'NX') else redis.call('PEXPIRE', key, ttl) end
  end
end

-- A transition goes with the last of its deliveries.
local function retainTransition(key, now, ttl, isFirst)
  local at = not waits(ttl) and timeToLeave(now, ttl)
  if at and not (isFirst and redis.call('PEXPIRETIME', key) > 0) then leaveAt(key, at) end
end
`;
