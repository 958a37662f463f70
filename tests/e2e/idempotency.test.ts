import { callbackIdOf } from '@herald/core';
import { waitFor } from '@herald/test-kit';
import { endLeases, isReplayed, listIdempotencyRecords, under } from '../support/idempotency-records.ts';
import { createDeliveryClient } from '../support/delivery-client.ts';
import { shardKeys } from '../support/delivery-state.ts';
import { bodyOf, type HttpAnswer } from '../support/http-request.ts';
import { problemOf } from '../support/problems.ts';
import { dumpRedis, toText } from '../support/redis-dump.ts';
import { actionRequired, checkpoint, START } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import type { CreatedTask, RegisteredReceiver, WorkspaceClient } from '../support/workspace-client.ts';

jest.setTimeout(60_000);

const RECEIVERS = '/api/public/webhooks';
const URL = 'https://hooks.example.com/in';

let herald: Herald;
/** The same workspace, by way of one API process and of another. */
let workspace: WorkspaceClient;
let request: WorkspaceClient['request'];
let elsewhere: WorkspaceClient['request'];

beforeAll(async () => {
  herald = await startHerald({ apis: 2, env: { RETRY_SCHEDULE: '' } });
});
beforeEach(async () => {
  const [one, other] = herald.apis;
  if (!one || !other) throw new Error('two APIs were started');
  workspace = await herald.createWorkspace(one);
  request = workspace.request;
  elsewhere = (method, path, options) => herald.request(method, path, { key: workspace.key, ...options, via: other });
});
afterAll(() => herald[Symbol.asyncDispose]());

async function redisText(): Promise<string> {
  return toText(await dumpRedis(herald.redis));
}

/** Look-ups that lead from a Task to this test's workspace. */
async function listTasks(): Promise<string[]> {
  return [...(await dumpRedis(herald.redis))].flatMap(([key, value]) => (value === workspace.id ? [key] : []));
}

test('a registration that is repeated, at another process too, is answered as the first time but without its secret', async () => {
  const options = under('first-receiver', { body: { url: URL, events: ['task.done'] } });
  const first = await request('POST', RECEIVERS, options);
  const { secret, ...receiver } = bodyOf(first, 201) as RegisteredReceiver;
  expect(secret).toMatch(/^whsec_/);
  expect(isReplayed(first)).toBe(false);

  for (const repeat of [request, elsewhere]) {
    const again = await repeat('POST', RECEIVERS, options);
    expect(bodyOf(again, 201)).toEqual(receiver);
    expect(isReplayed(again)).toBe(true);
    expect(again.headers.location).toBe(first.headers.location);
    expect(again.headers['cache-control']).toBe('no-store');
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  }
  expect((await workspace.listReceivers()).webhooks).toHaveLength(1);
  expect(await redisText()).not.toContain(secret.slice('whsec_'.length));
});

test("a Task's creation is repeated without the secret of its callback", async () => {
  const options = under('first-task', { body: { callback: { url: URL } } });
  const { callback: { secret, ...callback } = { secret: '' }, ...task } = bodyOf(
    await request('POST', '/tasks', options),
    201,
  ) as CreatedTask;
  const again = await elsewhere('POST', '/tasks', options);
  expect(secret).toMatch(/^whsec_/);
  expect(bodyOf(again, 201)).toEqual({ ...task, callback });
  expect(isReplayed(again)).toBe(true);
  expect(await redisText()).not.toContain(secret.slice('whsec_'.length));
});

test('a rotation that is repeated rotates once, and does not show the secret again', async () => {
  const { id } = await workspace.registerReceiver({ url: URL });
  const task = await workspace.createTask({ callback: { url: URL } });
  for (const [path, endpointId] of [
    [`${RECEIVERS}/${id}/secret/rotate`, id],
    [`/tasks/${task.id}/callback/secret/rotate`, callbackIdOf(task.id)],
  ] as const) {
    const { secret, ...rest } = bodyOf(await request('POST', path, under('rotate')), 200) as { secret: string };
    const encrypted = await herald.redis.hget(shardKeys().endpoint(endpointId), 'sec');
    expect(bodyOf(await elsewhere('POST', path, under('rotate')), 200)).toEqual(rest);
    expect(await herald.redis.hget(shardKeys().endpoint(endpointId), 'sec')).toBe(encrypted);
    expect(await redisText()).not.toContain(secret.slice('whsec_'.length));
  }
});

