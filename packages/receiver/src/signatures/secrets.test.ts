import { newSigningSecret } from '@herald/core';
import { checkSecrets } from './secrets.ts';

const secret = newSigningSecret();

test.each([[secret], [[secret]], [[secret, newSigningSecret()]]])('%j is taken', (secrets) => {
  expect(checkSecrets(secrets)).toEqual([secrets].flat());
});

test.each<[string, unknown]>([
  ['secrets[0] is empty', ''],
  ['secrets[0] is not a string', undefined],
  ['secrets[1] is not as Herald showed it', [secret, `${secret}\n`]],
  ['secrets[0] is not as Herald showed it', `${secret},${secret}`],
  ['secrets[0] is not as Herald showed it', secret.slice('whsec_'.length)],
])('%s', (message, secrets) => {
  expect(() => checkSecrets(secrets as string)).toThrow(message);
  expect(() => checkSecrets(secrets as string)).not.toThrow(secret.slice(6, 20));
});
