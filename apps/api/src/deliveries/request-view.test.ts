import type { ListedDelivery } from '@herald/store/deliveries/delivery-reader';
import { DeliveryRequest, toRequestView } from './request-view.ts';

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
