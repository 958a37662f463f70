import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export type OperatorCredentials = { readonly user: string; readonly password: string };

/** Credentials that came with a request. Whoever gets this can compare them, and can't read them. */
export type SignIn = {
  readonly isRight: boolean;
  /** A digest of the user alone. */
  readonly user: string;
  /** A digest of user and password. */
  readonly guess: string;
};

type Parts = { readonly user: Buffer; readonly password: Buffer };

/**
 * Checks HTTP Basic credentials (RFC 7617) against one user. It always compares both parts, as digests of equal length
 * under a random key, so that the time it takes does not show which part was right.
 */
export function createCheckCredentials(operator: OperatorCredentials) {
  const key = randomBytes(32);
  const digest = (data: string | Buffer) => createHmac('sha256', key).update(data).digest();
  const toParts = ({ user, password }: OperatorCredentials): Parts => ({
    user: digest(user.normalize('NFC')),
    password: digest(password.normalize('NFC')),
  });
  const expected = toParts(operator);
  /** What an Authorization header carries. Undefined: something else than HTTP Basic, which can't be right. */
  const check = (authorization: string): SignIn | undefined => {
    if (!/^Basic(?: |$)/i.test(authorization)) return undefined;
    const given = toParts(readBasic(authorization));
    const isUser = timingSafeEqual(given.user, expected.user);
    const isPassword = timingSafeEqual(given.password, expected.password);
    return {
      isRight: isUser && isPassword,
      user: given.user.toString('base64'),
      guess: digest(Buffer.concat([given.user, given.password])).toString('base64'),
    };
  };
  return {
    check,
    /** The digest of the user who can be right. */
    user: expected.user.toString('base64'),
  };
}
export type CheckCredentials = ReturnType<typeof createCheckCredentials>['check'];

/** Compares a secret with what is given, in a time that shows nothing of either. */
export function createCheckSecret(secret: string): (given: string) => boolean {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  const expected = digest(secret);
  return (given) => timingSafeEqual(digest(given), expected);
}

/** Unreadable credentials count as an empty user and password, and are compared like any others. */
function readBasic(authorization: string): OperatorCredentials {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1] ?? '';
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? { user: '', password: '' } : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
