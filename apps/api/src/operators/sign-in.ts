import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createBoundedMap } from '@herald/runtime/async';
import type { CookieOptions, Request, Response } from 'express';

type OperatorCredentials = { readonly user: string; readonly password: string };

/** Credentials that came with a request. Whoever gets this can compare them, and can't read them. */
type SignIn = {
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

/** Wrong sign-ins that may come at once, and the time after which there may be one more, in ms. */
type Budget = { readonly burst: number; readonly refillMs: number };

/** Of one address, and of one browser that has signed in before. An open board with an old password is no guesser. */
const OF_CALLER: Budget = { burst: 30, refillMs: 30_000 };
/** Of one user, from all callers that have not signed in lately. */
const OF_USER: Budget = { burst: 1_500, refillMs: 30_000 };

/** Beyond these budgets sign-ins stand in line, one behind the other, at this distance. */
const TURN_MS = 1_000;
/** A turn that is further away is not waited for. At most three requests of a user wait, therefore. */
const WAIT_LIMIT_MS = 2_000;
/** How long an address counts as one from which operators come, after a right sign-in. */
const ADDRESS_KNOWN_MS = 86_400_000;

/** Entries of the maps. What a guesser can push out of them takes none of the bounds below away. */
const ADDRESS_LIMIT = 10_000;
const USER_LIMIT = 100;
const KNOWN_LIMIT = 1_000;
const GUESS_LIMIT = 1_000;

type SignInLimiterDeps = {
  /** The digest of the user who can be right. Its budget is never pushed out. */
  readonly operator: SignIn['user'];
  /** Epoch ms. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
};

/** Where a sign-in comes from. */
type SignInCaller = {
  readonly address: string;
  /** A browser that has signed in before, as it proves. */
  readonly browser: string | undefined;
};

/** `isNew`: the address has not sent this guess lately. `later`: nobody looked at it; it may come again after this time. */
export type SignInVerdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong'; readonly isNew: boolean }
  | { readonly kind: 'later'; readonly afterMs: number };

/** A budget that is being spent: the time at which all of it is there again. */
type Spent = { fullAt: number };
type Line = Spent & { nextTurnAt: number };

const RIGHT = { kind: 'right' } as const;

/**
 * Limits guesses at the operator's password, and locks no operator out. This process counts alone: a guess must not
 * cost Redis anything.
 *
 * A password that always passes at once could be guessed as fast as requests come, because a guess that passes is a
 * right one. So somebody has to wait, and it must not be the operator. What tells him from a guesser is that he has
 * been here before:
 *
 * - A browser that has signed in, and an address from which somebody has within a day, have budgets of their own. What
 *   others do never touches these.
 * - All others share the budget of the user that they name, besides that of their address.
 * - Once a budget is used up, sign-ins go through one by one, a second apart. So a right password waits for two seconds
 *   at most, or is told to come again when more than a few ask at once.
 * - A wrong password that is sent again, as an open page does after a change, is no other guess, and counts once.
 *
 * So a process looks at 1,500 and 2,880 wrong passwords a day (`OF_USER`), and at 30 and 2,880 more for each known
 * browser and address (`OF_CALLER`), however many requests and addresses there are. What it costs: an operator with a
 * new browser, at the address of a guesser, competes with him for the turns, and once the 1,500 are used up there is one
 * in 30 s.
 */
export function createSignInLimiter({ operator, now, wait }: SignInLimiterDeps) {
  const known = createBoundedMap<string, Spent & { until: number }>(KNOWN_LIMIT);
  const addresses = createBoundedMap<string, Spent>(ADDRESS_LIMIT);
  const users = createBoundedMap<string, Line>(USER_LIMIT);
  const ofOperator: Line = { fullAt: 0, nextTurnAt: 0 };
  const wrongGuesses = createBoundedMap<string, true>(GUESS_LIMIT);

  /** Others have lines too, so that no answer shows whether there is such a user. */
  const lineOf = (user: string): Line =>
    user === operator ? ofOperator : findOrAdd(users, user, () => ({ fullAt: 0, nextTurnAt: 0 }));

  /** The budgets that nobody else can spend. */
  const budgetsOfKnown = ({ address, browser }: SignInCaller, at: number): Spent[] => {
    // Its proof is the request's own, so it is known to a process that has not met it.
    const ofBrowser =
      browser === undefined ? [] : [findOrAdd(known, `browser ${browser}`, () => ({ fullAt: 0, until: Infinity }))];
    const ofAddress = known.get(`address ${address}`);
    return ofAddress && ofAddress.until > at ? [...ofBrowser, ofAddress] : ofBrowser;
  };

  const settle = ({ isRight, guess }: SignIn, { address }: SignInCaller): SignInVerdict => {
    if (isRight) {
      findOrAdd(known, `address ${address}`, () => ({ fullAt: 0, until: 0 })).until = now() + ADDRESS_KNOWN_MS;
      return RIGHT;
    }
    wrongGuesses.set(`${address} ${guess}`, true);
    return { kind: 'wrong', isNew: true };
  };

  return async function limitSignIn(signIn: SignIn, caller: SignInCaller): Promise<SignInVerdict> {
    const { isRight, user, guess } = signIn;
    const at = now();
    if (!isRight && wrongGuesses.get(`${caller.address} ${guess}`)) return { kind: 'wrong', isNew: false };
    const own = budgetsOfKnown(caller, at).find((budget) => isFree(budget, OF_CALLER, at));
    if (own) {
      if (!isRight) take(own, OF_CALLER, at);
      return settle(signIn, caller);
    }
    const line = lineOf(user);
    const ofAddress = addresses.get(caller.address) ?? { fullAt: 0 };
    if (isFree(ofAddress, OF_CALLER, at) && isFree(line, OF_USER, at)) {
      if (!isRight) {
        take(ofAddress, OF_CALLER, at);
        take(line, OF_USER, at);
        addresses.set(caller.address, ofAddress);
      }
      return settle(signIn, caller);
    }
    const turnAt = Math.max(at, line.nextTurnAt, freeAt(line, OF_USER));
    if (turnAt - at > WAIT_LIMIT_MS) return { kind: 'later', afterMs: turnAt - at };
    line.nextTurnAt = turnAt + TURN_MS;
    if (!isRight) take(line, OF_USER, at);
    if (turnAt > at) await wait(turnAt - at);
    return settle(signIn, caller);
  };
}
export type LimitSignIn = ReturnType<typeof createSignInLimiter>;

/** When there is room for one more. */
function freeAt({ fullAt }: Spent, { burst, refillMs }: Budget): number {
  return fullAt - (burst - 1) * refillMs;
}

function isFree(spent: Spent, budget: Budget, at: number): boolean {
  return freeAt(spent, budget) <= at;
}

function take(spent: Spent, { refillMs }: Budget, at: number): void {
  spent.fullAt = Math.max(spent.fullAt, at) + refillMs;
}

function findOrAdd<Value>(
  map: ReturnType<typeof createBoundedMap<string, Value>>,
  key: string,
  create: () => Value,
): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}

const COOKIE_NAME = 'herald_operator';
const COOKIE_KEPT_MS = 30 * 86_400_000;
/** `<id>.<end of its life, in ms>.<proof>` */
const COOKIE_VALUE = /^([\w-]{22})\.(\d{13,15})\.([\w-]{43})$/;

type KnownBrowsersDeps = {
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
    const [, id = '', until = '', proof = ''] = COOKIE_VALUE.exec(value) ?? [];
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
      .filter(([name]) => name === COOKIE_NAME)
      .map(([, value = '']) => read(value))
      .find((found) => found !== undefined);

  return {
    /** The id of a browser that has signed in within thirty days. */
    idOf: (req: Pick<Request, 'get'>): string | undefined => find(req)?.id,
    /** Call it when the operator has signed in. Programs get no cookie. */
    remember(req: Pick<Request, 'get' | 'secure'>, res: Pick<Response, 'cookie'>): void {
      const isPage = req.get('accept')?.includes('text/html') === true;
      const found = find(req);
      if (!isPage || (found && found.until - now() > COOKIE_KEPT_MS / 2)) return;
      const text = `${found?.id ?? randomBytes(16).toString('base64url')}.${now() + COOKIE_KEPT_MS}`;
      const [key] = keys;
      if (!key) throw new Error('SECRETS_KEY has a key');
      // Also from a link in a chat: it opens nothing.
      const options: CookieOptions = {
        httpOnly: true,
        sameSite: 'lax',
        secure: req.secure,
        maxAge: COOKIE_KEPT_MS,
        path: '/',
      };
      res.cookie(COOKIE_NAME, `${text}.${prove(key, text).toString('base64url')}`, options);
    },
  };
}
export type KnownBrowsers = ReturnType<typeof createKnownBrowsers>;
