import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { CookieOptions, Request, Response } from 'express';

const COOKIE = 'herald_operator';
const KEEP_MS = 30 * 86_400_000;
/** `<id>.<end of its life, in ms>.<proof>` */
const VALUE = /^([\w-]{22})\.(\d{13,15})\.([\w-]{43})$/;

export type KnownBrowsersDeps = {
  /** The first proves, all check. */
  readonly secretsKeys: readonly Buffer[];
  /** Epoch ms. */
  readonly now: () => number;
};

/**
 * Knows a browser again that has signed in as operator. Its cookie opens nothing: with it, the wrong sign-ins of others
 * don't count for this browser. All processes know it, because they share SECRETS_KEY.
 */
export function createKnownBrowsers({ secretsKeys, now }: KnownBrowsersDeps) {
  // Keys of their own: what is proved here must prove nothing elsewhere.
  const keys = secretsKeys.map((key) => createHmac('sha256', key).update('browsers of operators').digest());
  const prove = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();

  const read = (value: string) => {
    const [, id = '', until = '', proof = ''] = VALUE.exec(value) ?? [];
    const given = Buffer.from(proof, 'base64url');
    const isProven = keys.some((key) => {
      const expected = prove(key, `${id}.${until}`);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
    return isProven && Number(until) > now() ? { id, until: Number(until) } : undefined;
  };
  /** A neighbouring host can set a cookie of the same name, but none that is proven. */
  const find = (req: Pick<Request, 'get'>) =>
    (req.get('cookie') ?? '')
      .split(';')
      .map((pair) => pair.trim().split('='))
      .filter(([name]) => name === COOKIE)
      .map(([, value = '']) => read(value))
      .find((found) => found !== undefined);

  return {
    /** The id of a browser that has signed in within thirty days. */
    idOf: (req: Pick<Request, 'get'>): string | undefined => find(req)?.id,
    /** Call it when the operator has signed in. Programs get no cookie. */
    remember(req: Pick<Request, 'get' | 'secure'>, res: Pick<Response, 'cookie'>): void {
      const isPage = req.get('accept')?.includes('text/html') === true;
      const found = find(req);
      if (!isPage || (found && found.until - now() > KEEP_MS / 2)) return;
      const text = `${found?.id ?? randomBytes(16).toString('base64url')}.${now() + KEEP_MS}`;
      const [key] = keys;
      if (!key) throw new Error('SECRETS_KEY has a key');
      // Also from a link in a chat: it opens nothing.
      const options: CookieOptions = {
        httpOnly: true,
        sameSite: 'lax',
        secure: req.secure,
        maxAge: KEEP_MS,
        path: '/',
      };
      res.cookie(COOKIE, `${text}.${prove(key, text).toString('base64url')}`, options);
    },
  };
}
export type KnownBrowsers = ReturnType<typeof createKnownBrowsers>;
