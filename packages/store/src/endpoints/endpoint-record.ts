import {
  EVENT_NAMES,
  groupOf,
  originOf,
  type DisabledReason,
  type Endpoint,
  type EndpointId,
  type EventName,
  type Ordering,
  type OriginId,
  type RateLimit,
} from '@herald/core';
import { createHash } from 'node:crypto';

export type EndpointRecord = Endpoint & {
  readonly origin: OriginId;
  /** Where its deliveries wait in the queue. */
  readonly group: string;
  readonly encryptedSecret: string;
  /** The headers of its own (see `createSealHeaders`); absent when it has none. */
  readonly encryptedHeaders?: string;
  /** During a rotation's overlap: the old secret, and until when it is in force (epoch ms). */
  readonly previousSecret?: { readonly encrypted: string; readonly until: number };
  /** When its url was changed last, epoch ms; absent while it has the first. */
  readonly urlChangedAt?: number;
  /** Since when it has failed (epoch ms), if the platform was told of it; absent after the first success. */
  readonly toldSince?: number;
  /** Times are epoch ms. */
  readonly health: {
    readonly consecutiveFailures: number;
    readonly failingSince?: number;
    /** The last attempt that failed since it has failed; absent when a former version recorded it. */
    readonly lastFailure?: LastFailure;
    readonly lastSuccessAt?: number;
    /** The success that ended its last failures, or the change that reset them; absent while there were none. */
    readonly healthySince?: number;
  };
};

/** When an attempt failed (epoch ms), and its status, or the code of why none came. */
export type LastFailure = { readonly at: number; readonly status?: number; readonly error?: string };

/** An endpoint's own headers as they are stored: names in clear; names and values encrypted. No names: no headers. */
export type SealedHeaders = { readonly names: readonly string[]; readonly encrypted: string };

/** A field of the endpoint hash. `write` returns undefined for a value that is said by having no field. */
type Field<T> = { readonly name: string; read(text: string): T; write(value: T): string | undefined };

function field<T>(name: string, read: (text: string) => T, write: (value: T) => string | undefined): Field<T> {
  return { name, read, write };
}
const text = (name: string) => field<string>(name, String, String);
const number = (name: string) => field<number>(name, Number, String);

/** Fields that every endpoint has, or that only this file and the scripts know. Nobody sets them. */
const INNER_FIELDS = {
  workspaceId: text('ws'),
  /** Of a callback, the name of its group. Its own headers are for this origin. */
  origin: text('dst'),
  createdAt: number('at'),
  encryptedSecret: text('sec'),
  /** During a rotation's overlap: the old secret, and until when it is in force. */
  previousSecret: text('sec2'),
  previousUntil: number('sec2To'),
  consecutiveFailures: number('fails'),
};

/** The same of what is set. */
const SET_INNER_FIELDS = {
  url: text('url'),
  events: field<readonly EventName[]>('events', readEvents, (events) => events.join(',')),
  description: text('desc'),
  enabled: field(
    'on',
    (on) => on === '1',
    (isEnabled) => (isEnabled ? '1' : '0'),
  ),
  encryptedHeaders: text('hdr'),
  /** See `readHeaderNames`. */
  headersOf: text('hdrOf'),
};

/**
 * Fields that a record has under the same name, as long as the hash has them, and that somebody sets. The version of a
 * receiver follows from them, in this order.
 */
const SET_FIELDS = {
  rateLimit: field<RateLimit>(
    'rate',
    (rate) => ({ perSecond: Number(rate) }),
    ({ perSecond }) => String(perSecond),
  ),
  maxRetryHours: number('maxH'),
  ordering: field<Ordering>(
    'ord',
    () => 'task',
    (ordering) => (ordering === 'task' ? '1' : undefined),
  ),
  orderingTimeoutMs: number('ordTo'),
  disabledAt: number('offAt'),
  disabledReason: field('offWhy', (reason) => reason as DisabledReason, String),
  disabledBy: text('offBy'),
  lockedReason: text('lockWhy'),
};

/** The same of what deliveries tell, and of a pause: a customer who changes something changes none of it. */
const OTHER_FIELDS = {
  urlChangedAt: number('urlAt'),
  pausedAt: number('pauseAt'),
  pausedReason: text('pauseWhy'),
  toldSince: number('told'),
};
const OPTIONAL_FIELDS = { ...SET_FIELDS, ...OTHER_FIELDS };

/** The same of its `health`. */
const HEALTH_FIELDS = {
  failingSince: number('failAt'),
  lastFailure: field('failWhy', readLastFailure, writeLastFailure),
  lastSuccessAt: number('okAt'),
  healthySince: number('okFrom'),
};

/**
 * Every field of the endpoint hash that is read here, by the name that its value has here. Registering, changing,
 * loading and reading an endpoint, and its version, follow from this table. The scripts name those that they judge by.
 */
const FIELDS = { ...INNER_FIELDS, ...SET_INNER_FIELDS, ...OPTIONAL_FIELDS, ...HEALTH_FIELDS };
type Fields = typeof FIELDS;
type ValueOf<F> = F extends Field<infer T> ? T : never;

/** What of an endpoint's hash changes. null removes a field; what is undefined or left out stays. */
export type EndpointChange = { readonly [Name in keyof Fields]?: ValueOf<Fields[Name]> | null | undefined };

/** As an endpoint keeps it: `<epoch ms> <status or code>`. */
export function writeLastFailure({ at, status, error = '' }: LastFailure): string {
  return `${at} ${status ?? error}`;
}

