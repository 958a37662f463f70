import { readHeaders } from './read-headers.ts';

const WANTED = [
  ['x-service-signature', 'sha256=ab'],
  ['webhook-id', 'dlv_1'],
];

test.each([
  ['lines', 'X-Service-Signature: sha256=ab\r\nwebhook-id:dlv_1\n\nnot a header'],
  ['JSON', '{"X-Service-Signature":"sha256=ab","webhook-id":"dlv_1"}'],
  ['curl', `-H 'X-Service-Signature: sha256=ab' \\\n  -H "webhook-id: dlv_1" \\`],
  ['lines of a log', `"x-service-signature": "sha256=ab",\n'webhook-id': 'dlv_1',`],
])('headers are read from %s', (_form, text) => {
  expect([...readHeaders(text)]).toEqual(WANTED);
});
