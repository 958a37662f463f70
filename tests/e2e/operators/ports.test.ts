import { freePort, waitFor } from '@herald/test-kit';
import { createOpenApiDocument } from '../../../apps/api/src/documents/create-document.ts';
import { OPERATOR_ROUTES } from '../../../apps/api/src/operators/operator-routes.ts';
import { basic, BOARD, OPERATOR_ENV } from '../../support/operator-client.ts';
import { runApp } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

const METRICS_TOKEN = 'metrics-canary-0123456789';
const SIGN_IN = basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD);
const TOKEN = { authorization: `Bearer ${METRICS_TOKEN}` };

/** Not by `sendRequest`: the document of a port says nothing of what is at the other. */
async function ask(origin: string, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(origin + path, {
    method,
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** What the API is made of, by the tables and by hand. An id stands for each parameter. */
const pathsOf = (part: 'customers' | 'operators') =>
  Object.entries(createOpenApiDocument(part).paths ?? {}).flatMap(([path, item]) =>
    Object.keys(item).map((method) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'ws_x'),
      pattern: path,
    })),
  );
const OPERATOR_PAGES = [
  '/metrics',
  '/admin',
  '/admin/',
  '/admin/failed',
  BOARD,
  `${BOARD}/api/queues`,
  '/api/operator',
];
const HEALTH = ['/healthz', '/readyz'];

