import { SEEN_EVERY_MS } from '@herald/store/data/find-running';
import { ID_PATTERNS } from '@herald/core';
import { mastersOf } from '@herald/store/redis/connect-redis';
import { gzipSync } from 'node:zlib';
import type { HttpAnswer, RequestOptions } from '../../support/http-request.ts';
import { problemOf, type Problem } from '../../support/problems.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

const RECEIVERS = '/api/public/webhooks';
const URL = 'https://hooks.example.com/in';
const KIB = 1_024;

let herald: Herald;
let workspace: WorkspaceClient;
let receiver: string;
let task: string;

beforeAll(async () => {
  herald = await startHerald({ workers: 0 });
  workspace = await herald.createWorkspace();
  receiver = (await workspace.registerReceiver({ url: URL })).id;
  task = (await workspace.createTask()).id;
  await report({ type: 'start' });
});
afterAll(() => herald[Symbol.asyncDispose]());

const internal = (method: string, path: string, options: RequestOptions = {}) =>
  herald.request(method, `/api/internal${path}`, { key: herald.executor.key, ...options });
const report = (body: unknown) => internal('POST', `/tasks/${task}/transitions`, { rawBody: JSON.stringify(body) });

/** How often all servers together ran a command. */
async function countCommands(name: string): Promise<number> {
  const stats = await Promise.all(mastersOf(herald.redis).map((master) => master.info('commandstats')));
  const pattern = new RegExp(`cmdstat_${name}:calls=(\\d+)`);
  return stats.reduce((sum, text) => sum + Number(pattern.exec(text)?.[1] ?? 0), 0);
}

const NO_IDS = [
  'x',
  'wh_',
  'task_',
  `wh_${'0'.repeat(25)}`,
  `task_${'u'.repeat(26)}`,
  'dlv_1',
  '%00',
  'a%2Fb',
  '..%5c',
  '*',
  '{s0}',
  'x'.repeat(400),
  '__proto__',
];

test.each(NO_IDS)('%s is no id: not found on every path, and nothing is looked up', async (id) => {
  const startedAt = performance.now();
  const lookUps = await countCommands('hgetall');
  const requests: [string, () => Promise<HttpAnswer>][] = [
    ['receiver_not_found', () => workspace.request('GET', `${RECEIVERS}/${id}`)],
    ['receiver_not_found', () => workspace.request('PATCH', `${RECEIVERS}/${id}`, { body: {} })],
    ['receiver_not_found', () => workspace.request('DELETE', `${RECEIVERS}/${id}`)],
    ['receiver_not_found', () => workspace.request('GET', `${RECEIVERS}/${id}/deliveries`)],
    ['receiver_not_found', () => workspace.request('POST', `${RECEIVERS}/${id}/replay`, { body: {} })],
    ['delivery_not_found', () => workspace.request('GET', `/api/public/deliveries/${id}`)],
    ['delivery_not_found', () => workspace.request('POST', `/api/public/deliveries/${id}/redeliver`)],
    ['replay_not_found', () => workspace.request('GET', `/api/public/replays/${id}`)],
    ['task_not_found', () => workspace.request('GET', `/tasks/${id}`)],
    ['task_not_found', () => workspace.request('POST', `/tasks/${id}/messages`, { body: {} })],
    ['task_not_found', () => workspace.request('POST', `/tasks/${id}/callback/secret/rotate`)],
    ['task_not_found', () => internal('GET', `/tasks/${id}`)],
    ['task_not_found', () => internal('POST', `/tasks/${id}/transitions`, { rawBody: '{broken' })],
  ];
  // One after the other: those of one moment share the look-up of their key.
  for (const [code, send] of requests) {
    const answer = await send();
    expect(problemOf(answer)).toMatchObject({ status: 404, code });
    expect(answer.text.length).toBeLessThan(500);
  }
  // The key of every request, and where the data is, at which the API looks every few seconds.
  const looks = Math.ceil((performance.now() - startedAt) / SEEN_EVERY_MS);
  const found = (await countCommands('hgetall')) - lookUps;
  expect(found).toBeGreaterThanOrEqual(requests.length);
  expect(found).toBeLessThanOrEqual(requests.length + looks);
});