function readLastFailure(text: string): LastFailure {
  const [at, why = ''] = text.split(' ');
  return { at: Number(at), ...(/^\d+$/.test(why) ? { status: Number(why) } : { error: why }) };
}

type Entries<Table> = readonly (readonly [keyof Table, Field<unknown>])[];
const ENTRIES = Object.entries(FIELDS) as Entries<Fields>;
const OPTIONAL = Object.entries(OPTIONAL_FIELDS) as Entries<typeof OPTIONAL_FIELDS>;
const HEALTH = Object.entries(HEALTH_FIELDS) as Entries<typeof HEALTH_FIELDS>;

/** The fields of the hash that `readEndpoint` reads. */
export const ENDPOINT_FIELDS = ENTRIES.map(([, { name }]) => name);

/** A change as the names of fields to remove, and the names and values of those to set. */
export function toFields(change: EndpointChange): { readonly removed: string[]; readonly set: string[] } {
  const removed: string[] = [];
  const set: string[] = [];
  for (const [property, known] of ENTRIES) {
    const value = change[property];
    if (value === undefined) continue;
    const written = value === null ? undefined : known.write(value);
    if (written === undefined) removed.push(known.name);
    else set.push(known.name, written);
  }
  return { removed, set };
}

/** The hash of a new endpoint, as names and values. */
export function endpointFields(endpoint: Endpoint, encryptedSecret: string, headers?: SealedHeaders): string[] {
  const { id: _id, headerNames: _names, ...values } = endpoint;
  const origin = originOf(endpoint.workspaceId, endpoint.url);
  const { set } = toFields({
    ...values,
    origin,
    encryptedSecret,
    ...(headers &&
      headers.names.length > 0 && {
        encryptedHeaders: headers.encrypted,
        headersOf: `${origin} ${headers.names.join(',')}`,
      }),
  });
  return set;
}

export function readEndpoint(id: EndpointId, hash: Hash): EndpointRecord | undefined {
  const { ws, url, events, desc, on, at, sec, dst, sec2, sec2To, hdr, hdrOf, fails } = hash;
  if (ws === undefined || url === undefined || sec === undefined) return undefined;
  const origin = dst ?? originOf(ws, url);
  const headerNames = readHeaderNames(hdrOf, origin);
  return {
    id,
    workspaceId: ws,
    url,
    events: readEvents(events),
    description: desc ?? '',
    enabled: on === '1',
    createdAt: Number(at),
    ...(headerNames && hdr !== undefined && { headerNames, encryptedHeaders: hdr }),
    origin,
    group: groupOf(id, origin),
    encryptedSecret: sec,
    ...(sec2 !== undefined && { previousSecret: { encrypted: sec2, until: Number(sec2To) } }),
    ...readOptional(OPTIONAL, hash),
    health: { consecutiveFailures: Number(fails ?? 0), ...readOptional(HEALTH, hash) },
  };
}

/** The fields of the hash of which a version follows. */
const VERSIONED = Object.values({ ...SET_INNER_FIELDS, ...SET_FIELDS }).map(({ name }) => name);

/** Changes with whatever its workspace or the platform can set of an endpoint, and with nothing else. */
export function versionOf(hash: Hash): string {
  const values = VERSIONED.map((name) => (hash[name] === undefined ? '-' : `+${hash[name]}`));
  return createHash('sha1').update(values.join('\0')).digest('hex');
}

/** `versionOf(endpoint)`: the same of an endpoint (hash). */
export const VERSION_LUA = /* lua */ `
local function versionOf(endpoint)
  local values = redis.call('HMGET', endpoint, ${VERSIONED.map((name) => `'${name}'`).join(', ')})
  for index = 1, ${VERSIONED.length} do values[index] = values[index] and '+' .. values[index] or '-' end
  return redis.sha1hex(table.concat(values, '\\0'))
end
`;

type Hash = Readonly<Record<string, string>>;
type Optional<Table> = { readonly [Name in keyof Table]?: ValueOf<Table[Name]> };

function readOptional<Table>(entries: Entries<Table>, hash: Hash): Optional<Table> {
  const values: { [Name in keyof Table]?: unknown } = {};
  for (const [property, known] of entries) {
    const value = hash[known.name];
    if (value !== undefined) values[property] = known.read(value);
  }
  return values as Optional<Table>;
}

/**
 * The names of an endpoint's own headers. `hdrOf` is the origin for which they were given, a blank, and the names.
 * Undefined when there are none, or when they are another origin's: no other host may get them.
 */
export function readHeaderNames(hdrOf: string | null | undefined, origin: OriginId): readonly string[] | undefined {
  const [of, names] = hdrOf?.split(' ') ?? [];
  return of === origin ? names?.split(',') : undefined;
}

export function readEvents(text: string | undefined): EventName[] {
  const names = (text ?? '').split(',');
  return EVENT_NAMES.filter((name) => names.includes(name));
}

/**
 * The version of a workspace's subscriptions is a random token, and `token:until` (epoch ms) once somebody listens to
 * the workspace. Acceptance reads and compares the version anyway, so that it costs a transition nothing to learn that
 * nobody listens. A former release compares the text as a whole, and tells no listener.
 */
export function isListened(version: string, now: number): boolean {
  const at = version.indexOf(':');
  return at >= 0 && Number(version.slice(at + 1)) > now;
}

export const SUBSCRIPTION_VERSION_LUA = /* lua */ `
-- version: of the subscriptions of a workspace (string)   token: a new one
-- Gives the subscriptions a new version. Until when somebody listens stays as it is.
local function changeVersion(version, token)
  local listened = string.match(redis.call('GET', version) or '', ':%d+$') or ''
  redis.call('SET', version, token .. listened)
end
`;
