import { createSigningKey, newSigningSecret, signatureHeaders, type DeliveryId } from '@herald/core';
import { verifyReasons } from '../texts/verify-texts.ts';
import {
  hmac,
  judgeSignature,
  readBody,
  readHeaders,
  toBase64,
  toBytes,
  toHex,
  type Delivered,
} from './judge-signature.ts';

/** Not only what ends like one. */
const SENTENCE = /^(?!.*(undefined|NaN|\[object)).{15,}\.$/s;

const NOW = Date.UTC(2030, 0, 31, 12);
const SECRET = newSigningSecret();
const OLD = newSigningSecret();
const BODY = '{"id":"trn_1","event":"task.done","text":"Grüße"}';

/** What Herald sends with this body, `ageS` ago. */
function sent({
  body = BODY,
  ageS = 0,
  previous,
}: { body?: string; ageS?: number; previous?: string } = {}): Delivered {
  const delivery = {
    id: 'dlv_1' as DeliveryId,
    event: 'task.done' as const,
    body: Buffer.from(body),
    now: NOW - ageS * 1_000,
  };
  const keys = {
    current: createSigningKey(SECRET),
    ...(previous !== undefined && { previous: createSigningKey(previous) }),
  };
  const headers = new Map<string, string>(Object.entries(signatureHeaders(delivery, keys)));
  headers.set('content-length', String(Buffer.byteLength(body)));
  return { headers, body, secrets: [SECRET], now: NOW };
}

function without(delivered: Delivered, ...names: readonly string[]): Delivered {
  return { ...delivered, headers: new Map([...delivered.headers].filter(([name]) => !names.includes(name))) };
}

function with_(delivered: Delivered, name: string, value: string): Delivered {
  return { ...delivered, headers: new Map(delivered.headers).set(name, value) };
}

/** x-service-signature as wrong code would make it. */
async function signedWith(key: Uint8Array<ArrayBuffer>, body = BODY): Promise<Delivered> {
  const signature = `sha256=${toHex(await hmac(key, toBytes(body)))}`;
  return without(with_(sent(), 'x-service-signature', signature), 'webhook-signature');
}

const DECODED = Uint8Array.from(Buffer.from(SECRET.slice(6), 'base64'));

test.each<[string, () => Delivered | Promise<Delivered>, readonly string[]]>([
  ['as it was sent', () => sent(), ['good service_holds', 'good standard_holds']],
  ['an hour ago', () => sent({ ageS: 3_600 }), ['good service_holds', 'good standard_holds', 'warn too_old']],
  ['no signature at all', () => without(sent(), 'x-service-signature', 'webhook-signature'), ['bad headers_missing']],
  ['no secret', () => ({ ...sent(), secrets: [] }), ['bad secret_missing']],
  ['another secret', () => ({ ...sent(), secrets: [OLD] }), ['bad other_secret']],
  ['a secret without its prefix', () => ({ ...sent(), secrets: [SECRET.slice(6)] }), ['bad secret_form']],
  [
    'another body of the same length',
    () => ({ ...sent(), body: BODY.replace('trn_1', 'trn_2') }),
    ['bad other_secret'],
  ],
  ['a body that was cut', () => ({ ...sent(), body: BODY.slice(0, -9) }), ['bad length_differs']],
  ['a line break more', () => ({ ...sent(), body: `${BODY}\n` }), ['bad body_newline_removed']],
  ['a line break less', () => ({ ...sent({ body: `${BODY}\n` }), body: BODY }), ['bad body_newline_added']],
  ['blanks around it', () => ({ ...sent(), body: `  ${BODY} \n` }), ['bad body_trimmed']],
  ['other line ends', () => ({ ...sent({ body: '{\r\n}' }), body: '{\n}' }), ['bad body_crlf']],
  [
    'JSON that was written again with blanks',
    () => ({ ...sent(), body: JSON.stringify(JSON.parse(BODY), null, 2) }),
    ['bad body_minified'],
  ],
  ['a rotation, with the new secret', () => sent({ previous: OLD }), ['bad service_old_secret', 'good standard_holds']],
  [
    'a rotation, with both',
    () => ({ ...sent({ previous: OLD }), secrets: [SECRET, OLD] }),
    ['good service_holds', 'good standard_holds'],
  ],
  ['the decoded key', () => signedWith(DECODED), ['bad key_decoded', 'warn standard_missing']],
  [
    'the key without its prefix',
    () => signedWith(toBytes(SECRET.slice(6))),
    ['bad key_unprefixed', 'warn standard_missing'],
  ],
  ['the key with a line break', () => signedWith(toBytes(`${SECRET}\n`)), ['bad key_padded', 'warn standard_missing']],
  [
    'upper case',
    () => with_(sent(), 'x-service-signature', sent().headers.get('x-service-signature')?.toUpperCase() ?? ''),
    ['bad service_malformed', 'good standard_holds'],
  ],
  [
    'another delivery id',
    () => with_(sent(), 'x-service-delivery', 'dlv_2'),
    ['good service_holds', 'good standard_holds', 'bad ids_differ'],
  ],
  [
    'another timestamp',
    () => with_(sent(), 'webhook-timestamp', String(NOW / 1_000 - 1)),
    ['good service_holds', 'bad other_secret'],
  ],
  [
    'only the Standard headers',
    () => without(sent(), 'x-service-signature'),
    ['warn service_missing', 'good standard_holds'],
  ],
])('%s', async (_when, delivered, expected) => {
  const findings = await judgeSignature(await delivered());
  expect(findings.map(({ tone, reason }) => `${tone} ${reason}`)).toEqual(expected);
  for (const { reason } of findings) expect(verifyReasons[reason]).toMatch(SENTENCE);
});

test.each<[string, () => Promise<string>, string]>([
  ['the right one', async () => `sha256=${toHex(await hmac(toBytes(SECRET), toBytes(BODY)))}`, 'good computed_right'],
  ['that of the decoded key', async () => toHex(await hmac(DECODED, toBytes(BODY))), 'bad computed_key_decoded'],
  [
    'that of JSON written again',
    async () => toHex(await hmac(toBytes(SECRET), toBytes(JSON.stringify(JSON.parse(BODY), null, 2)))),
    'bad computed_body_indented',
  ],
  [
    'that of a body with a line break',
    async () => toHex(await hmac(toBytes(SECRET), toBytes(`${BODY}\n`))),
    'bad computed_body_newline_added',
  ],
  [
    'a Standard one of the whole secret',
    async () => `v1,${toBase64(await hmac(toBytes(SECRET), toBytes(`dlv_1.${NOW / 1_000}.${BODY}`)))}`,
    'bad computed_key_shown',
  ],
  ['something else', () => Promise.resolve('sha256=00'), 'bad computed_unknown'],
])('what the receiver computed: %s', async (_what, compute, expected) => {
  const findings = await judgeSignature({ ...sent(), computed: await compute() });
  const [found] = findings.slice(2);
  expect(`${found?.tone} ${found?.reason}`).toBe(expected);
  expect(verifyReasons[found?.reason ?? '']).toMatch(SENTENCE);
});

test.each<[string, readonly string[], readonly string[], readonly string[]]>([
  ['the secret', [SECRET], [SECRET], ['good sent_right', 'good sent_service', 'good sent_standard']],
  ['another one', [SECRET], [OLD], ['bad sent_other']],
  ['the new one while a rotation ran', [SECRET, OLD], [SECRET], ['warn sent_newer', 'good sent_standard']],
  ['the former one', [SECRET, OLD], [OLD], ['warn sent_former', 'good sent_service', 'good sent_standard']],
  ['both', [SECRET, OLD], [OLD, SECRET], ['good sent_right', 'good sent_service', 'good sent_standard']],
  ['a part of it', [SECRET], [SECRET.slice(6)], ['bad secret_form']],
])('an attempt that Herald made, judged by %s', async (_what, signers, secrets, expected) => {
  const request = sent({ ...(signers.length > 1 && { previous: OLD }) });
  const unsigned = without(request, 'x-service-signature', 'webhook-signature');
  const keyIds = signers.map((secret) => createSigningKey(secret).id);
  const findings = await judgeSignature({ ...unsigned, secrets, keyIds });
  expect(findings.map(({ tone, reason }) => `${tone} ${reason}`)).toEqual(expected);
  for (const { reason } of findings) expect(verifyReasons[reason]).toMatch(SENTENCE);
  const codes = findings.flatMap(({ reason, code = '' }) => (/service|standard/.test(reason) ? [code] : []));
  for (const name of ['x-service-signature', 'webhook-signature'])
    for (const code of codes.filter((each) => each.startsWith(name)))
      expect(`${name}: ${request.headers.get(name)}`).toContain(code.slice(name.length + 2));
});

const WANTED = [
  ['x-service-signature', 'sha256=ab'],
  ['webhook-id', 'dlv_1'],
];

test.each([
  ['lines', 'X-Service-Signature: sha256=ab\r\nwebhook-id:dlv_1\n\nnot a header'],
  ['JSON', '{"X-Service-Signature":"sha256=ab","webhook-id":"dlv_1"}'],
  ['curl', `-H 'X-Service-Signature: sha256=ab' \\\n  -H "webhook-id: dlv_1" \\`],
  ['lines of a log', `"x-service-signature": "sha256=ab",\n'webhook-id': 'dlv_1',`],
  ['a dict of Python', `{'X-Service-Signature': 'sha256=ab', 'Webhook-Id': 'dlv_1'}`],
  ['an environ', `{'HTTP_X_SERVICE_SIGNATURE': 'sha256=ab', 'HTTP_WEBHOOK_ID': 'dlv_1', 'wsgi.errors': <file>}`],
  ['the headers of ASGI', `[(b'x-service-signature', b'sha256=ab'), (b'webhook-id', b'dlv_1')]`],
  ['rawHeaders', `['X-Service-Signature', 'sha256=ab', 'webhook-id', 'dlv_1']`],
  ['a hash of Ruby', `{"HTTP_X_SERVICE_SIGNATURE"=>"sha256=ab", "HTTP_WEBHOOK_ID"=>"dlv_1"}`],
])('headers are read from %s', (_form, text) => {
  expect([...readHeaders(text)]).toEqual(WANTED);
});

test('a body that Python printed is read as bytes, and any other stays as it is', () => {
  expect(readBody(String.raw`b'{"text":"Gr\xc3\xbc\xc3\x9fe \\n it\'s"}\n'`)).toBe('{"text":"Grüße \\n it\'s"}\n');
  for (const text of ['{"a":"b\'x\'"}', ' {}\n', "b'"]) expect(readBody(text)).toBe(text);
});
