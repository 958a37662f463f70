import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { under } from '../../support/idempotency-records.ts';
import { document } from '../../support/openapi-document.ts';
import { OPERATOR_ENV, basic } from '../../support/operator-client.ts';
import { problemOf } from '../../support/problems.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

let herald: Herald;
let workspace: WorkspaceClient;
let platformKey: string;

beforeAll(async () => {
  herald = await startHerald({ env: OPERATOR_ENV });
  workspace = await herald.createWorkspace();
  platformKey = await herald.createKey(undefined, ['platform']);
});
afterAll(() => herald[Symbol.asyncDispose]());

/** Every operation of the document that needs a key, with ids that lead nowhere. */
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { security, operationId }]) => {
    const scope = security?.[0]?.apiKey?.[0];
    const written = path.replaceAll(/\{\w+\}/g, 'x');
    return scope === undefined ? [] : [{ name: operationId, method: method.toUpperCase(), path: written, scope }];
  }),
);
const keyOf = (scope: string) =>
  scope === 'execute' ? herald.executor.key : scope === 'platform' ? platformKey : workspace.key;

test('the document has more than twenty operations with keys', () => {
  expect(operations.length).toBeGreaterThan(20);
});

test.each(operations)('$name refuses a parameter that it does not name, however its path is written', async (each) => {
  const { method, path, scope } = each;
  const key = keyOf(scope);
  for (const written of [path, `${path}/`]) {
    const problem = problemOf(await herald.request(method, `${written}?nobody=1`, { key }));
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
    expect(problem.errors).toMatchObject([
      {
        path: 'nobody',
        message: expect.stringMatching(
          /^nobody is not a parameter of this operation; ((known|there) are|the only one is) /,
        ) as string,
      },
    ]);
  }
});

test.each([
  [
    'a list',
    'GET',
    '/api/public/webhooks/x/deliveries?limit=1&__proto__=1&constructor=2',
    ['__proto__', 'constructor'],
  ],
  ['a list with a parameter twice', 'GET', '/tasks/x/deliveries?limit=1&limit=1', ['limit']],
  ['one behind a thousand others', 'GET', `/tasks/x/deliveries?${'&'.repeat(2_000)}nobody=1`, ['nobody']],
  ['one in another case', 'GET', '/tasks/x/DELIVERIES?Limit=1', ['Limit']],
  ['one without a name', 'DELETE', '/api/public/webhooks/x?=1', ['""']],
])('%s is refused by name', async (_what, method, path, names) => {
  const answer = await workspace.request(method, path);
  expect(answer.status).toBe(422);
  expect(problemOf(answer).errors?.map((problem) => problem.path)).toEqual(names);
});

test('a HEAD is refused like a GET', async () => {
  const headers = { authorization: `Bearer ${workspace.key}` };
  const ask = (query: string) =>
    fetch(`${herald.apis[0]?.origin ?? ''}/api/public/webhooks${query}`, { method: 'HEAD', headers });
  expect([(await ask('')).status, (await ask('?nobody=1')).status]).toEqual([200, 422]);
});

test('what a parameter held is not told', async () => {
  const { text } = await workspace.request('GET', '/tasks/x?token=canary');
  expect(text).toContain('token');
  expect(text).not.toContain('canary');
});

test('a repetition under an Idempotency-Key is refused as well', async () => {
  expect((await workspace.request('POST', '/tasks', under('q', { body: {} }))).status).toBe(201);
  expect((await workspace.request('POST', '/tasks?dryRun=true', under('q', { body: {} }))).status).toBe(422);
});

test('who has no key learns nothing but that, and what is nowhere is not found', async () => {
  expect((await herald.request('GET', '/tasks/x?nobody=1')).status).toBe(401);
  expect((await workspace.request('GET', '/tasks/x/nowhere?nobody=1')).status).toBe(404);
  expect((await workspace.request('PUT', `/tasks/task_${'0'.repeat(26)}?nobody=1`)).status).toBe(405);
});

test.each(['/openapi.json', '/docs', '/docs/page.js', '/docs/receiving', '/errors', '/'])(
  '%s takes no parameters',
  async (path) => {
    const answer = await herald.request('GET', `${path}?v=1`);
    expect(problemOf(answer)).toMatchObject({ status: 422, errors: [{ path: 'v' }] });
    expect(answer.headers['cache-control']).toBe('no-store');
  },
);

test('health pages and metrics pass over parameters, in both processes: a probe with one must not end a service', async () => {
  const headers = basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD);
  const origins = [...herald.apis, ...herald.workers].map(({ origin }) => origin);
  for (const origin of origins) {
    for (const path of ['/healthz?t=1', '/readyz?a=1&a=2', '/metrics?collect[]=x']) {
      expect((await fetch(origin + path, { headers })).status).toBe(200);
    }
  }
});

describe('a request with two Authorization headers', () => {
  const ask = async (path: string, ...authorizations: readonly string[]) => {
    const socket = connect(Number(new URL(herald.apis[0]?.origin ?? '').port), '127.0.0.1');
    const headers = authorizations.map((value, n) => `${n % 2 ? 'AUTHORIZATION' : 'authorization'}: ${value}\r\n`);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${headers.join('')}connection: close\r\n\r\n`);
    return await text(socket);
  };

  test.each(['/api/public/webhooks', '/api/internal/tasks?status=done', '/metrics', '/admin/queues', '/healthz'])(
    'is refused at %s, though both be the same',
    async (path) => {
      const key = `Bearer ${workspace.key}`;
      for (const other of [key, 'Bearer x', 'Basic eDp5', '']) {
        const answer = await ask(path, key, other);
        expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
        expect(answer).toContain('"code":"malformed_request"');
        expect(answer).toContain('send the header Authorization once');
      }
    },
  );

  test('is nothing like one with one', async () => {
    expect(await ask('/api/public/webhooks', `Bearer ${workspace.key}`)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});
