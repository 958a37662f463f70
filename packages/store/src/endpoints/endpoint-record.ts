import {
  destinationOf,
  EVENT_NAMES,
  type DestinationId,
  type DisabledReason,
  type Endpoint,
  type EndpointId,
  type EventName,
} from '@herald/core';
import { groupOfLane, laneOf } from '@herald/queue';

export type EndpointRecord = Endpoint & {
  readonly destination: DestinationId;
  /** Where its deliveries wait in the queue: the group of its destination, or its lane in it while it has a rate. */
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
    readonly lastSuccessAt?: number;
    /** The success that ended its last failures, or the change that reset them; absent while there were none. */
    readonly healthySince?: number;
  };
};

/** An endpoint's own headers as they are stored: names in clear; names and values encrypted. No names: no headers. */
export type SealedHeaders = { readonly names: readonly string[]; readonly encrypted: string };

/**
 * Fields of the endpoint hash. `on` is '1' or '0'; `sec` is the encrypted signing secret, `hdr` the encrypted headers
 * (see `readHeaderNames`); `ord` is '1' for `task` order, `ordTo` its timeout (ms).
 */
export function endpointFields(endpoint: Endpoint, encryptedSecret: string, headers?: SealedHeaders): string[] {
  const destination = destinationOf(endpoint.workspaceId, endpoint.url);
  return Object.entries({
    ws: endpoint.workspaceId,
    url: endpoint.url,
    dst: groupOf(endpoint, destination),
    events: endpoint.events.join(','),
    desc: endpoint.description,
    on: endpoint.enabled ? '1' : '0',
    at: String(endpoint.createdAt),
    sec: encryptedSecret,
    ...(endpoint.rateLimit && { rate: String(endpoint.rateLimit.perSecond) }),
    ...(endpoint.disabledAt !== undefined && { offAt: String(endpoint.disabledAt) }),
    ...(endpoint.disabledReason !== undefined && { offWhy: endpoint.disabledReason }),
    ...(headers &&
      headers.names.length > 0 && { hdr: headers.encrypted, hdrOf: `${destination} ${headers.names.join(',')}` }),
    ...(endpoint.maxRetryHours !== undefined && { maxH: String(endpoint.maxRetryHours) }),
    ...(endpoint.ordering === 'task' && { ord: '1' }),
    ...(endpoint.orderingTimeoutMs !== undefined && { ordTo: String(endpoint.orderingTimeoutMs) }),
  }).flat();
}

function groupOf({ id, rateLimit }: Endpoint, destination: DestinationId): string {
  return rateLimit ? laneOf(destination, rateLimit.perSecond, id) : destination;
}

export function readEndpoint(id: EndpointId, fields: Record<string, string>): EndpointRecord | undefined {
  const { ws, url, events, desc, on, at, sec, offAt, offWhy, fails, failAt, okAt, okFrom, dst, sec2, sec2To } = fields;
  const { urlAt, told, hdr, hdrOf, maxH, ord, ordTo, rate } = fields;
  if (ws === undefined || url === undefined || sec === undefined) return undefined;
  const group = dst ?? destinationOf(ws, url);
  const destination = groupOfLane(group);
  const headerNames = readHeaderNames(hdrOf, destination);
  return {
    id,
    workspaceId: ws,
    url,
    events: readEvents(events),
    description: desc ?? '',
    enabled: on === '1',
    createdAt: Number(at),
    ...(offAt !== undefined && { disabledAt: Number(offAt) }),
    ...(offWhy !== undefined && { disabledReason: offWhy as DisabledReason }),
    ...(maxH !== undefined && { maxRetryHours: Number(maxH) }),
    ...(headerNames && hdr !== undefined && { headerNames, encryptedHeaders: hdr }),
    ...(ord !== undefined && { ordering: 'task' }),
    ...(ordTo !== undefined && { orderingTimeoutMs: Number(ordTo) }),
    ...(rate !== undefined && { rateLimit: { perSecond: Number(rate) } }),
    destination,
    group,
    encryptedSecret: sec,
    ...(sec2 !== undefined && { previousSecret: { encrypted: sec2, until: Number(sec2To) } }),
    ...(urlAt !== undefined && { urlChangedAt: Number(urlAt) }),
    ...(told !== undefined && { toldSince: Number(told) }),
    health: {
      consecutiveFailures: Number(fails ?? 0),
      ...(failAt !== undefined && { failingSince: Number(failAt) }),
      ...(okAt !== undefined && { lastSuccessAt: Number(okAt) }),
      ...(okFrom !== undefined && { healthySince: Number(okFrom) }),
    },
  };
}

/**
 * The names of an endpoint's own headers. `hdrOf` is the destination for which they were given, a blank, and the names.
 * Undefined when there are none, or when they are another destination's: an API of the former version doesn't remove
 * them with the url, and no other host may get them.
 */
export function readHeaderNames(
  hdrOf: string | null | undefined,
  destination: DestinationId,
): readonly string[] | undefined {
  const [of, names] = hdrOf?.split(' ') ?? [];
  return of === destination ? names?.split(',') : undefined;
}

export function readEvents(text: string | undefined): EventName[] {
  const names = (text ?? '').split(',');
  return EVENT_NAMES.filter((name) => names.includes(name));
}
