import { endLeases, isReplayed, under } from '../support/idempotency-records.ts';
import { bodyOf, type HttpAnswer, type RequestOptions } from '../support/http-request.ts';
import { problemOf } from '../support/problems.ts';
import { dumpRedis } from '../support/redis-dump.ts';
import { startRedisGate } from '../support/redis-gate.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import type { CreatedTask, RegisteredReceiver, WorkspaceClient } from '../support/workspace-client.ts';

jest.setTimeout(60_000);

const RECEIVERS = '/api/public/webhooks';
const URL = 'https://hooks.example.com/in';
/** Begins the answer in the command that keeps it, and is in no other command. */
const KEEPING_THE_ANSWER = '{"status":20';

type Made = { readonly id: string };

let herald: Herald;
let workspace: WorkspaceClient;

beforeAll(async () => {
  herald = await startHerald({ workers: 0 });
});
beforeEach(async () => {
  await endLeases(herald.redis);
  workspace = await herald.createWorkspace();
});
afterAll(() => herald[Symbol.asyncDispose]());

/** Posts through an API that is killed when it sends the command with these bytes, which Redis never sees. */
async function postAndCrash(stopAt: string, path: string, options: RequestOptions): Promise<void> {
  await using gate = await startRedisGate({ port: herald.server.port, stopAt });
  const victim = await herald.startApi({ REDIS_URL: gate.url });
  const killed = gate.stopped.then(() => victim.kill());
  const posted = herald.request('POST', path, { key: workspace.key, ...options, via: victim });
  await expect(posted).rejects.toThrow('fetch failed'); // nobody is told
  await killed;
}

/** Repeats what a crash interrupted: refused while the lease lasts, run when it has ended. */
async function repeat(path: string, given: RequestOptions): Promise<HttpAnswer> {
  const options = { key: workspace.key, ...given };
  const early = await herald.request('POST', path, options);
  expect(problemOf(early)).toMatchObject({ status: 409, code: 'request_in_progress' });
  expect(early.headers['retry-after']).toBeDefined();
  await endLeases(herald.redis);
  return await herald.request('POST', path, options);
}

test('a registration that crashed before its answer was kept is found by the repeated one, and is not made again', async () => {
  const options = under('k', { body: { url: URL } });
  await postAndCrash(KEEPING_THE_ANSWER, RECEIVERS, options);
  const [made] = (await workspace.listReceivers()).webhooks;
  const found = await repeat(RECEIVERS, options);
  expect(bodyOf(found, 201)).toEqual(made); // without its secret, which nobody has seen: rotate
  expect(isReplayed(found)).toBe(true);
  expect(found.headers.location).toBe(`${RECEIVERS}/${made?.id ?? ''}`);
  expect(await workspace.request('POST', RECEIVERS, options)).toMatchObject({ status: 201, body: made });
  expect((await workspace.listReceivers()).webhooks).toEqual([made]);
});

test('a registration that crashed before it was made is made by the repeated one, with its secret', async () => {
  const options = under('k', { body: { url: URL, description: 'never-written' } });
  await postAndCrash('never-written', RECEIVERS, options);
  expect((await workspace.listReceivers()).webhooks).toEqual([]);
  const made = await repeat(RECEIVERS, options);
  expect((bodyOf(made, 201) as RegisteredReceiver).secret).toMatch(/^whsec_/);
  expect(isReplayed(made)).toBe(false);
  expect((await workspace.listReceivers()).webhooks).toHaveLength(1);
});

test('a Task that crashed before its answer was kept is found by the repeated creation, with the callback it has', async () => {
  const before = await countTasks();
  const options = under('k', { body: { input: 1, callback: { url: URL } } });
  await postAndCrash(KEEPING_THE_ANSWER, '/tasks', options);
  const found = await repeat('/tasks', options);
  const task = bodyOf(found, 201) as CreatedTask;
  expect(isReplayed(found)).toBe(true);
  expect(task.callback).toMatchObject({ url: URL, events: expect.any(Array) as string[], enabled: true });
  expect(task.callback).not.toHaveProperty('secret');
  expect(await workspace.readTask(task.id)).toMatchObject(task);
  expect((await countTasks()) - before).toBe(1);
});

test('a Task that crashed between its look-up and itself is created by the repeated creation, under the same id', async () => {
  const before = await countTasks();
  const options = under('k', { body: { input: 'never-written', callback: { url: URL } } });
  await postAndCrash('never-written', '/tasks', options);
  const made = await repeat('/tasks', options);
  const task = bodyOf(made, 201) as CreatedTask;
  expect(task.callback?.secret).toMatch(/^whsec_/);
  expect(await herald.redis.keys('herald:task:*')).toContain(`herald:task:${task.id}`);
  expect((await countTasks()) - before).toBe(1);
});