describe('operators with a port of their own', () => {
  let herald: Herald;
  let customers: string;
  let operators: string;
  beforeAll(async () => {
    const [port, operatorPort] = [await freePort(), await freePort()];
    const env = {
      ...OPERATOR_ENV,
      METRICS_TOKEN,
      OPERATOR_WRITE: 'true',
      PORT: String(port),
      OPERATOR_PORT: String(operatorPort),
    };
    herald = await startHerald({ env });
    customers = herald.apis[0]?.origin ?? '';
    operators = `http://127.0.0.1:${operatorPort}`;
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test('the log says where both are', () => {
    const line = herald
      .logs()
      .split('\n')
      .find((each) => each.includes('"api.started"'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      port: Number(new URL(customers).port),
      operatorPort: Number(new URL(operators).port),
    });
  });

  test('nothing of theirs is at the port of customers: every operation and page is answered as a path that is not there', async () => {
    const unknown = await ask(customers, '/nothing');
    const withoutId = (text: string) => text.replace(/"requestId":"[^"]*"/, '');
    const routes = [
      ...OPERATOR_ROUTES.operations.map(({ method, path }) => ({
        method: method.toUpperCase(),
        path: OPERATOR_ROUTES.path + path.replaceAll(/\{\w+\}/g, 'ws_x'),
      })),
      ...OPERATOR_PAGES.map((path) => ({ method: 'GET', path })),
      { method: 'PUT', path: `${BOARD}/api/queues/deliveries/pause` },
    ];
    expect(routes.length).toBeGreaterThan(11);
    for (const { method, path } of routes) {
      for (const headers of [{}, SIGN_IN, TOKEN]) {
        const answer = await ask(customers, path, { ...headers, 'sec-fetch-site': 'same-origin' }, method);
        expect({ method, path, status: answer.status }).toEqual({ method, path, status: 404 });
        expect(withoutId(answer.text)).toBe(withoutId(unknown.text));
        expect(answer.headers.get('www-authenticate')).toBeNull();
      }
    }
  });

  test('nothing of the customers is at the port of operators', async () => {
    const workspace = await herald.createWorkspace();
    const own = new Set(pathsOf('operators').map(({ pattern }) => pattern));
    const foreign = pathsOf('customers').filter(({ pattern }) => !own.has(pattern));
    expect(foreign.length).toBeGreaterThan(30);
    for (const { method, path } of foreign) {
      for (const key of [workspace.key, herald.executor.key]) {
        const { status } = await ask(operators, path, { authorization: `Bearer ${key}` }, method);
        expect({ method, path, status }).toEqual({ method, path, status: 404 });
      }
    }
    expect((await ask(operators, '/docs/receiving')).status).toBe(404);
  });

  test('at their port is all that they need, behind the sign-in', async () => {
    for (const path of ['/metrics', '/admin', '/admin/failed', BOARD, '/api/operator/overview']) {
      expect({ path, status: (await ask(operators, path)).status }).toEqual({ path, status: 401 });
      expect({ path, status: (await ask(operators, path, SIGN_IN)).status }).toEqual({ path, status: 200 });
    }
    // The page, and each file that it loads.
    const { text } = await ask(operators, '/admin', SIGN_IN);
    const files = [...text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files)
      expect({ file, status: (await ask(operators, file)).status }).toEqual({ file, status: 200 });
  });

  test('a change there must come from there, whatever PUBLIC_URL is', async () => {
    const pause = (origin: string) =>
      ask(operators, `${BOARD}/api/queues/deliveries/resume`, { ...SIGN_IN, origin }, 'PUT');
    expect((await pause(customers)).status).toBe(403);
    expect((await pause(operators)).status).toBe(200);
  });

  test('both ports say how the process is, and what they have', async () => {
    for (const origin of [customers, operators]) {
      for (const path of HEALTH) expect((await ask(origin, path)).status).toBe(200);
    }
    const pathsAt = async (origin: string) =>
      Object.keys((JSON.parse((await ask(origin, '/openapi.json')).text) as { paths: object }).paths);
    expect((await pathsAt(operators)).filter((path) => !HEALTH.includes(path))).toEqual(
      OPERATOR_ROUTES.operations.map(({ path }) => OPERATOR_ROUTES.path + path),
    );
    expect((await pathsAt(customers)).filter((path) => /operator|admin|metrics/.test(path))).toEqual([]);
    expect((await ask(operators, '/docs')).text).toContain('/docs/page.js');
    expect((await ask(customers, '/openapi.json')).text).not.toContain('/api/operator');
  });

  test('the console that a link opens is at the other port, and its token stays in the browser', async () => {
    const { status, headers } = await ask(operators, '/console/deliveries/dlv_x?a=1');
    expect([status, headers.get('location')]).toEqual([302, `${customers}/console/deliveries/dlv_x?a=1`]);
    expect((await ask(customers, '/console/receivers')).status).toBe(200);
  });

  test('METRICS_TOKEN opens the metrics and nothing else', async () => {
    expect((await ask(operators, '/metrics', TOKEN)).text).toContain('herald_build_info{');
    for (const path of ['/admin', BOARD, '/api/operator/overview']) {
      expect({ path, status: (await ask(operators, path, TOKEN)).status }).toEqual({ path, status: 401 });
    }
    for (const wrong of [`${METRICS_TOKEN}x`, METRICS_TOKEN.slice(1), METRICS_TOKEN.toUpperCase()]) {
      const { status, headers } = await ask(operators, '/metrics', { authorization: `Bearer ${wrong}` });
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="Herald"']);
    }
  });

  test('scraping and signing in have budgets of their own', async () => {
    const scrape = (authorization: string) => ask(operators, '/metrics', { authorization });
    const wrong = [];
    for (let index = 0; index < 40; index++) wrong.push((await scrape(`Bearer wrong-token-${index}`)).status);
    expect(wrong.at(-1)).toBe(429);
    // The right one always passes, and people sign in.
    expect((await scrape(TOKEN.authorization)).status).toBe(200);
    expect((await ask(operators, '/admin', SIGN_IN)).status).toBe(200);
    const guesses = await Promise.all(
      Array.from({ length: 150 }, (_, index) =>
        ask(operators, '/admin', basic(OPERATOR_ENV.OPERATOR_USER, `g${index}`)),
      ),
    );
    expect(guesses.some(({ status }) => status === 429)).toBe(true);
    expect((await scrape(TOKEN.authorization)).status).toBe(200);
    expect(herald.logs()).not.toContain(METRICS_TOKEN);
  });
});

test('PUBLIC_URL says where the console is that a link opens', async () => {
  const operatorPort = await freePort();
  const env = { ...OPERATOR_ENV, OPERATOR_PORT: String(operatorPort), PUBLIC_URL: 'https://herald.example.com' };
  await using herald = await startHerald({ workers: 0, env });
  const { headers } = await ask(`http://127.0.0.1:${operatorPort}`, '/console/receivers');
  expect(headers.get('location')).toBe('https://herald.example.com/console/receivers');
  expect((await ask(herald.apis[0]?.origin ?? '', '/console/receivers')).status).toBe(200);
});

test('with METRICS_TOKEN and no operator there are metrics, and no pages', async () => {
  await using herald = await startHerald({ workers: 0, env: { METRICS_TOKEN } });
  const origin = herald.apis[0]?.origin ?? '';
  const { status, text } = await ask(origin, '/metrics', TOKEN);
  expect(status).toBe(200);
  // Those of the whole service too, which are read from Redis.
  expect(text).toMatch(/^herald_service_state_known\{?[^\n]*\}? 1$/m);
  const without = await ask(origin, '/metrics');
  expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="Herald"']);
  for (const path of ['/admin', BOARD, '/api/operator/overview']) {
    expect((await ask(origin, path, SIGN_IN)).status).toBe(404);
  }
});

test('without METRICS_TOKEN a token is none', async () => {
  await using herald = await startHerald({ workers: 0, env: OPERATOR_ENV });
  const { status, headers } = await ask(herald.apis[0]?.origin ?? '', '/metrics', TOKEN);
  expect([status, headers.get('www-authenticate')?.slice(0, 6)]).toEqual([401, 'Basic ']);
});

test('without operators and a token the port of operators only says how the process is', async () => {
  const operatorPort = await freePort();
  await using herald = await startHerald({ workers: 0, env: { OPERATOR_PORT: String(operatorPort) } });
  const origin = `http://127.0.0.1:${operatorPort}`;
  for (const each of [origin, herald.apis[0]?.origin ?? '']) expect((await ask(each, '/healthz')).status).toBe(200);
  for (const path of ['/metrics', '/admin', '/api/operator/overview']) {
    expect((await ask(origin, path, SIGN_IN)).status).toBe(404);
  }
});

test('while a process stops, its customers are answered first, and the port of operators goes last', async () => {
  const operatorPort = await freePort();
  await using herald = await startHerald({ env: { ...OPERATOR_ENV, OPERATOR_PORT: String(operatorPort) } });
  const [api] = herald.apis;
  if (!api) throw new Error('there is one');
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const receiver = await herald.startReceiver(async () => {
    await held;
    return { status: 200 };
  });
  const workspace = await herald.createWorkspace();
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const underWay = workspace.request('POST', `/api/public/webhooks/${id}/test`, { body: {} });
  await receiver.next();
  const stopped = api.stop();
  await herald.waitForLog('process.stopping', api);
  await waitFor('the port of customers to be closed', () =>
    ask(api.origin, '/healthz').then(
      () => false,
      () => true,
    ),
  );
  // It shows how the process ends.
  expect((await ask(`http://127.0.0.1:${operatorPort}`, '/healthz')).status).toBe(200);
  release();
  expect((await underWay).status).toBe(200);
  await stopped;
  await expect(ask(`http://127.0.0.1:${operatorPort}`, '/healthz')).rejects.toThrow('fetch failed');
});

const COMPLETE = {
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
};

test('a port of operators that is taken is named at the start', async () => {
  await using herald = await startHerald({ workers: 0, env: COMPLETE });
  const taken = new URL(herald.apis[0]?.origin ?? '').port;
  const { code, stderr } = await runApp('api', {
    ...COMPLETE,
    REDIS_URL: herald.server.url,
    PORT: '0',
    OPERATOR_PORT: taken,
  });
  expect(code).toBe(1);
  expect(stderr).toContain(`Port ${taken} is taken on 127.0.0.1. Set OPERATOR_PORT to a free one.`);
});
