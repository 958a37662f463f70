import { createSigningKey, newSigningSecret, signatureHeaders } from '@herald/core';
import { verify as verifyByOctokit } from '@octokit/webhooks-methods';
import { anyCharacter } from '@herald/test-kit/any-character';
import fc from 'fast-check';
import { verify } from './verify.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const OTHER = newSigningSecret();
const body = Buffer.from('{"id":"trn_1","event":"task.done","text":"Grüße"}');
// `openssl dgst -sha256 -hmac <secret>`
const SIGNATURE = 'sha256=73726f8fc277fbdc3a1039b645481948d707c310335c77ea94ac233f12dc5da1';
const headers = { 'x-service-signature': SIGNATURE };

const signed = (raw: Buffer, secret = SECRET) =>
  signatureHeaders(
    { id: 'dlv_1', event: 'task.done', body: raw, now: Date.now() },
    { current: createSigningKey(secret) },
  );

test.each([
  { form: 'a Buffer', rawBody: body },
  { form: 'a Uint8Array', rawBody: new Uint8Array(body) },
  { form: 'an ArrayBuffer', rawBody: new Uint8Array(body).buffer },
  { form: 'a string', rawBody: body.toString() },
])('the body may be $form', ({ rawBody }) => {
  expect(verify(rawBody, headers, SECRET)).toBe(true);
});

test.each([
  { form: 'fetch Headers', given: new Headers(headers) },
  { form: 'a plain object', given: headers },
  { form: 'names in another case', given: { 'X-Service-Signature': SIGNATURE } },
])('headers may be $form', ({ given }) => {
  expect(verify(body, given, SECRET)).toBe(true);
});

test.each([
  { secrets: [OTHER, SECRET], genuine: true },
  { secrets: [SECRET, OTHER], genuine: true },
  { secrets: [OTHER], genuine: false },
  { secrets: [], genuine: false },
])('one of several secrets is enough, and none is not ($genuine)', ({ secrets, genuine }) => {
  expect(verify(body, headers, secrets)).toBe(genuine);
});

test.each<[string, unknown]>([
  ['no header', {}],
  ['an empty one', { 'x-service-signature': '' }],
  ['a shorter one', { 'x-service-signature': SIGNATURE.slice(0, -1) }],
  ['a longer one', { 'x-service-signature': `${SIGNATURE}0` }],
  ['one that begins with the right one', { 'x-service-signature': `${SIGNATURE}, ${SIGNATURE}` }],
  ['upper-case hex', { 'x-service-signature': SIGNATURE.replace(/[a-f]/g, (digit) => digit.toUpperCase()) }],
  ['no prefix', { 'x-service-signature': SIGNATURE.slice('sha256='.length) }],
  ['another prefix', { 'x-service-signature': SIGNATURE.replace('256', '512') }],
  ['characters of more bytes', { 'x-service-signature': `${SIGNATURE.slice(0, -1)}é` }],
  ['a list, even of the right one', { 'x-service-signature': [SIGNATURE] }],
  ['it twice in two cases', { 'x-service-signature': SIGNATURE, 'X-Service-Signature': SIGNATURE }],
  ['it on the prototype alone', Object.create(headers)],
  ['a megabyte', { 'x-service-signature': 'sha256='.padEnd(1_000_000, 'a') }],
  ['no headers at all', undefined],
])('%s is false', (_what, given) => {
  expect(verify(body, given as Record<string, string>, SECRET)).toBe(false);
});

test.each([[''], [['']], [undefined], [null], [[undefined]], [{}]])('the secret %j signs nothing', (secrets) => {
  const forged = { 'x-service-signature': signedWithNothing() };
  expect(verify(body, forged, secrets as string)).toBe(false);
});

function signedWithNothing(): string {
  const emptyKey = { service: createSigningKey('').service, standard: createSigningKey(SECRET).standard };
  const { 'x-service-signature': signature } = signatureHeaders(
    { id: 'dlv_1', event: 'task.done', body, now: 0 },
    { current: emptyKey },
  );
  return signature;
}

test('a body that a parser has read is false, and no error', () => {
  expect(verify(JSON.parse(body.toString()) as string, headers, SECRET)).toBe(false);
});

test('whatever Herald signs verifies, here and with a library that nobody here wrote', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter }), async (text) => {
      const raw = Buffer.from(JSON.stringify({ text }));
      const given = signed(raw);
      expect(verify(raw, given, SECRET)).toBe(true);
      expect(await verifyByOctokit(SECRET, raw.toString(), given['x-service-signature'])).toBe(true);
    }),
  );
});

test('any changed byte of the body or of the signature is false', () => {
  const change = fc.record({ at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) });
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), change, ({ buffer }, { at, by }) => {
      const raw = Buffer.from(buffer);
      const given = signed(raw);
      expect(verify(flip(raw, at, by), given, SECRET)).toBe(false);
      const signature = flip(Buffer.from(given['x-service-signature']), at, by).toString('latin1');
      expect(verify(raw, { 'x-service-signature': signature }, SECRET)).toBe(false);
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
  const some = fc.oneof(fc.anything(), fc.record({ 'x-service-signature': header, get: fc.anything() }));
  fc.assert(
    fc.property(fc.anything(), some, fc.anything(), (rawBody, given, secrets) => {
      expect(verify(rawBody as string, given as Record<string, string>, SECRET)).toBe(false);
      expect(verify(body, given as Record<string, string>, secrets as string)).toBe(false);
    }),
  );
});
