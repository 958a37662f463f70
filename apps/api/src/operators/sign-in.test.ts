import { anyCharacter } from '@herald/test-kit/any-character';
import fc from 'fast-check';
import {
  createCheckCredentials,
  createCheckSecret,
  createKnownBrowsers,
  createSignInLimiter,
  type SignInVerdict,
} from './sign-in.ts';

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const { check, user } = createCheckCredentials({ user: 'olga', password: 'päss:wörd' });
const olga = (header: string) => check(header)?.isRight === true;

test('the user and his password are known, also with a colon in it and in any spelling of its letters', () => {
  expect(olga(basic('olga', 'päss:wörd'))).toBe(true);
  expect(olga(basic('olga', 'päss:wörd'.normalize('NFD')))).toBe(true);
  expect(olga(basic('olga', 'päss:wörd').replace('Basic', 'basic'))).toBe(true);
});

test.each([
  '',
  'Basic',
  'Basic ',
  'Basic !!!!',
  basic('', ''),
  basic('olga', ''),
  basic('', 'päss:wörd'),
  basic('olga', 'päss'),
  basic('olga', 'päss:wörd '),
  basic('Olga', 'päss:wörd'),
  basic('olga:päss', 'wörd:'),
  `${basic('olga', 'päss:wörd')},x`,
  basic('olga', 'päss:wörd').replace('Basic', 'Bearer'),
])('%j is nobody', (header) => {
  expect(olga(header)).toBe(false);
});

test('whatever is sent is nobody, unless it is the very same', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (user, password) => {
      expect(olga(basic(user, password))).toBe(false);
    }),
  );
});

test('whoever gets credentials can tell users and guesses apart, and can read neither', () => {
  const [first, again, otherPassword, otherUser] = [
    basic('olga', 'päss'),
    basic('olga', 'päss'),
    basic('olga', 'wörd'),
    basic('otto', 'päss'),
  ].map((header) => check(header));
  expect(first).toEqual(again);
  expect([first?.user, otherPassword?.user]).toEqual([user, user]);
  expect(otherPassword?.guess).not.toBe(first?.guess);
  expect(otherUser?.user).not.toBe(user);
  expect(JSON.stringify(first)).not.toMatch(/olga|päss/);
});

test('what is no Basic at all is no guess, and what is unreadable is one', () => {
  expect(check('Bearer hrld_x')).toBeUndefined();
  expect(check('')).toBeUndefined();
  expect(check('Basic !!!!')).toMatchObject({ isRight: false });
});

test('a token is known, and nothing else is it', () => {
  const isToken = createCheckSecret('a-token-of-some-length');
  expect(isToken('a-token-of-some-length')).toBe(true);
  expect(['', 'a-token-of-some-lengtH', 'a-token-of-some-length ', 'a'].filter(isToken)).toEqual([]);
});

const DAY_MS = 86_400_000;

/** A limiter on a clock of the test's own. `wait` moves the clock, as the only caller would see it. */
function startLimiter({ movesClock = true } = {}) {
  const clock = { now: 1_000 };
  const waited: number[] = [];
  let guesses = 0;
  const limit = createSignInLimiter({
    operator: 'olga',
    now: () => clock.now,
    wait: (ms) => {
      waited.push(ms);
      if (movesClock) clock.now += ms;
      return Promise.resolve();
    },
  });
  const caller = (address = '192.0.2.1', browser?: string) => ({ address, browser });
  return {
    clock,
    waited,
    right: (address?: string, browser?: string) =>
      limit({ isRight: true, user: 'olga', guess: 'right' }, caller(address, browser)),
    /** Another wrong password each time, unless one is given. */
    wrong: (address?: string, browser?: string, user = 'olga', guess = `guess ${guesses++}`) =>
      limit({ isRight: false, user, guess }, caller(address, browser)),
  };
}

const kindsOf = (verdicts: readonly SignInVerdict[]) =>
  Object.fromEntries([...Map.groupBy(verdicts, ({ kind }) => kind)].map(([kind, those]) => [kind, those.length]));

/** Makes guesses one after the other. */
async function repeat(times: number, guess: () => Promise<SignInVerdict>): Promise<SignInVerdict[]> {
  const verdicts = [];
  for (let index = 0; index < times; index++) verdicts.push(await guess());
  return verdicts;
}

test('whatever was counted before, the right password passes within two seconds, from the address of the guesser too', async () => {
  for (const guesses of [0, 29, 30, 31, 100, 1_000]) {
    const { clock, right, wrong } = startLimiter();
    expect(kindsOf(await repeat(guesses, () => wrong()))).toEqual(guesses === 0 ? {} : { wrong: guesses });
    const at = clock.now;
    expect(await right()).toEqual({ kind: 'right' });
    expect(clock.now - at).toBeLessThanOrEqual(2_000);
  }
});