test('the ids that Herald gives have the form that its paths ask for', async () => {
  expect(receiver).toMatch(ID_PATTERNS.receiver);
  expect(task).toMatch(ID_PATTERNS.task);
  const replay = await workspace.request('POST', `${RECEIVERS}/${receiver}/replay`, {
    body: { since: '2030-01-01T00:00:00Z', until: '2030-01-02T00:00:00Z' },
  });
  expect((replay.body as { id: string }).id).toMatch(ID_PATTERNS.replay);
  await report({ type: 'checkpoint', checkpointId: 'c', canonical: true, material: true, outcome: { summary: 's' } });
  const { body } = await workspace.request('GET', `${RECEIVERS}/${receiver}/deliveries`);
  expect((body as { deliveries: { id: string }[] }).deliveries[0]?.id).toMatch(ID_PATTERNS.delivery);
});

test.each([
  [
    'in a registration',
    () => workspace.request('POST', RECEIVERS, { rawBody: `{"url":"${URL}","__proto__":{"a":1}}` }),
  ],
  ['in a Task’s input', () => workspace.request('POST', '/tasks', { rawBody: '{"input":{"a":{"__proto__":1}}}' })],
  [
    'in an outcome',
    () =>
      internal('POST', `/tasks/${task}/transitions`, {
        rawBody:
          '{"type":"checkpoint","checkpointId":"p","canonical":false,"material":false,"outcome":{"summary":"s","__proto__":{"x":1}}}',
      }),
  ],
])('a field named __proto__ %s is refused, not dropped', async (_name, send) => {
  const problem = problemOf(await send());
  expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
  expect(problem.errors?.[0]?.path).toMatch(/__proto__$/);
});

test('in a batch such an item, or one that is nested too deep, is its own problem and spoils no other', async () => {
  const { id } = await workspace.createTask();
  const start = `{"taskId":"${id}","type":"start"`;
  const rawBody = `{"transitions":[${start},"__proto__":{"type":"done"}},${start},"constructor":1},${start},"x":${'['.repeat(99)}${']'.repeat(99)}},${start}}]}`;
  const { results } = (await internal('POST', '/transitions', { rawBody })).body as { results: { error?: Problem }[] };
  expect(results.map(({ error }) => error?.code)).toEqual([
    ...Array.from({ length: 3 }, () => 'validation_failed'),
    undefined,
  ]);
  expect(results.map(({ error }) => error?.errors?.[0] ?? {})).toMatchObject([
    { path: '__proto__', message: '__proto__ must not be used as the name of a field' },
    { path: 'constructor', message: 'constructor is not a field here; known are type, taskId' },
    {
      path: expect.stringMatching(/^x\.0\.0/) as string,
      message: expect.stringMatching(/^x\.0\.0.* is nested deeper than 64 levels$/) as string,
    },
    {},
  ]);
});

test.each([
  ['15,000 unknown fields', Object.fromEntries(Array.from({ length: 15_000 }, (_, n) => [`f${n}`, n]))],
  ['100,000 events', { url: URL, events: Array.from({ length: 100_000 }, () => 0) }],
  ['a field with an endless name', { url: URL, ['x'.repeat(200_000)]: 1 }],
])('the refusal of %s is short', async (_name, body) => {
  const answer = await workspace.request('POST', RECEIVERS, { body });
  expect(problemOf(answer).status).toBe(422);
  expect(answer.text.length).toBeLessThan(5_000);
});

test('of very many problems the first are listed and the rest is counted', async () => {
  const approvalRequests = Array.from({ length: 50 }, () => ({ id: '', title: 1, primary: 'x' }));
  const answer = await report({
    type: 'action_required',
    actionVersion: 1,
    approvalRequests,
    outcome: { summary: 's' },
  });
  const { status, errors } = problemOf(answer);
  expect(status).toBe(422);
  expect(errors).toHaveLength(51);
  expect(errors?.at(-1)).toMatchObject({
    path: '',
    message: expect.stringMatching(/^the body has \d+ more problems$/) as string,
  });
});

