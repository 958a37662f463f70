import { verify as verifyServiceSignature } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { createSigningKey, newSigningSecret } from '../endpoints/endpoint.ts';
import {
  deliveryHeaders,
  serviceSignature,
  SIGNATURE_HEADERS,
  signatureHeaders,
  standardSignature,
} from './sign-delivery.ts';

const CURRENT = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const PREVIOUS = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
const STRANGER = newSigningSecret();
const currentKey = createSigningKey(CURRENT);
const previousKey = createSigningKey(PREVIOUS);

const body = Buffer.from('{"id":"trn_1","event":"task.done","text":"Grüße"}');
// The verifying library reads the clock and refuses what is older than five minutes, so this now is the real one.
const delivery = { id: 'dlv_1', event: 'task.done', body, now: Date.now() } as const;

function opensWithStandardWebhooks(secret: string, headers: Record<string, string>, raw: Buffer): boolean {
  try {
    new Webhook(secret).verify(raw, headers);
    return true;
  } catch {
    return false;
  }
}

// Expected values: `openssl dgst -sha256 -hmac <secret>`, and `-macopt hexkey:<decoded secret>` over `dlv_1.1700000000.<body>`.
test.each([
  {
    secret: CURRENT,
    service: 'sha256=73726f8fc277fbdc3a1039b645481948d707c310335c77ea94ac233f12dc5da1',
    standard: 'v1,Ksb2lgBhcZ9bk0RlPa0sQBHFfFg0qizgcpoeDWXdgUI=',
  },
  {
    secret: PREVIOUS,
    service: 'sha256=ba07ff240fde6e7f7375f65f9a6a0e3e2599fd17e4433e73e524cba024f63e90',
    standard: 'v1,xil5qdYvukDsQr3f4UVCy9yoGIM2F4FS305Nq+QyMW0=',
  },
])('the signatures with $secret are the ones openssl makes', ({ secret, service, standard }) => {
  expect(serviceSignature(body, createSigningKey(secret))).toBe(service);
  expect(standardSignature('dlv_1', 1_700_000_000, body, createSigningKey(secret))).toBe(standard);
});

test('the headers name the event, the delivery twice and the attempt’s time in whole seconds', () => {
  expect(signatureHeaders({ ...delivery, now: 1_700_000_000_999 }, { current: currentKey })).toStrictEqual({
    'x-service-event': 'task.done',
    'x-service-signature': 'sha256=73726f8fc277fbdc3a1039b645481948d707c310335c77ea94ac233f12dc5da1',
    'x-service-delivery': 'dlv_1',
    'webhook-id': 'dlv_1',
    'webhook-timestamp': '1700000000',
    'webhook-signature': 'v1,Ksb2lgBhcZ9bk0RlPa0sQBHFfFg0qizgcpoeDWXdgUI=',
  });
});

test('what is shown of the headers is what is sent, but for the signatures', () => {
  const { 'content-type': type, ...shown } = deliveryHeaders(delivery, delivery.now);
  const sent = Object.entries(signatureHeaders(delivery, { current: currentKey }));
  const hidden: readonly string[] = SIGNATURE_HEADERS;
  expect(type).toBe('application/json');
  expect(shown).toStrictEqual(Object.fromEntries(sent.filter(([name]) => !hidden.includes(name))));
  expect(sent.map(([name]) => name)).toEqual(expect.arrayContaining([...SIGNATURE_HEADERS]));
});

test('before the first attempt no time is named', () => {
  expect(deliveryHeaders(delivery)).toStrictEqual({
    'content-type': 'application/json',
    'x-service-event': 'task.done',
    'x-service-delivery': 'dlv_1',
    'webhook-id': 'dlv_1',
  });
});

test('a sample bears the name of its event, and the mark of a sample', () => {
  const { id } = delivery;
  expect(deliveryHeaders({ id, event: 'webhook.test', sampleOf: 'task.check_in' })).toMatchObject({
    'x-service-event': 'task.check_in',
    'x-service-sample': 'true',
  });
  expect(deliveryHeaders({ id, event: 'webhook.test' })).not.toHaveProperty('x-service-sample');
});

