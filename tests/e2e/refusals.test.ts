import { dumpRedis } from '../support/redis-dump.ts';
import type { RequestOptions } from '../support/http-request.ts';
import { problemOf } from '../support/problems.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import type { WorkspaceClient } from '../support/workspace-client.ts';

const RECEIVERS = '/api/public/webhooks';
const URL = 'https://hooks.example.com/in';

let herald: Herald;
let workspace: WorkspaceClient;
let foreignReceiver: string;
let receiver: string;
let task: string;

beforeAll(async () => {
  // No worker, so that nothing writes to Redis but the API; and no opened ranges.
  herald = await startHerald({ workers: 0, env: { EGRESS_ALLOW_CIDRS: undefined } });
  workspace = await herald.createWorkspace();
  receiver = (await workspace.registerReceiver({ url: URL })).id;
  task = (await workspace.createTask()).id;
  const other = await herald.createWorkspace();
  foreignReceiver = (await other.registerReceiver({ url: URL })).id;
});
afterAll(() => herald[Symbol.asyncDispose]());

/** Sends a request that must be refused, and shows that it left no trace in Redis. */
async function refuse(method: string, path: string, options: RequestOptions) {
  const before = await dumpRedis(herald.redis);
  const problem = problemOf(await herald.request(method, path, options));
  expect(await dumpRedis(herald.redis)).toEqual(before);
  return problem;
}

/** The url and its problem; each is refused at registration, at a change, and as a callback. */
test.each([
  ['http', 'http://hooks.example.com/in', 'must start with https://'],
  ['upper-case HTTP', 'HTTP://hooks.example.com/in', 'must start with https://'],
  ['another scheme', 'ftp://hooks.example.com/in', 'must start with https://'],
  ['no scheme', 'hooks.example.com/in', 'must start with https://'],
  ['no host', 'https://', 'host'],
  ['a user and password', 'https://user:secret@hooks.example.com/', 'credentials'],
  ['a user', 'https://user@hooks.example.com/', 'credentials'],
  ['an empty user', 'https://@hooks.example.com/', 'credentials'],
  ['a backslash', 'https://hooks.example.com\\@10.0.0.1/', 'backslash'],
  ['a tab', 'https://hooks.exam\tple.com/', 'white space'],
  ['more than 2,048 characters', `${URL}/${'x'.repeat(2_048)}`, '2048|2,048'],
  ['localhost', 'https://localhost/', '.'],
  ['a name under localhost', 'https://api.localhost/', '.'],
  ['loopback', 'https://127.0.0.1/', '.'],
  ['loopback in decimal', 'https://2130706433/', '.'],
  ['loopback in hex and short', 'https://0x7f.1/', '.'],
  ['loopback in octal', 'https://0177.0.0.1/', '.'],
  ['loopback in IPv6', 'https://[::1]/', '.'],
  ['loopback mapped into IPv6', 'https://[::ffff:127.0.0.1]/', '.'],
  ['loopback behind NAT64', 'https://[64:ff9b::7f00:1]/', '.'],
  ['the unspecified address', 'https://0.0.0.0/', '.'],
  ['a private address', 'https://10.1.2.3/', '.'],
  ['another private address', 'https://172.16.0.1/', '.'],
  ['yet another private address', 'https://192.168.1.1/', '.'],
  ['a private IPv6 address', 'https://[fd00::1]/', '.'],
  ['carrier-grade NAT', 'https://100.64.0.1/', '.'],
  ['cloud metadata', 'https://169.254.169.254/latest/meta-data', '.'],
  ['multicast', 'https://224.0.0.1/', '.'],
  [
    'a path that is called as another',
    'https://hooks.example.com/a/../in',
    'as it is called, https://hooks.example.com/in$',
  ],
  ['a path that is not percent-encoded', 'https://hooks.example.com/ü', 'https://hooks.example.com/%C3%BC$'],
])('a url with %s is refused wherever a url is given', async (_name, url, expected) => {
  const key = workspace.key;
  const refused = [
    await refuse('POST', RECEIVERS, { key, body: { url } }),
    await refuse('PATCH', `${RECEIVERS}/${receiver}`, { key, body: { url } }),
    await refuse('POST', '/tasks', { key, body: { callback: { url } } }),
  ];
  for (const { status, code } of refused) expect({ status, code }).toEqual({ status: 422, code: 'validation_failed' });
  expect(refused.map(({ errors }) => errors?.map(({ path }) => path))).toEqual([['url'], ['url'], ['callback.url']]);
  for (const { errors } of refused) expect(errors?.[0]?.message).toMatch(new RegExp(expected));
});