test('every POST takes a key: the second time it changes nothing and answers the same', async () => {
  const [failing, target] = [await herald.startReceiver([500]), await herald.startReceiver()];
  const receiver = await workspace.registerReceiver({ url: failing.url });
  const { id: testId } = await workspace.registerReceiver({ url: target.url, events: ['webhook.test'] });
  const deliveries = createDeliveryClient(workspace);
  const failed = (await deliveries.emit()).to(receiver);
  await deliveries.waitForStatus(failed, 'failed');
  const [task, closed, reported] = [
    await workspace.createTask(),
    await workspace.createTask(),
    await workspace.createTask(),
  ];
  await herald.executor.report(task.id, START, actionRequired(1));
  const executor = herald.executor.key;
  const operations: [path: string, body?: object, key?: string][] = [
    [`/tasks/${task.id}/messages`, { text: 'more context' }],
    [`/tasks/${task.id}/approvals/pay/resolve`, { decision: 'yes', actionVersion: 1 }],
    [`/tasks/${task.id}/cancel`],
    [`/tasks/${closed.id}/close`, { status: 'done' }],
    [`${RECEIVERS}/${testId}/test`],
    [`${RECEIVERS}/${receiver.id}/replay`, { since: '2026-01-01T00:00:00Z' }],
    [`/api/public/deliveries/${failed}/redeliver`],
    [`/api/internal/tasks/${reported.id}/transitions`, START, executor],
    ['/api/internal/transitions', { transitions: [{ taskId: reported.id, ...checkpoint('c1') }] }, executor],
  ];
  for (const [path, body, key = workspace.key] of operations) {
    const options = under('same', { key, ...(body && { body }) });
    const [first, again] = [await request('POST', path, options), await elsewhere('POST', path, options)];
    expect({ path, status: first.status, isReplayed: isReplayed(first) }).toEqual({
      path,
      isReplayed: false,
      status: /redeliver|replay/.test(path) ? 202 : 200,
    });
    expect({ path, ...again }).toMatchObject({ path, status: first.status, body: first.body });
    expect({ path, isReplayed: isReplayed(again) }).toEqual({ path, isReplayed: true });
  }
  expect(target.requests).toHaveLength(1);
  const { messages } = (await herald.executor.readTask(task.id)) as { messages: unknown[] };
  expect(messages).toHaveLength(1);
});

test('the same key with another body is a conflict and changes nothing; another order of keys is no other body', async () => {
  await request('POST', RECEIVERS, under('k', { body: { url: URL, description: 'one' } }));
  const before = [await workspace.listReceivers(), await listIdempotencyRecords(herald.redis)];
  const other = await elsewhere('POST', RECEIVERS, under('k', { body: { url: URL, description: 'two' } }));
  expect(problemOf(other)).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  expect(isReplayed(other)).toBe(false);
  const same = await elsewhere('POST', RECEIVERS, under('k', { rawBody: `{ "description": "one", "url": "${URL}" }` }));
  expect(isReplayed(same)).toBe(true);
  expect([await workspace.listReceivers(), await listIdempotencyRecords(herald.redis)]).toEqual(before);
});

test('a refused request leaves its key free, also for the corrected body', async () => {
  const records = await listIdempotencyRecords(herald.redis);
  for (const body of [{ url: 'http://x' }, { url: URL, surprise: 1 }]) {
    const refused = await request('POST', RECEIVERS, under('k', { body }));
    expect(problemOf(refused)).toMatchObject({ status: 422, code: 'validation_failed' });
  }
  expect((await request('POST', '/tasks/task_unknown/cancel', under('k'))).status).toBe(404);
  expect(await listIdempotencyRecords(herald.redis)).toEqual(records);
  const corrected = await request('POST', RECEIVERS, under('k', { body: { url: URL } }));
  expect(bodyOf(corrected, 201)).toHaveProperty('secret');
});

