import { createSigningKey, newSigningSecret, signatureHeaders } from '@herald/core';
import { anyCharacter } from '@herald/test-kit/any-character';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { verify } from './verify.ts';
import { verifyStandard } from './verify-standard.ts';

const SECRET = newSigningSecret();
const OLD_SECRET = newSigningSecret();
const OTHER = newSigningSecret();
const [key, oldKey] = [createSigningKey(SECRET), createSigningKey(OLD_SECRET)];
const body = Buffer.from('{"id":"trn_1","event":"task.done","text":"Grüße"}');
const now = Date.now(); // standardwebhooks reads the clock
const delivery = { id: 'dlv_1', event: 'task.done', body, now } as const;
const headers = signatureHeaders(delivery, { current: key });
const SIGNATURE = headers['webhook-signature'];

test('what Herald signs verifies, here and with the library of Standard Webhooks', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const raw = Buffer.from(JSON.stringify({ text }));
      const given = signatureHeaders({ ...delivery, body: raw }, { current: key });
      expect(verifyStandard(raw, given, SECRET)).toBe(true);
      expect(new Webhook(SECRET).verify(raw.toString(), given)).toEqual({ text });
    }),
  );
});

test('what the library of Standard Webhooks signs verifies', () => {
  const signature = new Webhook(SECRET).sign('msg_1', new Date(now), body.toString());
  const given = new Headers({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': `v1a,c2lnbmF0dXJl v1,bm8= ${signature}`,
  });
  expect(verifyStandard(body, given, SECRET)).toBe(true);
});

// Herald makes x-service-signature with the old secret until the overlap of a rotation ends.
test.each([
  { holds: 'the old secret', secrets: OLD_SECRET, standard: true, service: true },
  { holds: 'the new secret', secrets: SECRET, standard: true, service: false },
  { holds: 'both', secrets: [SECRET, OLD_SECRET], standard: true, service: true },
  { holds: 'another', secrets: OTHER, standard: false, service: false },
])('during a rotation, who holds $holds: standard $standard, service $service', ({ secrets, standard, service }) => {
  const given = signatureHeaders(delivery, { current: key, previous: oldKey });
  expect(verifyStandard(body, given, secrets)).toBe(standard);
  expect(verify(body, given, secrets)).toBe(service);
});

test.each([
  { ageS: 300, fresh: true },
  { ageS: 301, fresh: false },
  { ageS: -300, fresh: true },
  { ageS: -301, fresh: false },
])('a request that is $ageS s old is genuine: $fresh', ({ ageS, fresh }) => {
  const sentS = Math.floor(now / 1_000);
  expect(verifyStandard(body, headers, SECRET, { nowMs: (sentS + ageS) * 1_000 })).toBe(fresh);
  expect(verify(body, headers, SECRET)).toBe(true); // which knows no time
});

test.each<[string, Record<string, string | string[] | undefined>]>([
  ['another id', { 'webhook-id': 'dlv_2' }],
  ['no id', { 'webhook-id': undefined }],
  ['another timestamp', { 'webhook-timestamp': String(Math.floor(now / 1_000) + 1) }],
  ['no timestamp', { 'webhook-timestamp': undefined }],
  ['the same timestamp, written otherwise', { 'webhook-timestamp': `0${headers['webhook-timestamp']}` }],
  ['a timestamp that is no number', { 'webhook-timestamp': 'Infinity' }],
  ['no signature', { 'webhook-signature': undefined }],
  ['a shorter signature', { 'webhook-signature': SIGNATURE.slice(0, -1) }],
  ['a longer signature', { 'webhook-signature': `${SIGNATURE}=` }],
  ['another version', { 'webhook-signature': SIGNATURE.replace('v1', 'v2') }],
  ['no version', { 'webhook-signature': SIGNATURE.replace('v1,', '') }],
  ['a list', { 'webhook-signature': [SIGNATURE] }],
])('%s is false', (_what, change) => {
  expect(verifyStandard(body, { ...headers, ...change }, SECRET)).toBe(false);
});

test('an id with a dot is false: the parts that are signed could be cut otherwise', () => {
  const given = signatureHeaders({ ...delivery, id: 'dlv.1' }, { current: key });
  expect(verifyStandard(body, given, SECRET)).toBe(false);
});

test.each<unknown>(['', 'whsec_', '====', undefined])('the secret %j signs nothing', (secret) => {
  const emptyKey = { service: key.service, standard: createSigningKey('whsec_').standard };
  const forged = signatureHeaders(delivery, { current: emptyKey });
  expect(verifyStandard(body, forged, secret as string)).toBe(false);
});

test('any changed byte of the body or of the signature is false', () => {
  const change = fc.record({ at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) });
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), change, ({ buffer }, { at, by }) => {
      const raw = Buffer.from(buffer);
      const given = signatureHeaders({ ...delivery, body: raw }, { current: key });
      expect(verifyStandard(flip(raw, at, by), given, SECRET)).toBe(false);
      const signature = flip(Buffer.from(given['webhook-signature']), at, by).toString('latin1');
      expect(verifyStandard(raw, { ...given, 'webhook-signature': signature }, SECRET)).toBe(false);
    }),
  );
});

function flip(bytes: Buffer, at: number, by: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(at % changed.length) ^ by, at % changed.length);
  return changed;
}

test('nothing that anybody sends makes it throw', () => {
  const header = fc.oneof(fc.string({ unit: anyCharacter }), fc.array(fc.string()), fc.anything());
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'get'];
  const some = fc.oneof(fc.anything(), fc.record(Object.fromEntries(names.map((name) => [name, header]))));
  fc.assert(
    fc.property(fc.anything(), some, fc.anything(), (rawBody, given, secrets) => {
      expect(verifyStandard(rawBody as string, given as Record<string, string>, SECRET)).toBe(false);
      expect(verifyStandard(body, given as Record<string, string>, secrets as string)).toBe(false);
      const { 'webhook-signature': _own, ...rest } = headers;
      expect(verifyStandard(body, { ...rest, ...(given as object) }, SECRET)).toBe(false);
    }),
  );
});
