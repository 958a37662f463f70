import { basic, BOARD, createOperatorClient, OPERATOR_ENV } from '../../support/operator-client.ts';
import { runApp } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

const { OPERATOR_USER: user, OPERATOR_PASSWORD: password } = OPERATOR_ENV;
const PATHS = ['', '/', '/queue/deliveries', '/api/queues', '/api/redis/stats', '/static/favicon.ico', '/nothing'];

describe('without credentials in the configuration', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ workers: 0 });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test.each(PATHS)('%s of the board is answered as every path that is not there', async (path) => {
    const unknown = await herald.request('GET', '/admin/other');
    for (const headers of [{}, basic(user, password)]) {
      const answer = await herald.request('GET', BOARD + path, { headers });
      expect(answer.status).toBe(404);
      expect({ ...(answer.body as object), requestId: '' }).toEqual({ ...(unknown.body as object), requestId: '' });
      expect(answer.headers).not.toHaveProperty('www-authenticate');
    }
  });
});

describe('with credentials in the configuration', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ workers: 0, env: OPERATOR_ENV });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test.each([
    ['none', {}],
    ['a wrong password', basic(user, 'correct horse: batterx')],
    ['a part of the password', basic(user, 'correct horse: batter')],
    ['more than the password', basic(user, `${password}y`)],
    ['a wrong user', basic('olgb', password)],
    ['no user', basic('', password)],
    ['no password', basic(user, '')],
    ['user and password swapped', basic(password, user)],
    ['no colon', { authorization: `Basic ${Buffer.from(user).toString('base64')}` }],
    ['no base64', { authorization: `Basic ${user}:${password}` }],
    ['another scheme', { authorization: `Bearer ${Buffer.from(`${user}:${password}`).toString('base64')}` }],
  ])('%s gives 401 and the challenge', async (_what, headers) => {
    const answers = await Promise.all(
      ['', '/api/queues'].map((path) => herald.request('GET', BOARD + path, { headers })),
    );
    for (const { status, headers: sent, body } of answers) {
      expect(status).toBe(401);
      expect(sent['www-authenticate']).toBe('Basic realm="Herald", charset="UTF-8"');
      expect(body).toMatchObject({ code: 'unauthenticated' });
    }
  });

  test.each(PATHS)('%s of the board asks for them', async (path) => {
    expect((await herald.request('GET', BOARD + path)).status).toBe(401);
  });

  test('an API key is no sign-in, and the operator is no API key', async () => {
    const key = await herald.createKey('ws_x', ['webhooks', 'tasks']);
    expect((await herald.request('GET', BOARD, { key })).status).toBe(401);
    const answer = await herald.request('GET', '/api/public/webhooks', { headers: basic(user, password) });
    expect(answer.status).toBe(401);
  });

  test('the right credentials open the page, which nobody may frame, keep or learn of', async () => {
    const { status, headers, text } = await createOperatorClient(herald).request('GET', '');
    expect(status).toBe(200);
    expect(text).toContain('<title>Herald</title>');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  });

  test('the page names nothing of another host, and has no inline style or script', async () => {
    const { text } = await createOperatorClient(herald).request('GET', '/');
    expect(text).not.toMatch(/(?:href|src)="(?:https?:)?\/\//);
    expect(text).not.toMatch(/<style|\sstyle=/);
    const scripts = [...text.matchAll(/<script\b([^>]*)>([^<]*)/g)].map(([, attributes = '', code]) => ({
      attributes,
      code,
    }));
    expect(scripts.length).toBeGreaterThan(1);
    for (const { attributes, code } of scripts) {
      // A block of data is never run.
      expect(attributes.includes('type="application/json"') || code === '').toBe(true);
    }
  });

  test('a failed sign-in is logged, without what was tried', async () => {
    await herald.request('GET', BOARD, { headers: basic(user, 'guess-canary-7') });
    await herald.waitForLog('operator.sign_in_failed');
    expect(herald.logs()).not.toContain('guess-canary-7');
    expect(herald.logs()).not.toContain(password);
  });
});