test.each([['order 42'], ['k'.repeat(256)], ['"open'], ['']])(
  'the key %p is refused, with what to change',
  async (key) => {
    const problem = problemOf(await request('POST', '/tasks', under(key, { body: {} })));
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ path: 'Idempotency-Key' }] });
    expect(await listTasks()).toEqual([]);
  },
);

test('a key in quotes, as the IETF draft writes it, is the same key', async () => {
  const first = await request('POST', '/tasks', under('"quoted"', { body: {} }));
  const again = await request('POST', '/tasks', under('quoted', { body: {} }));
  expect([isReplayed(first), isReplayed(again)]).toEqual([false, true]);
});

test('a key is independent of the same key of another API key, and at another path', async () => {
  const [one, other] = [await workspace.createTask(), await workspace.createTask()];
  const colleague = await herald.createKey(workspace.id, ['tasks']);
  const answers = [
    await request('POST', '/tasks', under('k', { body: {} })),
    await request('POST', '/tasks', under('k', { body: { input: 'another body' }, key: colleague })),
    await request('POST', `/tasks/${one.id}/messages`, under('k', { body: { text: 'a' } })),
    await request('POST', `/tasks/${other.id}/messages`, under('k', { body: { text: 'b' } })),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 200]);
  expect(answers.map(isReplayed)).toEqual([false, false, false, false]);
});

test('of 40 duplicates that race over two processes one creates a Task, and every other is told so or to wait', async () => {
  const options = under('race', { body: { callback: { url: URL } } });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => (index % 2 ? request : elsewhere)('POST', '/tasks', options)),
  );
  const created = answers.filter((answer) => answer.status === 201);
  const told = answers.filter((answer) => answer.status !== 201);
  expect(new Set(created.map(({ body }) => (body as CreatedTask).id)).size).toBe(1);
  expect(created.filter(({ body }) => (body as CreatedTask).callback?.secret !== undefined)).toHaveLength(1);
  expect(created.filter((answer) => !isReplayed(answer))).toHaveLength(1);
  for (const answer of told) expectInProgress(answer);
  const id = (created[0]?.body as CreatedTask | undefined)?.id;
  expect(await listTasks()).toEqual([`herald:task:${id}`]);
});

test('a duplicate of a request that runs is told to come back; the answer is kept, and nothing is sent twice', async () => {
  const receiver = await herald.startReceiver(() => held.promise);
  const held = Promise.withResolvers<number>();
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const path = `${RECEIVERS}/${id}/test`;
  const first = request('POST', path, under('slow'));
  await receiver.next();
  expectInProgress(await elsewhere('POST', path, under('slow')));
  expectInProgress(await request('POST', path, under('slow')));
  held.resolve(204);
  expect(await first).toMatchObject({ status: 200, body: { delivered: true, receiverStatus: 204 } });
  await endLeases(herald.redis); // an answer is no lease
  const again = await elsewhere('POST', path, under('slow'));
  expect(bodyOf(again, 200)).toEqual((await first).body);
  expect(isReplayed(again)).toBe(true);
  expect(receiver.requests).toHaveLength(1);
});

test('a caller that hangs up finds the answer when it asks again', async () => {
  const receiver = await herald.startReceiver(() => held.promise);
  const held = Promise.withResolvers<number>();
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const path = `${RECEIVERS}/${id}/test`;
  const abandon = new AbortController();
  const abandoned = fetch(`${herald.apis[0]?.origin ?? ''}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.key}`, 'idempotency-key': 'hang-up' },
    signal: abandon.signal,
  });
  await receiver.next();
  abandon.abort();
  await expect(abandoned).rejects.toThrow(/abort/);
  held.resolve(200);
  const again = await waitFor('the answer', () => elsewhere('POST', path, under('hang-up')), {
    until: ({ status }) => status !== 409,
  });
  expect(again.body).toMatchObject({ delivered: true, receiverStatus: 200 });
  expect(isReplayed(again)).toBe(true);
  expect(receiver.requests).toHaveLength(1);
});

function expectInProgress(answer: HttpAnswer): void {
  expect(problemOf(answer)).toMatchObject({ status: 409, code: 'request_in_progress' });
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
}
