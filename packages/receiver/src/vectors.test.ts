import { createSigningKey, signatureHeaders, type SigningKeys } from '@herald/core';
import { readFile, writeFile } from 'node:fs/promises';
import { verifyAllowingReplays as verify, verifyStandard } from './signatures.ts';

const FILE = new URL('../vectors.json', import.meta.url);
const CURRENT = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const PREVIOUS = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
const STRANGER = 'whsec_c3RyYW5nZXJzdHJhbmdlcnN0cmFuZ2Vyc3RyYW5nZXI=';
const SENT_S = 1_700_000_000;
const BODY =
  '{"id":"trn_1","event":"task.done","created_at":"2023-11-14T22:13:20.000Z","sequence":3,"task":{"id":"task_1","status":"done"},"text":"Grüße 🚀"}';

interface Vector {
  name: string;
  secrets: string[];
  /** Epoch seconds at which the receiver looks. */
  now: number;
  headers: Record<string, string>;
  body_base64: string;
  /** Only by `x-service-signature`. */
  service_valid: boolean;
  /** By `webhook-signature`, with a tolerance of 300 s. */
  standard_valid: boolean;
}

function signed(keys: SigningKeys, body = Buffer.from(BODY)): Record<string, string> {
  return signatureHeaders({ id: 'dlv_1', event: 'task.done', body, now: SENT_S * 1_000 }, keys);
}

const alone = { current: createSigningKey(CURRENT) };
const overlap = { ...alone, previous: createSigningKey(PREVIOUS) };
const plain = signed(alone);
const both = { service_valid: true, standard_valid: true };
const neither = { service_valid: false, standard_valid: false };
const serviceAlone = { service_valid: true, standard_valid: false };
const standardAlone = { service_valid: false, standard_valid: true };

const vector = (
  name: string,
  verdict: Pick<Vector, 'service_valid' | 'standard_valid'>,
  more: Partial<Vector> = {},
) => ({
  name,
  secrets: [CURRENT],
  now: SENT_S,
  headers: plain,
  body_base64: Buffer.from(BODY).toString('base64'),
  ...verdict,
  ...more,
});
const changed = (name: string, value: string | undefined) => {
  const { [name]: _was, ...rest } = plain;
  return { headers: { ...rest, ...(value !== undefined && { [name]: value }) } };
};
const serviceSignature = plain['x-service-signature'] ?? '';
const standardSignature = plain['webhook-signature'] ?? '';

const VECTORS: Vector[] = [
  vector('as sent', both),
  vector('an empty body', both, { headers: signed(alone, Buffer.alloc(0)), body_base64: '' }),
  vector('a body that is no UTF-8', both, {
    headers: signed(alone, Buffer.from([0xff, 0xfe, 0x00])),
    body_base64: '//4A',
  }),
  vector('one byte of the body changed', neither, {
    body_base64: Buffer.from(BODY.replace('"sequence":3', '"sequence":4')).toString('base64'),
  }),
  vector('a line end behind the body', neither, { body_base64: Buffer.from(`${BODY}\n`).toString('base64') }),
  vector('another secret', neither, { secrets: [STRANGER] }),
  vector('the right secret behind another one', both, { secrets: [STRANGER, CURRENT] }),
  vector('an empty secret', neither, { secrets: [''] }),
  vector('no secret', neither, { secrets: [] }),
  vector('in an overlap, both secrets', both, { headers: signed(overlap), secrets: [CURRENT, PREVIOUS] }),
  vector('in an overlap, the new secret', standardAlone, { headers: signed(overlap), secrets: [CURRENT] }),
  vector('in an overlap, the old secret', both, { headers: signed(overlap), secrets: [PREVIOUS] }),
  vector('x-service-signature missing', standardAlone, changed('x-service-signature', undefined)),
  vector('x-service-signature shorter', standardAlone, changed('x-service-signature', serviceSignature.slice(0, -1))),
  vector('x-service-signature longer', standardAlone, changed('x-service-signature', `${serviceSignature}0`)),
  vector('x-service-signature in upper case', standardAlone, {
    ...changed(
      'x-service-signature',
      serviceSignature.replace(/[a-f]/g, (digit) => digit.toUpperCase()),
    ),
  }),
  vector(
    'x-service-signature without prefix',
    standardAlone,
    changed('x-service-signature', serviceSignature.slice(7)),
  ),
  vector('webhook-signature missing', serviceAlone, changed('webhook-signature', undefined)),
  vector('webhook-signature shorter', serviceAlone, changed('webhook-signature', standardSignature.slice(0, -1))),
  vector('webhook-signature longer', serviceAlone, changed('webhook-signature', `${standardSignature}=`)),
  vector('webhook-signature of another version', serviceAlone, {
    ...changed('webhook-signature', standardSignature.replace('v1,', 'v2,')),
  }),
  vector(
    'webhook-signature behind others',
    both,
    changed('webhook-signature', `v1a,AA== v1,AA== ${standardSignature}`),
  ),
  vector('webhook-id of another delivery', serviceAlone, changed('webhook-id', 'dlv_2')),
  vector('webhook-timestamp missing', serviceAlone, changed('webhook-timestamp', undefined)),
  vector('webhook-timestamp changed', serviceAlone, changed('webhook-timestamp', String(SENT_S + 1))),
  vector('five minutes later', both, { now: SENT_S + 300 }),
  vector('a second after that: a replay', serviceAlone, { now: SENT_S + 301 }),
  vector('five minutes before it was sent: clocks differ', both, { now: SENT_S - 300 }),
  vector('a second before that', serviceAlone, { now: SENT_S - 301 }),
];

test('vectors.json holds what Herald signs; UPDATE_VECTORS=1 writes it anew', async () => {
  const text = `${JSON.stringify({ vectors: VECTORS }, null, 2)}\n`;
  if (process.env.UPDATE_VECTORS === '1') await writeFile(FILE, text);
  expect(JSON.parse(await readFile(FILE, 'utf8'))).toEqual({ vectors: VECTORS });
});

test.each(VECTORS)('$name', ({ secrets, now, headers, body_base64, service_valid, standard_valid }) => {
  const body = Buffer.from(body_base64, 'base64');
  expect(verify(body, headers, secrets)).toBe(service_valid);
  expect(verifyStandard(body, headers, secrets, { nowMs: now * 1_000 })).toBe(standard_valid);
});