test('a message and a replay that crashed before their answers were kept are there once', async () => {
  const { id } = await workspace.createTask();
  const receiver = await workspace.registerReceiver({ url: URL });
  const message = under('k', { body: { text: 'once' } });
  await postAndCrash(KEEPING_THE_ANSWER, `/tasks/${id}/messages`, message);
  expect(bodyOf(await repeat(`/tasks/${id}/messages`, message), 200)).toMatchObject({ text: 'once' });
  const { messages } = (await herald.executor.readTask(id)) as { messages: unknown[] };
  expect(messages).toHaveLength(1);

  const replay = under('k', { body: { since: '2026-01-01T00:00:00Z' } });
  await postAndCrash(KEEPING_THE_ANSWER, `${RECEIVERS}/${receiver.id}/replay`, replay);
  await repeat(`${RECEIVERS}/${receiver.id}/replay`, replay);
  expect([...(await dumpRedis(herald.redis)).keys()].filter((key) => key.includes(':r:rpl_'))).toHaveLength(1);
});

test('a rotation that crashed before its answer was kept rotates again, and shows the secret that is in force', async () => {
  const { id, secret } = await workspace.registerReceiver({ url: URL });
  const path = `${RECEIVERS}/${id}/secret/rotate`;
  await postAndCrash(KEEPING_THE_ANSWER, path, under('k'));
  const rotated = await repeat(path, under('k'));
  const shown = (bodyOf(rotated, 200) as { secret: string }).secret;
  expect(shown).toMatch(/^whsec_/);
  expect(shown).not.toBe(secret);
});

test('a link and a key that crashed before their answers were kept are made again, and the first can be ended', async () => {
  const options = under('k', { key: await herald.createKey(undefined, ['platform']), body: {} });
  for (const [kind, secret] of [
    ['portal-links', 'token'],
    ['keys', 'key'],
  ] as const) {
    const of = `${workspace.id}/${kind}`;
    const list = async () => Object.values((await herald.askAsPlatform('GET', of, 200)) as object).flat() as Made[];
    const before = await list();
    await postAndCrash(KEEPING_THE_ANSWER, `/api/platform/workspaces/${of}`, options);
    const [unseen, ...others] = (await list()).filter(({ id }) => before.every((each) => each.id !== id));
    expect(others).toEqual([]);
    const made = bodyOf(await repeat(`/api/platform/workspaces/${of}`, options), 201) as Made;
    expect(made).toMatchObject({ [secret]: expect.any(String) as string });
    expect(made.id).not.toBe(unseen?.id);
    await herald.askAsPlatform('DELETE', `${of}/${unseen?.id ?? ''}`, 200);
    expect((await list()).map(({ id }) => id).sort()).toEqual([...before.map(({ id }) => id), made.id].sort());
  }
});

test('after a crash another body is a conflict, since the first may have had its effect', async () => {
  await postAndCrash(KEEPING_THE_ANSWER, '/tasks', under('k', { body: { input: 1 } }));
  await endLeases(herald.redis);
  const other = await workspace.request('POST', '/tasks', under('k', { body: { input: 2 } }));
  expect(problemOf(other)).toMatchObject({ status: 409, code: 'idempotency_conflict' });
});

test('an answer that cannot be kept, since Redis went away, is given all the same, and what it tells of is found again', async () => {
  await using gate = await startRedisGate({ port: herald.server.port, stopAt: KEEPING_THE_ANSWER });
  const cut = await herald.startApi({ REDIS_URL: gate.url });
  const options = under('k', { body: { url: URL } });
  const answer = await herald.request('POST', RECEIVERS, { key: workspace.key, ...options, via: cut });
  const { secret, ...receiver } = bodyOf(answer, 201) as RegisteredReceiver;
  expect(secret).toMatch(/^whsec_/);
  await herald.waitForLog('idempotency.answer_not_kept', cut);
  expect(bodyOf(await repeat(RECEIVERS, options), 201)).toEqual(receiver);
  await cut.kill();
});

test('while Redis is away a request with a key is told so, and nothing runs', async () => {
  await using gate = await startRedisGate({ port: herald.server.port, stopAt: 'herald:claim:' });
  const cut = await herald.startApi({ REDIS_URL: gate.url });
  const answer = await herald.request('POST', RECEIVERS, {
    key: workspace.key,
    via: cut,
    ...under('k', { body: { url: URL } }),
  });
  expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
  expect((await workspace.listReceivers()).webhooks).toEqual([]);
  await cut.kill();
});

async function countTasks(): Promise<number> {
  return [...(await dumpRedis(herald.redis)).keys()].filter((key) => /:t:task_[a-z0-9]+$/.test(key)).length;
}
