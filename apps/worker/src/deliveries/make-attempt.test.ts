import { createSigningKey, newSigningSecret, type Delivery } from '@herald/core';
import type { SendRequest } from '@herald/egress/create-sender';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { Tracing } from '@herald/runtime/tracing/create-tracing';
import { createMakeAttempt } from './make-attempt.ts';

const NOW = 1_800_000_000_000;
const VALUE = 'canary-7c1f';
const key = createSigningKey(newSigningSecret());

const delivery: Delivery = {
  id: 'dlv_1',
  workspaceId: 'ws_1',
  endpointId: 'wh_1',
  transitionId: 'trn_1',
  event: 'task.done',
  status: 'pending',
  createdAt: NOW,
  tries: 0,
  scheduledAt: NOW,
  owedAttempts: 0,
};
const endpoint: EndpointRecord = {
  id: 'wh_1',
  workspaceId: 'ws_1',
  url: 'https://hooks.example.com/in',
  events: [],
  description: '',
  enabled: true,
  createdAt: NOW,
  origin: 'ori',
  group: 'wh_x',
  encryptedSecret: 'encrypted',
  health: { consecutiveFailures: 0 },
};

/** Makes an attempt that is answered with its headers; returns it, what was opened, and what the span says. */
async function attempt(more: Partial<EndpointRecord>, stored: Record<string, string> = {}) {
  const requests: SendRequest[] = [];
  const opened: string[] = [];
  const spans: unknown[] = [];
  const tracing: Pick<Tracing, 'startAttempt'> = {
    startAttempt: (...facts) => {
      spans.push(facts);
      return { traceparent: 'ours', end: (end) => spans.push(end) };
    },
  };
  const makeAttempt = createMakeAttempt({
    send: (request) => {
      requests.push(request);
      return Promise.resolve({
        outcome: { kind: 'responded', status: 200, answer: JSON.stringify(request.headers) },
        durationMs: 1,
      });
    },
    signingKeyOf: () => key,
    ownHeadersOf: (encrypted, endpointId) => {
      opened.push(`${endpointId} ${encrypted}`);
      return stored;
    },
    tracing: tracing as Tracing,
    sendsTraceparent: true,
    now: () => NOW,
  });
  const body = Buffer.from('{}');
  const { outcome } = await makeAttempt({ kind: 'loaded', delivery, body }, { ...endpoint, ...more });
  return { headers: requests[0]?.headers ?? {}, outcome, opened, spans };
}

test('an endpoint without headers of its own has nothing decrypted but its secret', async () => {
  const { headers, opened } = await attempt({});
  expect(opened).toEqual([]);
  expect(Object.keys(headers).sort()).toEqual([
    ...['content-type', 'traceparent', 'webhook-id', 'webhook-signature', 'webhook-timestamp'],
    ...['x-service-delivery', 'x-service-event', 'x-service-signature'],
  ]);
});

test('the headers of an endpoint go with the request, beside the same others, and into neither span nor outcome', async () => {
  const { headers, outcome, opened, spans } = await attempt({ encryptedHeaders: 'sealed' }, { authorization: VALUE });
  const { headers: usual } = await attempt({});
  expect(headers).toEqual({ ...usual, authorization: VALUE });
  expect(opened).toEqual(['wh_1 sealed']);
  expect(spans).toHaveLength(2);
  expect(JSON.stringify([spans, outcome])).not.toContain(VALUE);
});

test('no header that is stored takes the place of one of Herald’s', async () => {
  const { headers: usual } = await attempt({});
  const stored = Object.fromEntries(Object.keys(usual).map((name) => [name, VALUE]));
  expect((await attempt({ encryptedHeaders: 'sealed' }, stored)).headers).toEqual(usual);
});