test('while one guesses at once, no more than three of his requests wait, and what is beyond is not looked at', async () => {
  const { right, wrong, waited } = startLimiter({ movesClock: false });
  await repeat(30, () => wrong());
  const burst = await Promise.all(Array.from({ length: 500 }, () => wrong()));
  expect(kindsOf(burst)).toEqual({ wrong: 3, later: 497 });
  expect(waited).toEqual([1_000, 2_000]);
  expect(burst.at(-1)).toEqual({ kind: 'later', afterMs: 3_000 });
  // Nor is a right one: the answer would tell.
  expect(await right()).toEqual({ kind: 'later', afterMs: 3_000 });
});

test('a browser that has signed in never waits for what others do, at the same address either', async () => {
  const { clock, right, wrong } = startLimiter();
  // A day of guesses, until nobody unknown is looked at.
  for (let index = 0; index < 3_000; index++) {
    clock.now += 100;
    await wrong(`192.0.2.${index % 250}`);
  }
  expect(await right('192.0.2.1')).toMatchObject({ kind: 'later' });
  const at = clock.now;
  expect(await right('192.0.2.1', 'browser-1')).toEqual({ kind: 'right' });
  expect(clock.now).toBe(at);
});

test('an address from which somebody has signed in within a day never waits for what others do', async () => {
  const { clock, right, wrong } = startLimiter();
  expect(await right('198.51.100.7')).toEqual({ kind: 'right' });
  for (let index = 0; index < 3_000; index++) {
    clock.now += 100;
    await wrong(`192.0.2.${index % 250}`);
  }
  expect(await right('192.0.2.1')).toMatchObject({ kind: 'later' });
  expect(await right('198.51.100.7')).toEqual({ kind: 'right' });
  // Until a day without a sign-in is over.
  clock.now += DAY_MS;
  await repeat(1_000, () => wrong());
  await Promise.all(Array.from({ length: 2_000 }, (_, index) => wrong(`192.0.2.${index % 250}`)));
  expect(await right('198.51.100.7')).toMatchObject({ kind: 'later' });
});

test.each([
  ['from one address', 1, 0],
  ['from twenty addresses', 20, 0],
  ['from more addresses than are remembered', 20_000, 0],
  ['who names more users in between than are remembered', 200, 150],
])('a guesser %s has some thousands of looks a day, however fast he is', async (_what, addresses, others) => {
  const { clock, wrong } = startLimiter({ movesClock: false });
  const endsAt = clock.now + DAY_MS;
  let looks = 0;
  for (let index = 0; clock.now < endsAt; index++) {
    const address = `address ${index % addresses}`;
    if ((await wrong(address)).kind === 'wrong') looks++;
    if (index % 500 === 0)
      for (let other = 0; other < others; other++) await wrong(address, undefined, `user ${other}`);
    clock.now += 400;
  }
  expect(looks).toBeGreaterThan(500);
  expect(looks).toBeLessThanOrEqual(1_500 + 2_880 + 1);
});

test('whoever has the cookie of an operator has three thousand looks a day more, and no others', async () => {
  const { clock, wrong } = startLimiter({ movesClock: false });
  const endsAt = clock.now + DAY_MS;
  let looks = 0;
  for (; clock.now < endsAt; clock.now += 250) {
    if ((await wrong('192.0.2.1', 'browser-1')).kind === 'wrong') looks++;
  }
  expect(looks).toBeLessThanOrEqual(1_500 + 2_880 + 30 + 2_880 + 2);
});

test('the same wrong password again is no other guess: an open page with an old one uses nothing up', async () => {
  const { right, wrong, waited } = startLimiter();
  const page = await repeat(10_000, () => wrong('192.0.2.1', undefined, 'olga', 'the old password'));
  expect(kindsOf(page)).toEqual({ wrong: 10_000 });
  // The log has it once.
  expect(page.filter((verdict) => verdict.kind === 'wrong' && verdict.isNew)).toHaveLength(1);
  expect(kindsOf(await repeat(29, () => wrong()))).toEqual({ wrong: 29 });
  expect(await right()).toEqual({ kind: 'right' });
  expect(waited).toEqual([]);
});

