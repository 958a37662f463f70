import { EVENT_NAMES, type DisabledReason, type Endpoint, type EndpointId, type EventName } from '@herald/core';

/** Consecutive failures and the last success of an endpoint. Times are epoch ms. */
export type EndpointHealth = {
  readonly consecutiveFailures: number;
  readonly failingSince?: number;
  readonly lastSuccessAt?: number;
};

export type EndpointRecord = Endpoint & { readonly sealedSecret: string; readonly health: EndpointHealth };

/** Fields of the endpoint hash. `on` is '1' or '0'; `sec` is the sealed signing secret. */
export function endpointFields(endpoint: Endpoint, sealedSecret: string): string[] {
  return Object.entries({
    ws: endpoint.workspaceId,
    url: endpoint.url,
    events: endpoint.events.join(','),
    desc: endpoint.description,
    on: endpoint.enabled ? '1' : '0',
    at: String(endpoint.createdAt),
    sec: sealedSecret,
    ...(endpoint.disabledAt !== undefined && { offAt: String(endpoint.disabledAt) }),
    ...(endpoint.disabledReason !== undefined && { offWhy: endpoint.disabledReason }),
  }).flat();
}

export function readEndpoint(id: EndpointId, fields: Record<string, string>): EndpointRecord | undefined {
  const { ws, url, events, desc, on, at, sec, offAt, offWhy, fails, failAt, okAt } = fields;
  if (ws === undefined || url === undefined || sec === undefined) return undefined;
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
    sealedSecret: sec,
    health: {
      consecutiveFailures: Number(fails ?? 0),
      ...(failAt !== undefined && { failingSince: Number(failAt) }),
      ...(okAt !== undefined && { lastSuccessAt: Number(okAt) }),
    },
  };
}

export function readEvents(text: string | undefined): EventName[] {
  const names = (text ?? '').split(',');
  return EVENT_NAMES.filter((name) => names.includes(name));
}
