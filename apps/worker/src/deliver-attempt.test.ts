import { randomBytes } from 'node:crypto';
import { createSigningKey, digestOf, newSigningSecret, type AttemptOutcome, type Delivery } from '@herald/core';
import type { SendRequest } from '@herald/egress/create-sender';
import type { Tracing } from '@herald/runtime/create-tracing';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { createMakeAttempt, createSigningKeyCache, hideOwnHeaders } from './deliver.ts';

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

const TOKEN = 'canary-7c1f0b';
const own = { authorization: `Bearer ${TOKEN}`, 'x-pair': 'say "canary"', 'x-region': 'eu' };
const responded = (answer: string, more: object = {}): AttemptOutcome => ({
  kind: 'responded',
  status: 200,
  answer,
  ...more,
});

test.each([
  { answer: '', shown: '' },
  { answer: 'ok, eu, Bearer', shown: 'ok, eu, Bearer' },
  { answer: `got Bearer ${TOKEN}!`, shown: 'got [authorization]!' },
  { answer: `${TOKEN} and ${TOKEN}`, shown: '[authorization] and [authorization]' },
  { answer: '{"x-pair":"say \\"canary\\""}', shown: '{"x-pair":"[x-pair]"}' },
  { answer: 'a say "canary" b', shown: 'a [x-pair] b' },
  { answer: 'cut Bearer canary-', shown: 'cut [authorization]' },
  { answer: 'cut canary-7c1', shown: 'cut [authorization]' },
  { answer: 'cut canary-', shown: 'cut canary-' },
])('of the answer $answer is kept $shown', ({ answer, shown }) => {
  // What is hidden of it is in its digest still.
  const more = answer === shown ? {} : { digest: digestOf(answer) };
  expect(hideOwnHeaders(responded(answer), own)).toEqual({ ...responded(shown), ...more });
});

test('a text that overlaps another, and one that stands for another, show nothing of either', () => {
  const both = { 'x-one': 'abcdefgh12', 'x-two': 'fgh12345', 'x-three-of-them': 'x-three-of-them' };
  const hide = (answer: string) => hideOwnHeaders(responded(answer), both);
  expect(hide('<abcdefgh12345>')).toMatchObject({ answer: '<[x-one]>' });
  expect(hide('fgh12345abcdefgh12')).toMatchObject({ answer: '[x-two][x-one]' });
  expect(hide('x-three-of-them')).toMatchObject({ answer: '[x-three-of-them]' });
});

/** Headers each of whose names repeats the value of the next, which is shorter. */
const nested = (values: readonly string[], times: number) =>
  Object.fromEntries(values.map((value, at) => [`n${at}-${(values[at + 1] ?? 'z').repeat(times)}`, value]));

test.each([
  ['names that hold the values of others', nested(['q'.repeat(12), 'r'.repeat(11), 's'.repeat(10), 't'.repeat(9)], 20)],
  ['a name as long as may be', { [`n-${'z'.repeat(4_000)}`]: 'q'.repeat(12) }],
  ['many words', { words: Array.from({ length: 450 }, (_, at) => `w${at}`.padEnd(8, 'q')).join(' ') }],
])('what stands for own headers never makes an answer longer than is kept: %s', (_name, headers) => {
  expect(Object.entries(headers).flat().join('').length).toBeLessThanOrEqual(4_096);
  const answer = Object.values(headers)[0]?.slice(0, 12).repeat(85) ?? '';
  const hidden = hideOwnHeaders(responded(answer, { headers: { server: answer.slice(0, 256) } }), headers);
  if (hidden.kind !== 'responded') throw new Error('it is an answer');
  expect(Buffer.byteLength(hidden.answer)).toBeLessThanOrEqual(1_024);
  expect(Buffer.byteLength(hidden.headers?.server ?? '')).toBeLessThanOrEqual(256);
  expect(hidden.answer).not.toContain(answer.slice(0, 12));
  expect(hidden.digest).toBe(digestOf(answer));
});

test('the headers of an answer are treated like its body', () => {
  const outcome = responded('', { headers: { location: `/?token=${TOKEN}&a=1`, server: 'nginx' } });
  expect(hideOwnHeaders(outcome, own)).toEqual(
    responded('', { headers: { location: '/?token=[authorization]&a=1', server: 'nginx' } }),
  );
});

test.each<AttemptOutcome>([{ kind: 'timed_out', phase: 'response' }, { kind: 'blocked' }, responded(TOKEN)])(
  '%j stays as it is without own headers',
  (outcome) => {
    expect(hideOwnHeaders(outcome, {})).toBe(outcome);
  },
);

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];

test('a secret that was re-encrypted with another key signs as before, and each text is decrypted once', () => {
  const cipher = createSecretCipher([newKey, oldKey]);
  const decrypted: string[] = [];
  const signingKeyOf = createSigningKeyCache((encrypted, endpointId) => {
    decrypted.push(encrypted);
    return cipher.decrypt(encrypted, endpointId);
  });
  const secret = newSigningSecret();
  const before = createSecretCipher([oldKey]).encrypt(secret, 'wh_1');
  const after = cipher.encrypt(secret, 'wh_1');
  const keys = [before, after, before, after].map((encrypted) => signingKeyOf(encrypted, 'wh_1'));
  expect(decrypted).toEqual([before, after]);
  for (const key of keys) {
    expect(key.service.export()).toEqual(Buffer.from(secret));
    expect(key.standard.export()).toEqual(Buffer.from(secret.slice('whsec_'.length), 'base64'));
  }
});

test('a secret that doesn’t decrypt is tried again: its key may come with the next encrypted text', () => {
  const { decrypt } = createSecretCipher([oldKey]);
  let asked = 0;
  const signingKeyOf = createSigningKeyCache((encrypted, endpointId) => {
    asked++;
    return decrypt(encrypted, endpointId);
  });
  const encrypted = createSecretCipher([newKey]).encrypt(newSigningSecret(), 'wh_1');
  for (let count = 0; count < 2; count++) expect(() => signingKeyOf(encrypted, 'wh_1')).toThrow('SECRETS_KEY');
  expect(asked).toBe(2);
});
