import type { Delivery } from '@herald/core';
import type { ListedDelivery } from '@herald/store/lists/delivery-reader';
import { DeliveryRequest, toAttemptView, toDeliveryView, toRequestView } from './delivery-view.ts';

test.each([
  ['tls_expired', 'tls_expired'],
  ['tls_failed', 'tls_failed'], // also what a former version wrote for every failure of TLS
  ['quic_failed', 'connection_failed'], // of a newer version's worker
])('the recorded code %s of an attempt is shown as %s', (error, shown) => {
  expect(toAttemptView({ at: 0, durationMs: 1, error })).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    durationMs: 1,
    error: shown,
  });
});

test.each([
  ['schedule_exhausted', { reason: 'schedule_exhausted' }],
  ['of_a_newer_version', {}],
  [undefined, {}],
])('the recorded reason %p of a delivery is shown as %j', (reason, shown) => {
  const delivery: Delivery = {
    id: 'dlv_a',
    workspaceId: 'ws_a',
    endpointId: 'wh_a',
    transitionId: 'trn_a',
    event: 'task.done',
    status: 'failed',
    createdAt: 0,
    tries: 10,
    scheduledAt: 0,
    owedAttempts: 0,
    ...(reason !== undefined && { reason }),
  };
  const { reason: seen } = toDeliveryView(delivery);
  expect({ ...(seen !== undefined && { reason: seen }) }).toEqual(shown);
});

const ATTEMPTED = Date.UTC(2030, 0, 31, 12, 0, 1, 900);
const untried: ListedDelivery = {
  id: `dlv_${'a'.repeat(32)}`,
  workspaceId: 'ws_1',
  endpointId: 'cb_1',
  transitionId: 'trn_1',
  event: 'task.done',
  status: 'pending',
  createdAt: 0,
  scheduledAt: 0,
  tries: 0,
  owedAttempts: 0,
};
const tried = { ...untried, lastAttempt: { at: ATTEMPTED, durationMs: 1, status: 204 } };
const content = { url: 'https://hooks.example.com:8443/in?token=1', body: '{"text":"Grüße"}' };

function view(delivery: ListedDelivery, kept: Parameters<typeof toRequestView>[1]) {
  const request = toRequestView(delivery, kept);
  return DeliveryRequest.parse(request);
}

test('a request has its method, url, headers and body, and names what is left out', () => {
  const { headers, ...request } = view(tried, content);
  expect(request).toEqual({
    method: 'POST',
    url: content.url,
    omittedHeaders: ['x-service-signature', 'webhook-signature'],
    body: content.body,
  });
  expect(headers).toMatchObject({
    host: 'hooks.example.com:8443',
    'content-length': '18',
    'x-service-event': 'task.done',
    'webhook-timestamp': '1896091201',
  });
});

test('the endpoint’s own headers are named, and not shown', () => {
  const { headers, omittedHeaders } = view(tried, { ...content, headerNames: ['authorization', 'x-tenant'] });
  expect(omittedHeaders).toEqual(['x-service-signature', 'webhook-signature', 'authorization', 'x-tenant']);
  expect(headers).toEqual(view(tried, content).headers);
});

test('before the first attempt there is no time of one', () => {
  expect(view(untried, content).headers).not.toHaveProperty('webhook-timestamp');
});

test('without the endpoint there is no url, and without the body a reason', () => {
  const { url, body, bodyGone, headers } = view(tried, {});
  expect({ url, body, bodyGone }).toEqual({ url: null, body: null, bodyGone: 'not_kept' });
  expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['host']));
  expect(headers).not.toHaveProperty('content-length');
});

test.each([
  { when: 'after the last attempt', delivery: tried, at: ATTEMPTED + 1, isTold: true },
  { when: 'before it', delivery: tried, at: ATTEMPTED - 1, isTold: false },
  { when: 'before the first attempt', delivery: untried, at: 1, isTold: false },
])('a url that was changed $when: told $isTold', ({ delivery, at, isTold }) => {
  const { urlChangedAt } = view(delivery, { ...content, urlChangedAt: at });
  expect(urlChangedAt).toBe(isTold ? new Date(at).toISOString() : undefined);
});
