import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export type OperatorCredentials = { readonly user: string; readonly password: string };

/** Whether an Authorization header carries the operator's credentials. */
export type CheckCredentials = (authorization: string | undefined) => boolean;

/**
 * HTTP Basic (RFC 7617) against one user. Both parts are compared whatever the other came to, as digests of one length
 * under a key that nobody knows: how long it takes says nothing about what was right.
 */
export function createCheckCredentials({ user, password }: OperatorCredentials): CheckCredentials {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text.normalize('NFC')).digest();
  const expected = { user: digest(user), password: digest(password) };
  return (authorization) => {
    const given = readBasic(authorization);
    const isUser = timingSafeEqual(digest(given.user), expected.user);
    const isPassword = timingSafeEqual(digest(given.password), expected.password);
    return isUser && isPassword;
  };
}

/** What can't be read is nobody without a password, and is compared like everything else. */
function readBasic(authorization = ''): OperatorCredentials {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1] ?? '';
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? { user: '', password: '' } : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