test.each<[string, object, string]>([
  ['no url', {}, 'url'],
  ['a url that is no text', { url: 7 }, 'url'],
  ['an unknown event', { url: URL, events: ['task.done', 'task.exploded'] }, 'events.1'],
  ['events that are no list', { url: URL, events: 'task.done' }, 'events'],
  ['an unknown field', { url: URL, secret: 'mine' }, 'secret'],
  ['a description that is too long', { url: URL, description: 'x'.repeat(1_025) }, 'description'],
  ['a body that is a list', [], ''],
])('a registration with %s is refused and says where', async (_name, body, path) => {
  const problem = await refuse('POST', RECEIVERS, { key: workspace.key, body });
  expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
  expect(problem.errors?.map((each) => each.path)).toEqual([path]);
  expect(problem.errors?.[0]?.message).not.toBe('');
});

test.each(['GET', 'HEAD'])('what the headers of a %s say of a body that is not there is not judged', async (method) => {
  for (const headers of [
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'text/plain' },
    { 'content-encoding': 'gzip' },
  ]) {
    const answer = await herald.request(method, `/tasks/${task}`, { key: workspace.key, headers });
    expect(answer.status).toBe(200);
  }
});

test('an unknown field is named, with the one that it is like', async () => {
  const body = { url: URL, event: ['task.done'] };
  const problem = await refuse('POST', RECEIVERS, { key: workspace.key, body });
  const message = 'event is not a field here; did you mean `events`?';
  expect(problem).toMatchObject({ detail: message, errors: [{ path: 'event', message }] });
});

test('everything wrong is said at once', async () => {
  const body = { url: 'http://x', events: ['nope'], description: 5, enabled: 'yes' };
  const problem = await refuse('POST', RECEIVERS, { key: workspace.key, body });
  expect(problem.errors?.map(({ path }) => path).sort()).toEqual(['description', 'enabled', 'events.0', 'url']);
});

