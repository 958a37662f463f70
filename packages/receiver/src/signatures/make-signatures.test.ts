import { createSigningKey, newSigningSecret, signatureHeaders } from '@herald/core';
import { signedHeaders } from './make-signatures.ts';

test('what is signed on a customer’s machine has the headers that Herald makes', () => {
  const secret = newSigningSecret();
  const delivery = { id: 'dlv_1', event: 'task.done', body: Buffer.from('{"text":"Grüße"}'), now: 1_700_000_000_999 };
  expect(signedHeaders(delivery, secret)).toEqual(
    signatureHeaders({ ...delivery, event: 'task.done' }, { current: createSigningKey(secret) }),
  );
});