test('one that went before its turn says so', () => {
  expect(deliveryHeaders({ ...delivery, isReleased: true })).toMatchObject({ 'x-service-ordering': 'released' });
  expect(deliveryHeaders(delivery)).not.toHaveProperty('x-service-ordering');
});

test('during an overlap the one-signature header is the previous secret’s and the other carries both, newest first', () => {
  const headers = signatureHeaders(
    { ...delivery, now: 1_700_000_000_000 },
    { current: currentKey, previous: previousKey },
  );
  expect(headers['x-service-signature']).toBe(serviceSignature(body, previousKey));
  expect(headers['webhook-signature']).toBe(
    'v1,Ksb2lgBhcZ9bk0RlPa0sQBHFfFg0qizgcpoeDWXdgUI= v1,xil5qdYvukDsQr3f4UVCy9yoGIM2F4FS305Nq+QyMW0=',
  );
});

const alone = { current: currentKey };
const overlap = { current: currentKey, previous: previousKey };

test.each([
  { when: 'without an overlap', secrets: alone, holder: CURRENT, service: true, standard: true },
  { when: 'without an overlap', secrets: alone, holder: PREVIOUS, service: false, standard: false },
  { when: 'without an overlap', secrets: alone, holder: STRANGER, service: false, standard: false },
  { when: 'during an overlap', secrets: overlap, holder: CURRENT, service: false, standard: true },
  { when: 'during an overlap', secrets: overlap, holder: PREVIOUS, service: true, standard: true },
  { when: 'during an overlap', secrets: overlap, holder: STRANGER, service: false, standard: false },
])(
  '$when who holds $holder is convinced by x-service-signature: $service, by webhook-signature: $standard',
  async ({ secrets, holder, service, standard }) => {
    const headers = signatureHeaders(delivery, secrets);
    const heldToService = await verifyServiceSignature(holder, body.toString(), headers['x-service-signature']);
    expect(heldToService).toBe(service);
    expect(opensWithStandardWebhooks(holder, headers, body)).toBe(standard);
  },
);

test.each([0, 20, body.length - 1])('changing byte %d of the body breaks both signatures', async (index) => {
  const headers = signatureHeaders(delivery, { current: currentKey });
  const changed = Buffer.from(body);
  changed.writeUInt8(changed.readUInt8(index) ^ 1, index);

  expect(await verifyServiceSignature(CURRENT, changed.toString(), headers['x-service-signature'])).toBe(false);
  expect(opensWithStandardWebhooks(CURRENT, headers, changed)).toBe(false);
});

test.each([
  ['webhook-id', 'dlv_2'],
  ['webhook-timestamp', String(Math.floor(delivery.now / 1_000) + 1)],
])('another %s breaks the Standard Webhooks signature', (name, value) => {
  const headers = signatureHeaders(delivery, { current: currentKey });
  expect(opensWithStandardWebhooks(CURRENT, { ...headers, [name]: value }, body)).toBe(false);
});

test('a captured request is refused ten minutes later; a new attempt of the same delivery is not', () => {
  const captured = signatureHeaders({ ...delivery, now: delivery.now - 600_000 }, { current: currentKey });
  const again = signatureHeaders(delivery, { current: currentKey });
  expect(opensWithStandardWebhooks(CURRENT, captured, body)).toBe(false);
  expect(opensWithStandardWebhooks(CURRENT, again, body)).toBe(true);
  expect(again['x-service-signature']).toBe(captured['x-service-signature']);
});

test('the body is signed as bytes, also where it is no valid UTF-8', () => {
  const raw = Buffer.from([0xff, 0xfe, 0x00]);
  const replaced = Buffer.from(raw.toString());
  expect(serviceSignature(raw, currentKey)).not.toBe(serviceSignature(replaced, currentKey));
  expect(standardSignature('dlv_1', 1, raw, currentKey)).not.toBe(standardSignature('dlv_1', 1, replaced, currentKey));
});
