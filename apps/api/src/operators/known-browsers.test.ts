import { createKnownBrowsers } from './known-browsers.ts';

const DAY_MS = 86_400_000;
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
