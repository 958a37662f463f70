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

/** Fields of the endpoint hash. `on` is '1' or '0'; `sec` is the encrypted signing secret. */
export function endpointFields(endpoint: Endpoint, encryptedSecret: string): string[] {
  return Object.entries({
    ws: endpoint.workspaceId,
    url: endpoint.url,
    dst: groupOf(endpoint),
    events: endpoint.events.join(','),
    desc: endpoint.description,
    on: endpoint.enabled ? '1' : '0',
    at: String(endpoint.createdAt),
    sec: encryptedSecret,
    ...(endpoint.rateLimit && { rate: String(endpoint.rateLimit.perSecond) }),
    ...(endpoint.disabledAt !== undefined && { offAt: String(endpoint.disabledAt) }),
    ...(endpoint.disabledReason !== undefined && { offWhy: endpoint.disabledReason }),
  }).flat();
}

function groupOf({ id, workspaceId, url, rateLimit }: Endpoint): string {
  const destination = destinationOf(workspaceId, url);
  return rateLimit ? laneOf(destination, rateLimit.perSecond, id) : destination;
}

export function readEndpoint(id: EndpointId, fields: Record<string, string>): EndpointRecord | undefined {
  const { ws, url, events, desc, on, at, sec, offAt, offWhy, fails, failAt, okAt, okFrom, dst, sec2, sec2To } = fields;
  const { urlAt, told, rate } = fields;
  if (ws === undefined || url === undefined || sec === undefined) return undefined;
  const group = dst ?? destinationOf(ws, url);
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
    ...(rate !== undefined && { rateLimit: { perSecond: Number(rate) } }),
    destination: groupOfLane(group),
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

export function readEvents(text: string | undefined): EventName[] {
  const names = (text ?? '').split(',');
  return EVENT_NAMES.filter((name) => names.includes(name));
}
