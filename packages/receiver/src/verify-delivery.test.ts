import { createSigningKey, newSigningSecret, renderTestBody, signatureHeaders } from '@herald/core';
import { sign, verifyDelivery, type DeliveryToVerify } from './index.ts';

const SECRET = newSigningSecret();
const OTHER = newSigningSecret();
const BODY = renderTestBody('trn_1', Date.UTC(2030, 0, 2));
const NOW = Date.UTC(2030, 0, 2);
const headers = sign({ rawBody: BODY, secret: SECRET, id: 'dlv_1', nowMs: NOW });
const delivery: DeliveryToVerify = { headers, rawBody: BODY, secrets: SECRET, nowMs: NOW };

test('what is genuine comes back as its event, with the signed id', () => {
  expect(verifyDelivery(delivery)).toEqual({ kind: 'genuine', event: JSON.parse(BODY) as unknown, id: 'dlv_1' });
});

test('so does what the service itself signs, during a rotation too', () => {
  const keys = { current: createSigningKey(OTHER), previous: createSigningKey(SECRET) };
  const own = signatureHeaders({ id: 'dlv_2', event: 'webhook.test', body: Buffer.from(BODY), now: NOW }, keys);
  expect(verifyDelivery({ ...delivery, headers: own, secrets: [OTHER, SECRET] })).toMatchObject({ id: 'dlv_2' });
});

/** What an API gateway, or a function that is given base64, has of the same request. */
test.each<[string, Partial<DeliveryToVerify>]>([
  ['lists of values', { headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, [text]])) }],
  ['names in capitals', { headers: Object.fromEntries(Object.entries(headers).map(([n, v]) => [n.toUpperCase(), v])) }],
  ['fetch Headers', { headers: new Headers(headers) }],
  ['a body that was base64', { rawBody: Buffer.from(Buffer.from(BODY).toString('base64'), 'base64') }],
  ['a body of bytes', { rawBody: new TextEncoder().encode(BODY) }],
])('%s are as good', (_what, change) => {
  expect(verifyDelivery({ ...delivery, ...change }).kind).toBe('genuine');
});

const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));

test.each<[string, number, Record<string, unknown>]>([
  ['service_signature_missing', 401, { headers: without('x-service-signature') }],
  ['service_signature_wrong', 401, { secrets: OTHER }],
  ['service_signature_wrong', 401, { secrets: [] }],
  ['standard_headers_missing', 401, { headers: without('webhook-id') }],
  ['standard_headers_malformed', 401, { headers: { ...headers, 'webhook-timestamp': '1e9' } }],
  ['standard_headers_malformed', 401, { headers: { ...headers, 'webhook-id': 'dlv.1' } }],
  ['standard_signature_wrong', 401, { headers: { ...headers, 'webhook-signature': 'v1,AA==' } }],
  ['standard_signature_wrong', 401, { headers: { ...headers, 'webhook-id': 'dlv_9', 'x-service-delivery': 'dlv_9' } }],
  ['delivery_ids_differ', 401, { headers: { ...headers, 'x-service-delivery': 'dlv_9' } }],
  ['timestamp_out_of_tolerance', 401, { nowMs: NOW + 301_000 }],
  ['timestamp_out_of_tolerance', 401, { nowMs: Number.NaN }],
  ['delivery_id_missing', 401, { headers: without('x-service-delivery'), signatures: 'service' }],
  ['body_not_raw', 400, { rawBody: JSON.parse(BODY) }],
  ['body_not_raw', 400, { rawBody: null }],
  ['event_format', 400, { headers: sign({ rawBody: '{}', secret: SECRET, nowMs: NOW }), rawBody: '{}' }],
  ['service_signature_missing', 401, { headers: undefined }],
])('%s is answered %i', (reason, status, change) => {
  const refused = verifyDelivery({ ...delivery, ...change });
  expect(refused).toEqual({ kind: 'refused', reason, status, detail: expect.stringMatching(/\w \w/) as string });
});

test.each<[string, object]>([
  ['secrets[0] is empty', { secrets: '' }],
  ['secrets[0] is not a string', { secrets: undefined }],
  ['signatures must be one of both, standard, service', { signatures: 'all' }],
  ['toleranceS must be a whole number above 0', { toleranceS: Infinity }],
])('a mistake of the program throws: %s', (message, change) => {
  const mistaken = { ...delivery, ...change };
  expect(() => verifyDelivery(mistaken)).toThrow(message);
});

test('a test body can be signed with nothing but a secret, and each time it is another delivery', () => {
  const ids = [1, 2].map(() => {
    const verified = verifyDelivery({
      headers: sign({ rawBody: BODY, secret: SECRET }),
      rawBody: BODY,
      secrets: SECRET,
    });
    return verified.kind === 'genuine' ? verified.id : verified.reason;
  });
  expect(ids).toEqual([expect.stringMatching(/^dlv_/), expect.stringMatching(/^dlv_/)]);
  expect(ids[0]).not.toBe(ids[1]);
});