test.each(['\u0000', 'a\u001b[31mred', 'a\u007f', 'a\u0085b', '\ud800'])(
  'the description %j is refused',
  async (description) => {
    for (const [method, path] of [
      ['POST', RECEIVERS],
      ['PATCH', `${RECEIVERS}/${receiver}`],
    ] as const) {
      const problem = problemOf(await workspace.request(method, path, { body: { url: URL, description } }));
      expect(problem.errors?.map(({ path }) => path)).toEqual(['description']);
    }
  },
);

test('tabs, line breaks and every script are fine in a description', async () => {
  const description = 'Täglich\t日本語 🙂\nzweite Zeile';
  const answer = await workspace.request('PATCH', `${RECEIVERS}/${receiver}`, { body: { description } });
  expect(answer.body).toMatchObject({ description });
});

test.each([
  '?limit=0',
  '?limit=101',
  '?limit=1e1',
  '?limit=0x10',
  '?limit=',
  '?limit=5&limit=6',
  '?limit=-1',
  '?limit=1.5',
  '?status=failed&status=pending',
  '?since=yesterday',
  `?cursor=${'x'.repeat(257)}`,
  '?unknown=1',
  '?__proto__=1',
  '?constructor=1',
  `?${'status=failed&'.repeat(1_100)}`,
])('the query %s is refused', async (query) => {
  const problem = problemOf(await workspace.request('GET', `${RECEIVERS}/${receiver}/deliveries${query}`));
  expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
});

describe('bodies', () => {
  const post = (path: string, key: string, body: Uint8Array, headers: Record<string, string> = {}) =>
    fetch((herald.apis[0]?.origin ?? '') + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: body as Uint8Array<ArrayBuffer>,
    });
  const padded = (bytes: number) => Buffer.from(`{"input":"${'x'.repeat(bytes - 12)}"}`);

  test('256 KiB are taken, and one byte more is not', async () => {
    expect((await post('/tasks', workspace.key, padded(256 * KIB))).status).toBe(201);
    expect((await post('/tasks', workspace.key, padded(256 * KIB + 1))).status).toBe(413);
  });

  test('a batch may have 4 MiB, and not one byte more', async () => {
    const item = (bytes: number) => Buffer.from(`{"transitions":[{"taskId":"${task}","x":"${'x'.repeat(bytes)}"}]}`);
    const overhead = item(0).length;
    const { key } = herald.executor;
    expect((await post('/api/internal/transitions', key, item(4_096 * KIB - overhead))).status).toBe(200);
    expect((await post('/api/internal/transitions', key, item(4_096 * KIB - overhead + 1))).status).toBe(413);
    expect((await post(`/api/internal/tasks/${task}/transitions`, key, padded(256 * KIB + 1))).status).toBe(413);
  });

  test.each(['gzip', 'deflate', 'br', 'gzip, gzip'])(
    'one that is compressed by %s is refused, unread',
    async (encoding) => {
      const bomb = gzipSync(Buffer.alloc(50 * KIB * KIB, 'x'));
      const answer = await post('/tasks', workspace.key, bomb, { 'content-encoding': encoding });
      expect(answer.status).toBe(415);
      expect(answer.headers.get('accept-encoding')).toBe('identity');
      expect(await answer.json()).toMatchObject({ code: 'unsupported_media_type' });
    },
  );
});

test('a body of null is no empty body', async () => {
  const answer = await workspace.request('POST', '/tasks', { rawBody: 'null' });
  expect(problemOf(answer)).toMatchObject({ status: 422, code: 'validation_failed' });
  expect((await workspace.request('POST', '/tasks', { rawBody: '\ufeff{}' })).status).toBe(201);
});