// A right password used to be refused as well, so that a guess could not be told to be right. But then anybody could
// keep every operator out, by thirty wrong sign-ins a minute. Now guesses are few because they are made to wait.
describe('while somebody guesses', () => {
  let herald: Herald;
  beforeEach(async () => {
    herald = await startHerald({ workers: 0, env: { ...OPERATOR_ENV, TRUST_PROXY: '1' } });
  });
  afterEach(() => herald[Symbol.asyncDispose]());
  const signIn = (address: string, secret: string, { path = BOARD, ...headers }: Record<string, string> = {}) =>
    herald.request('GET', path, { headers: { ...basic(user, secret), 'x-forwarded-for': address, ...headers } });
  let guesses = 0;
  const guess = async (address: string) => await signIn(address, `guess ${guesses++}`);
  const statusesOf = (answers: readonly { status: number }[]) => {
    const counts = Map.groupBy(answers, ({ status }) => status);
    return Object.fromEntries([...counts].map(([status, those]) => [status, those.length]));
  };

  test('31 wrong sign-ins keep no operator out, at the same address either, nor bearers of API keys', async () => {
    const answers = [];
    for (let index = 0; index < 31; index++) answers.push(await guess('192.0.2.1'));
    expect(statusesOf(answers)).toEqual({ 401: 31 });
    for (const path of ['/metrics', '/admin', '/api/operator/overview', BOARD]) {
      expect((await signIn('192.0.2.1', password, { path })).status).toBe(200);
    }
    expect((await signIn('192.0.2.2', password)).status).toBe(200);
    const workspace = await herald.createWorkspace();
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect((await workspace.request('GET', '/api/public/webhooks', { headers })).status).toBe(200);
  });

  test('few of many guesses at once are looked at, and the others are told to come again', async () => {
    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 100 }, () => guess('192.0.2.1')));
    const turns = Math.ceil((performance.now() - startedAt) / 1_000);
    const { 401: looks = 0, 429: refused = 0, ...others } = statusesOf(answers);
    expect(others).toEqual({});
    // Thirty at once, three in line, and a turn for each second that the answers take.
    expect(looks).toBeGreaterThanOrEqual(30);
    expect(looks).toBeLessThanOrEqual(33 + turns);
    expect(refused).toBe(100 - looks);
    const { headers, body } = answers.find(({ status }) => status === 429) ?? {};
    expect(body).toMatchObject({ code: 'rate_limited' });
    expect(Number(headers?.['retry-after'])).toBeLessThanOrEqual(4);
    expect(headers).not.toHaveProperty('www-authenticate');
  });

  test('a browser that has signed in before is let in at once, whatever comes from its address', async () => {
    const page = await signIn('192.0.2.1', password, { accept: 'text/html' });
    const set = page.headers['set-cookie'] ?? '';
    expect(set).toMatch(/^herald_operator=[^;]+; Max-Age=2592000; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
    const cookie = set.split(';')[0] ?? '';
    // Thirty wrong ones of a known address, thirty of any address, and those in line.
    const flood = Promise.all(Array.from({ length: 200 }, () => guess('192.0.2.1')));
    const known = Array.from({ length: 20 }, () => signIn('192.0.2.1', password, { cookie }));
    // Without the cookie, most of these would have to come again.
    expect(statusesOf(await Promise.all(known))).toEqual({ 200: 20 });
    expect(statusesOf(await flood)[429]).toBeGreaterThan(100);
    // It opens nothing by itself, and with it a wrong password is wrong.
    expect((await herald.request('GET', BOARD, { headers: { cookie } })).status).toBe(401);
    expect((await signIn('192.0.2.1', 'wrong', { cookie })).status).toBe(401);
  });

  test('a program that signs in gets no cookie, and no page has one before the sign-in', async () => {
    expect((await signIn('192.0.2.1', password)).headers).not.toHaveProperty('set-cookie');
    for (const headers of [{}, basic(user, 'wrong')]) {
      const answer = await herald.request('GET', '/admin', { headers: { ...headers, accept: 'text/html' } });
      expect([answer.status, answer.headers['set-cookie']]).toEqual([401, undefined]);
    }
  });

  test('an open page with an old password is logged once, and uses nothing up', async () => {
    const answers = [];
    for (let index = 0; index < 60; index++) answers.push(await signIn('192.0.2.1', 'the password of yesterday'));
    expect(statusesOf(answers)).toEqual({ 401: 60 });
    expect(herald.logs().match(/operator\.sign_in_failed/g)).toHaveLength(1);
    expect((await signIn('192.0.2.1', password)).status).toBe(200);
  });
});