test.each<[string, RequestOptions, number, string]>([
  ['a body of 2 MiB', { body: { url: URL, description: 'x'.repeat(2_097_152) } }, 413, 'payload_too_large'],
  ['broken JSON', { rawBody: '{"url": "https://hooks.example.com/",' }, 400, 'invalid_json'],
  ['an empty body', {}, 422, 'validation_failed'],
  [
    'a form',
    { rawBody: `url=${URL}`, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'unsupported_media_type',
  ],
  [
    'text',
    { rawBody: JSON.stringify({ url: URL }), headers: { 'content-type': 'text/plain' } },
    415,
    'unsupported_media_type',
  ],
  [
    'an unknown charset',
    { rawBody: '{}', headers: { 'content-type': 'application/json; charset=klingon' } },
    415,
    'unsupported_media_type',
  ],
  [
    'UTF-16',
    { rawBody: '{}', headers: { 'content-type': 'application/json; charset="utf-16"' } },
    415,
    'unsupported_media_type',
  ],
  [
    'bytes that are no UTF-8',
    { rawBody: Buffer.from([0x7b, 0x22, 0x75, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
    415,
    'unsupported_media_type',
  ],
  ['an unknown encoding', { rawBody: '{}', headers: { 'content-encoding': 'zip' } }, 415, 'unsupported_media_type'],
  [
    'a nesting without end',
    { rawBody: `{"url":${'['.repeat(10_000)}${']'.repeat(10_000)}}` },
    422,
    'validation_failed',
  ],
])('a registration with %s is refused', async (_name, options, status, code) => {
  expect(await refuse('POST', RECEIVERS, { key: workspace.key, ...options })).toMatchObject({ status, code });
});

test.each<[string, () => RequestOptions]>([
  ['no key', () => ({})],
  ['a key of the wrong form', () => ({ key: 'hrld_guess' })],
  [
    'an unknown key of the right form',
    () => ({ key: workspace.key.replace(/.$/, (end) => (end === 'a' ? 'b' : 'a')) }),
  ],
  ['another scheme', () => ({ headers: { authorization: `Basic ${workspace.key}` } })],
])('%s is 401 with a challenge, before the body is looked at', async (_name, options) => {
  for (const [method, path] of [
    ['POST', RECEIVERS],
    ['GET', RECEIVERS],
    ['POST', '/tasks'],
    ['GET', `/tasks/${task}`],
    ['POST', '/api/internal/transitions'],
    ['GET', '/api/internal/tasks?status=queued'],
  ] as const) {
    const rawBody = method === 'POST' ? { rawBody: '{broken' } : {};
    const answer = await herald.request(method, path, { ...rawBody, ...options() });
    expect(problemOf(answer)).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer\b/);
  }
});

test('a key without the scope of an operation is 403', async () => {
  const [webhooksOnly, tasksOnly] = [
    await herald.createKey(workspace.id, ['webhooks']),
    await herald.createKey(workspace.id, ['tasks']),
  ];
  const refused = [
    await refuse('POST', '/tasks', { key: webhooksOnly, body: {} }),
    await refuse('POST', RECEIVERS, { key: tasksOnly, body: { url: URL } }),
    await refuse('GET', RECEIVERS, { key: herald.executor.key }),
    await refuse('GET', `/tasks/${task}`, { key: herald.executor.key }),
    await refuse('POST', `/api/internal/tasks/${task}/transitions`, { key: workspace.key, body: { type: 'start' } }),
    await refuse('GET', '/api/internal/tasks?status=queued', { key: workspace.key }),
  ];
  for (const { status, code } of refused) expect({ status, code }).toEqual({ status: 403, code: 'insufficient_scope' });
});

test("another workspace's receiver is not found, never forbidden, exactly as one that never was", async () => {
  const key = workspace.key;
  for (const id of [foreignReceiver, 'wh_00000000000000000000000000', 'wh', 'nonsense', '%2e%2e', 'a b']) {
    const path = `${RECEIVERS}/${encodeURIComponent(id)}`;
    const refused = [
      await refuse('GET', path, { key }),
      await refuse('PATCH', path, { key, body: { enabled: false } }),
      await refuse('DELETE', path, { key }),
      await refuse('POST', `${path}/test`, { key }),
    ];
    expect(refused.map(({ status, code }) => `${status} ${code}`)).toEqual(
      Array.from(refused, () => '404 receiver_not_found'),
    );
  }
});

test("another workspace's Task is not found by any operation", async () => {
  const other = await herald.createWorkspace();
  const refused = [
    await refuse('GET', `/tasks/${task}`, { key: other.key }),
    await refuse('POST', `/tasks/${task}/messages`, { key: other.key, body: { text: 'hello' } }),
    await refuse('POST', `/tasks/${task}/cancel`, { key: other.key }),
    await refuse('POST', `/tasks/${task}/close`, { key: other.key, body: { status: 'done' } }),
    await refuse('POST', `/tasks/${task}/approvals/a/resolve`, {
      key: other.key,
      body: { decision: 'yes', actionVersion: 1 },
    }),
  ];
  expect(refused.map(({ status, code }) => `${status} ${code}`)).toEqual(
    Array.from(refused, () => '404 task_not_found'),
  );
});

test.each<[string, object]>([
  ['no type', {}],
  ['an unknown type', { type: 'finished' }],
  ['an unknown field', { type: 'start', at: 1 }],
  [
    'a checkpoint that emits and has no outcome',
    { type: 'checkpoint', checkpointId: 'c', canonical: true, material: true },
  ],
  [
    'an action without a primary request',
    {
      type: 'action_required',
      actionVersion: 1,
      outcome: { summary: 's' },
      approvalRequests: [{ id: 'a', title: 'A' }],
    },
  ],
  [
    'an action version of 0',
    {
      type: 'action_required',
      actionVersion: 0,
      outcome: { summary: 's' },
      approvalRequests: [{ id: 'a', title: 'A', primary: true }],
    },
  ],
])('a reported transition with %s is refused', async (_name, body) => {
  const path = `/api/internal/tasks/${task}/transitions`;
  expect(await refuse('POST', path, { key: herald.executor.key, body })).toMatchObject({
    status: 422,
    code: 'validation_failed',
  });
});

test('a method that a path does not know is 405 with those that it does, and an unknown path is 404', async () => {
  const key = workspace.key;
  const put = await herald.request('PUT', RECEIVERS, { key, body: {} });
  expect(problemOf(put)).toMatchObject({ status: 405, code: 'method_not_allowed' });
  expect(put.headers.allow).toBe('GET, HEAD, POST');
  expect(await refuse('GET', '/api/public/nothing', { key })).toMatchObject({ status: 404, code: 'route_not_found' });
  expect(await refuse('GET', `${RECEIVERS}/%E0%A4%A`, { key })).toMatchObject({ status: 404 });
});

test("a caller's request id comes back, and one that is no plain token is replaced", async () => {
  const [given, odd] = [
    await herald.request('GET', RECEIVERS, { headers: { 'x-request-id': 'trace-42' } }),
    await herald.request('GET', RECEIVERS, { headers: { 'x-request-id': '<script>' } }),
  ];
  expect(problemOf(given).requestId).toBe('trace-42');
  expect(problemOf(odd).requestId).toMatch(/^req_/);
});
