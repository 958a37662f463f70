import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export type OperatorCredentials = { readonly user: string; readonly password: string };

/** Whether an Authorization header carries the operator's credentials. */
export type CheckCredentials = (authorization: string | undefined) => boolean;

/**
 * Checks HTTP Basic credentials (RFC 7617) against one user. It always compares both parts, as digests of equal length
 * under a random key, so that the time it takes does not show which part was right.
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

/** Unreadable credentials count as an empty user and password, and are compared like any others. */
function readBasic(authorization = ''): OperatorCredentials {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1] ?? '';
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? { user: '', password: '' } : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