test('guesses at another user take nothing from the operator, and are answered in the same way', async () => {
  const answers = async (user: string) => {
    const { clock, wrong } = startLimiter({ movesClock: false });
    const verdicts = [];
    for (let index = 0; index < 2_000; index++) {
      clock.now += 10;
      verdicts.push(await wrong(`192.0.2.${index % 100}`, undefined, user));
    }
    return verdicts;
  };
  expect(await answers('otto')).toEqual(await answers('olga'));
  const { right, wrong } = startLimiter({ movesClock: false });
  for (let index = 0; index < 3_000; index++) await wrong(`192.0.2.${index % 250}`, undefined, 'otto');
  expect(await right('203.0.113.9')).toEqual({ kind: 'right' });
});

test('a budget comes back, one guess in thirty seconds', async () => {
  const { clock, wrong } = startLimiter({ movesClock: false });
  await Promise.all(Array.from({ length: 100 }, () => wrong()));
  clock.now += 30_000 * 5;
  const { wrong: looks } = kindsOf(await Promise.all(Array.from({ length: 100 }, () => wrong())));
  // Five at once, and three in line.
  expect(looks).toBe(8);
});

const [KEY, OTHER_KEY] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

const requestWith = (headers: Readonly<Record<string, string>>, secure = false) => ({
  get: ((name: string) => headers[name]) as never,
  secure,
});
const PAGE = { accept: 'text/html,application/xhtml+xml' };

function startBrowsers(secretsKeys = [KEY]) {
  const clock = { now: 1_800_000_000_000 };
  const browsers = createKnownBrowsers({ secretsKeys, now: () => clock.now });
  /** The cookie that a request gets, as a browser sends it back. */
  const signIn = (headers: Readonly<Record<string, string>> = PAGE, secure = false) => {
    const set: { cookie?: string; options?: object } = {};
    browsers.remember(requestWith(headers, secure), {
      cookie: ((name: string, value: string, options: object) => {
        set.cookie = `${name}=${value}`;
        set.options = options;
      }) as never,
    });
    return set;
  };
  return { clock, signIn, idOf: (cookie: string) => browsers.idOf(requestWith({ cookie })) };
}

test('a browser that has signed in is known for thirty days, beside other cookies too', () => {
  const { clock, signIn, idOf } = startBrowsers();
  const { cookie = '', options } = signIn();
  expect(options).toEqual({ httpOnly: true, sameSite: 'lax', secure: false, maxAge: 30 * DAY_MS, path: '/' });
  expect(signIn(PAGE, true).options).toMatchObject({ secure: true });
  const id = idOf(cookie);
  expect(id).toMatch(/^[\w-]{22}$/);
  expect(idOf(`theme=dark; ${cookie}; other=1`)).toBe(id);
  // One that a neighbouring host has set.
  expect(idOf(`herald_operator=x; ${cookie}`)).toBe(id);
  clock.now += 30 * DAY_MS;
  expect(idOf(cookie)).toBeUndefined();
});

test('a browser keeps its name, and is given a new cookie when half of the time is over', () => {
  const { clock, signIn, idOf } = startBrowsers();
  const { cookie = '' } = signIn();
  expect(signIn({ ...PAGE, cookie }).cookie).toBeUndefined();
  clock.now += 16 * DAY_MS;
  const renewed = signIn({ ...PAGE, cookie }).cookie ?? '';
  expect(renewed).not.toBe(cookie);
  expect(idOf(renewed)).toBe(idOf(cookie));
});

test('a program that signs in gets no cookie', () => {
  const { signIn } = startBrowsers();
  expect(signIn({ accept: '*/*' }).cookie).toBeUndefined();
  expect(signIn({}).cookie).toBeUndefined();
});

test('another process knows it by any of its keys, and not without the key', () => {
  const { cookie = '' } = startBrowsers().signIn();
  expect(startBrowsers([OTHER_KEY, KEY]).idOf(cookie)).toBeDefined();
  expect(startBrowsers([OTHER_KEY]).idOf(cookie)).toBeUndefined();
});

test('nobody makes one up', () => {
  const { signIn, idOf } = startBrowsers();
  const { cookie = '' } = signIn();
  const [id = '', until = '', proof = ''] = cookie.replace('herald_operator=', '').split('.');
  const other = startBrowsers([KEY]).signIn().cookie ?? '';
  const forgeries = [
    '',
    `${id}.${until}`,
    `${id}.${until}.`,
    `${id}.${Number(until) + 1}.${proof}`,
    `${other.replace('herald_operator=', '').split('.')[0] ?? ''}.${until}.${proof}`,
    `${id}.${until}.${'A'.repeat(43)}`,
    `${id}.${until}.${proof}x`,
  ];
  expect(forgeries.filter((forged) => idOf(`herald_operator=${forged}`) !== undefined)).toEqual([]);
});
