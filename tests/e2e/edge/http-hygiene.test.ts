import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { problemOf } from '../../support/problems.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { listKeys } from '../../support/start-topology.ts';

let herald: Herald;
let workspace: WorkspaceClient;

beforeAll(async () => {
  herald = await startHerald({ workers: 0 });
  workspace = await herald.createWorkspace();
});
afterAll(() => herald[Symbol.asyncDispose]());

test.each([
  ['an answer', () => workspace.request('GET', '/api/public/webhooks')],
  ['an answer with a secret', () => workspace.request('POST', '/tasks', { body: {} })],
  ['a refusal', () => herald.request('GET', '/api/public/webhooks')],
  ['the answer of no route', () => herald.request('GET', '/nothing')],
  ['a health page', () => herald.request('GET', '/healthz')],
])('%s is for no cache, no frame, no script, and says nothing of what made it', async (_name, send) => {
  const { headers } = await send();
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': expect.stringMatching(/^max-age=\d+$/) as string,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-powered-by']));
  expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['server']));
});

test('no page of another origin gets leave to call', async () => {
  const headers = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' };
  for (const method of ['OPTIONS', 'GET']) {
    const answer = await workspace.request(method, '/api/public/webhooks', { headers });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});

test('of a bug the caller learns the request id and nothing else, and the log the rest', async () => {
  const { id } = await workspace.createTask();
  const [key = ''] = await listKeys(herald.redis, `*t:${id}`);
  await herald.redis.hset(key, 'status', 'canary-exploded');
  const answer = await workspace.request('GET', `/tasks/${id}`);
  const { requestId, ...problem } = problemOf(answer);
  expect(problem).toEqual({
    type: '/errors#problems-internal',
    title: 'Internal',
    status: 500,
    detail: 'something went wrong on our side; the request id finds it in our log',
    code: 'internal',
  });
  expect(answer.text).not.toMatch(/canary|zod|node_modules|\bat \/|\.ts|\.js/i);
  await herald.waitForLog(requestId);
  await herald.waitForLog('request.failed');
});

test.each([
  ['names no host', ''],
  ['names two hosts', 'host: a\r\nHOST: b\r\n'],
])('a request in HTTP/1.1 that %s is refused with a problem', async (_name, hosts) => {
  const socket = connect(Number(new URL(herald.apis[0]?.origin ?? '').port), '127.0.0.1');
  socket.write(`GET /healthz HTTP/1.1\r\n${hosts}connection: close\r\n\r\n`);
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer).toContain('"code":"malformed_request"');
  await herald.waitForLog(/x-request-id: (\S+)/.exec(answer)?.[1] ?? 'no id');
});

test('a condition on a request is passed over, since answers have no validators', async () => {
  const headers = { 'if-none-match': '*', 'if-modified-since': new Date().toUTCString() };
  for (const path of ['/healthz', '/api/public/webhooks']) {
    const { status, text } = await workspace.request('GET', path, { headers });
    expect({ status, isEmpty: text === '' }).toEqual({ status: 200, isEmpty: false });
  }
});

test('OPTIONS of a public page says what is allowed, as the plain health check of haproxy expects, and elsewhere is refused', async () => {
  for (const path of ['/', '/healthz', '/readyz', '/errors']) {
    const { status, headers, text } = await herald.request('OPTIONS', path);
    expect({ path, status, allow: headers.allow, text }).toEqual({
      path,
      status: 204,
      allow: 'GET, HEAD, OPTIONS',
      text: '',
    });
  }
  expect(problemOf(await herald.request('OPTIONS', '/tasks')).status).toBe(405);
});

test('a body of charset=utf8 is UTF-8', async () => {
  const headers = { 'content-type': 'application/json;charset=utf8' };
  const answer = await workspace.request('POST', '/tasks', { rawBody: '{"input":"ü"}', headers });
  expect(answer.status).toBe(201);
});

test.each(['POST', 'DELETE'])('%s on a health page is refused like on any other path', async (method) => {
  for (const path of ['/healthz', '/readyz']) {
    const answer = await herald.request(method, path);
    expect(problemOf(answer)).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS');
  }
});
