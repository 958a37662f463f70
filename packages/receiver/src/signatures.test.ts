import { createSigningKey, newSigningSecret, signatureHeaders } from '@herald/core';
import { verify as verifyByOctokit } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { runInNewContext } from 'node:vm';
import { Webhook } from 'standardwebhooks';
import { checkSecrets, sign, verifyAllowingReplays as verify, verifyStandard } from './signatures.ts';

describe('x-service-signature', () => {
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
    { form: 'lists of one, as of API Gateway', given: { 'X-Service-Signature': [SIGNATURE] } },
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
    ['a list of two, even of the right one', { 'x-service-signature': [SIGNATURE, SIGNATURE] }],
    ['a list of lists', { 'x-service-signature': [[SIGNATURE]] }],
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

  test.each([
    'whsec_',
    ' ',
    'changeme',
    'whsec_AA',
    `whsec_${'='.repeat(30)}`,
    `${SECRET}\n${SECRET}`,
    SECRET.slice(6),
  ])('the placeholder %j signs nothing, whoever knows it', (secret) => {
    expect(verify(body, signed(body, secret), secret)).toBe(false);
    expect(verifyStandard(body, signed(body, secret), secret)).toBe(false);
  });

  test('bytes of another realm are as good', () => {
    const foreign = runInNewContext('Uint8Array.from(bytes)', { bytes: [...body] }) as Uint8Array;
    expect(foreign instanceof Uint8Array).toBe(false);
    expect(verify(foreign, headers, SECRET)).toBe(true);
  });

  function signedWithNothing(): string {
    const emptyKey = { id: '', service: createSigningKey('').service, standard: createSigningKey(SECRET).standard };
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
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
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

  test('nothing that anybody sends makes it throw', () => {
    const header = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.string()), fc.anything());
    const some = fc.oneof(fc.anything(), fc.record({ 'x-service-signature': header, get: fc.anything() }));
    fc.assert(
      fc.property(fc.anything(), some, fc.anything(), (rawBody, given, secrets) => {
        expect(verify(rawBody as string, given as Record<string, string>, SECRET)).toBe(false);
        expect(verify(body, given as Record<string, string>, secrets as string)).toBe(false);
      }),
    );
  });
});

describe('the Standard Webhooks scheme', () => {
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
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
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
    ['a list of two', { 'webhook-signature': [SIGNATURE, SIGNATURE] }],
  ])('%s is false', (_what, change) => {
    expect(verifyStandard(body, { ...headers, ...change }, SECRET)).toBe(false);
  });

  test('an id with a dot is false: the parts that are signed could be cut otherwise', () => {
    const given = signatureHeaders({ ...delivery, id: 'dlv.1' }, { current: key });
    expect(verifyStandard(body, given, SECRET)).toBe(false);
  });

  test.each<unknown>(['', 'whsec_', '====', undefined])('the secret %j signs nothing', (secret) => {
    const emptyKey = { id: '', service: key.service, standard: createSigningKey('whsec_').standard };
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

  test('nothing that anybody sends makes it throw', () => {
    const header = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.string()), fc.anything());
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
});

function flip(bytes: Buffer, at: number, by: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(at % changed.length) ^ by, at % changed.length);
  return changed;
}

describe('secrets', () => {
  const secret = newSigningSecret();

  test.each([[secret], [[secret]], [[secret, newSigningSecret()]]])('%j is taken', (secrets) => {
    expect(checkSecrets(secrets)).toEqual([secrets].flat());
  });

  test('blanks and line ends around one don’t count', () => {
    expect(checkSecrets([` ${secret}`, `${secret}\r\n`])).toEqual([secret, secret]);
    const headers = sign({ rawBody: '{}', secret: `${secret}\n` });
    for (const each of [secret, `\t${secret}\n`]) {
      expect(verify('{}', headers, each)).toBe(true);
      expect(verifyStandard('{}', headers, [each])).toBe(true);
    }
  });

  test.each<[string, unknown]>([
    ['secrets[0] is empty', ' \n'],
    ['secrets[0] is not a string', undefined],
    ['secrets[1] is not as Herald showed it', [secret, `${secret.slice(0, 20)}\n${secret.slice(20)}`]],
    ['secrets[0] is not as Herald showed it', `${secret},${secret}`],
    ['secrets[0] is not as Herald showed it', secret.slice('whsec_'.length)],
  ])('%s', (message, secrets) => {
    expect(() => checkSecrets(secrets as string)).toThrow(message);
    expect(() => checkSecrets(secrets as string)).not.toThrow(secret.slice(6, 20));
  });
});

test('what is signed on a customer’s machine has the headers that Herald makes', () => {
  const secret = newSigningSecret();
  const delivery = {
    id: 'dlv_1',
    event: 'task.done',
    body: Buffer.from('{"event":"task.done","text":"Grüße"}'),
    now: 1_700_000_000_999,
  };
  expect(sign({ rawBody: delivery.body, secret, id: delivery.id, nowMs: delivery.now })).toEqual(
    signatureHeaders({ ...delivery, event: 'task.done' }, { current: createSigningKey(secret) }),
  );
});

test.each<[string, object]>([
  ['secrets[0] is not as Herald showed it', { secret: 'changeme' }],
  ['rawBody must be given raw', { rawBody: { id: 'trn_1' } }],
  ['id must have 1 to 256', { id: 'dlv.1' }],
  ['nowMs must be a time in ms', { nowMs: Number.NaN }],
])('sign says what to change: %s', (message, change) => {
  const delivery = { rawBody: '{}', secret: newSigningSecret(), ...change };
  expect(() => sign(delivery)).toThrow(message);
});