test('behind a proxy that is trusted, the address that the board is called by is its origin', async () => {
  await using herald = await startHerald({
    workers: 0,
    env: { ...OPERATOR_ENV, OPERATOR_WRITE: 'true', TRUST_PROXY: '1' },
  });
  const pause = (origin: string) =>
    createOperatorClient(herald).request('PUT', '/api/queues/deliveries/pause', {
      headers: { origin, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'herald.example.com' },
    });
  expect((await pause('http://herald.example.com')).status).toBe(403);
  expect((await pause(herald.apis[0]?.origin ?? '')).status).toBe(403);
  expect((await pause('https://herald.example.com')).status).toBe(200);
});

test('with PUBLIC_URL, a change must come from there, whatever host a request claims to have called', async () => {
  const env = { ...OPERATOR_ENV, OPERATOR_WRITE: 'true', PUBLIC_URL: 'https://herald.example.com/' };
  await using herald = await startHerald({ workers: 0, env });
  const pause = (headers: Record<string, string>) =>
    createOperatorClient(herald).request('PUT', '/api/queues/deliveries/pause', { headers });
  expect((await pause({ origin: herald.apis[0]?.origin ?? '' })).status).toBe(403);
  expect((await pause({ origin: 'https://herald.example.com' })).status).toBe(200);
  // The browser itself says that the page is of the origin that it asks.
  expect((await pause({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
});

const COMPLETE = {
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
};

test.each([
  ['a user without a password', { OPERATOR_USER: user }, /^OPERATOR_PASSWORD must be set, since OPERATOR_USER is/],
  [
    'a password without a user',
    { OPERATOR_PASSWORD: password },
    /^OPERATOR_USER must be set, since OPERATOR_PASSWORD is$/,
  ],
  ['a colon in the user', { ...OPERATOR_ENV, OPERATOR_USER: 'a:b' }, /^OPERATOR_USER must not contain a colon/],
  [
    'a short password',
    { ...OPERATOR_ENV, OPERATOR_PASSWORD: 'elevenchars' },
    /^OPERATOR_PASSWORD must have at least 12 characters/,
  ],
  [
    'a password of one letter',
    { ...OPERATOR_ENV, OPERATOR_PASSWORD: 'a'.repeat(40) },
    /^OPERATOR_PASSWORD must have .* 5 of them different/,
  ],
  [
    'the user as password',
    { OPERATOR_USER: password.replace(':', ''), OPERATOR_PASSWORD: password.replace(':', '') },
    /^OPERATOR_PASSWORD must not be the same/,
  ],
  ['a word for a switch', { ...OPERATOR_ENV, OPERATOR_WRITE: 'yes' }, /^OPERATOR_WRITE must be true or false$/],
])('%s is refused at the start, with a sentence', async (_what, env, sentence) => {
  const { code, stderr } = await runApp('api', { ...COMPLETE, ...env });
  const [heading, problem = '', ...rest] = stderr.trim().split('\n');
  expect({ code, heading, rest }).toEqual({ code: 1, heading: 'The configuration is wrong:', rest: [] });
  expect(problem.trim()).toMatch(sentence);
  expect(stderr).not.toContain('elevenchars');
});

test('one credential without the other is named beside everything else that is wrong', async () => {
  const { stderr } = await runApp('api', { OPERATOR_USER: user, PORT: 'x' });
  const names = stderr
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(' ')[0]);
  expect(names.sort()).toEqual(['ACTION_URL_TEMPLATE', 'OPERATOR_PASSWORD', 'PORT', 'SECRETS_KEY']);
});

test('the log names the address of a failed sign-in, and nothing else that the caller wrote in its place', async () => {
  await using herald = await startHerald({ workers: 0, env: { ...OPERATOR_ENV, TRUST_PROXY: '1' } });
  for (const address of ['192.0.2.7', 'whsec_canary']) {
    await herald.request('GET', BOARD, { headers: { ...basic(user, 'wrong'), 'x-forwarded-for': address } });
  }
  await herald.waitForLog('"address":"192.0.2.7"');
  await herald.waitForLog('"address":"127.0.0.1"');
  expect(herald.logs()).not.toContain('whsec_canary');
});
