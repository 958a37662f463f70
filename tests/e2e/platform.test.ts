import { auditTrailOf } from '../support/audit-trail-of.ts';
import { runCli } from '../support/run-cli.ts';
import { bodyOf } from '../support/http-request.ts';
import { problemOf } from '../support/problems.ts';
import { actionRequired, DONE, START } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { createWorkspaceClient } from '../support/workspace-client.ts';

let herald: Herald;
/** Of each test, which has a budget of its own so. */
let key: string;
beforeAll(async () => {
  herald = await startHerald({ env: { RATE_LIMIT: '50' } });
});
beforeEach(async () => {
  key = await herald.createKey(undefined, ['platform']);
});
afterAll(() => herald[Symbol.asyncDispose]());

const WORKSPACES = '/api/platform/workspaces';
const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  herald.request(method, `${WORKSPACES}/${path}`, { key, headers, ...(body && { body }) });

interface MadeKey {
  id: string;
  key: string;
}
const makeKey = async (workspace: string, body: object = {}) =>
  bodyOf(await ask('POST', `${workspace}/keys`, body), 201) as MadeKey;

test('a customer signs up, gets a link and leaves, and nobody opens a shell', async () => {
  // Made as operators make it.
  const own = await runCli(['keys', 'create', '--platform', '--name', 'sign-up'], herald.topology.env);
  expect(own).toMatchObject({ code: 0 });
  key = own.stdout;
  const made = await makeKey('ws_signup', { name: 'billing' });
  const customer = createWorkspaceClient('ws_signup', made.key, (...args) => herald.request(...args));
  const receiver = await herald.startReceiver();
  await customer.registerReceiver({ url: receiver.url });
  expect(await customer.listReceivers()).toMatchObject({ webhooks: [{ url: receiver.url }] });

  const link = bodyOf(await ask('POST', 'ws_signup/portal-links', { readOnly: true }), 201) as {
    token: string;
    id: string;
  };
  const byLink = () => herald.request('GET', '/api/public/access', { key: link.token });
  expect(bodyOf(await byLink(), 200)).toMatchObject({ workspaceId: 'ws_signup', readOnly: true });
  expect(bodyOf(await ask('GET', 'ws_signup/portal-links'), 200)).toMatchObject({ portalLinks: [{ id: link.id }] });

  const { keys } = bodyOf(await ask('GET', 'ws_signup/keys'), 200) as { keys: object[] };
  expect(keys).toMatchObject([{ id: made.id, name: 'billing', scopes: ['webhooks', 'tasks'], expiresAt: null }]);
  expect(JSON.stringify(keys)).not.toContain('hrld_');

  expect(bodyOf(await ask('DELETE', `ws_signup/portal-links/${link.id}`), 200)).toEqual({ deleted: true });
  expect((await byLink()).status).toBe(401);
  expect(bodyOf(await ask('DELETE', `ws_signup/keys/${made.id}`), 200)).toEqual({ deleted: true });
  expect((await customer.request('GET', '/api/public/webhooks')).status).toBe(401);
  expect(bodyOf(await ask('GET', 'ws_signup/keys'), 200)).toEqual({ keys: [] });
});

test('a key that was made twice under one Idempotency-Key is one key, and is shown once', async () => {
  const make = () => ask('POST', 'ws_twice/keys', { scopes: ['tasks'] }, { 'idempotency-key': 'sign-up-7' });
  const [first, second] = [bodyOf(await make(), 201) as MadeKey, bodyOf(await make(), 201) as MadeKey];
  expect(second).toEqual({ ...first, key: undefined });
  expect((bodyOf(await ask('GET', 'ws_twice/keys'), 200) as { keys: object[] }).keys).toHaveLength(1);
});

test('a key is revoked only as a key of its own workspace, and never one of an executor or a platform', async () => {
  const made = await makeKey('ws_owner');
  const list = JSON.parse((await runCli(['keys', 'list', '--json'], herald.topology.env)).stdout) as {
    id: string;
    scopes: string[];
  }[];
  const others = list.filter(({ scopes }) => scopes.includes('execute') || scopes.includes('platform'));
  expect(others.length).toBeGreaterThanOrEqual(2);
  for (const id of [made.id, ...others.map((each) => each.id)]) {
    const answer = await ask('DELETE', `ws_other/keys/${id}`);
    expect(problemOf(answer)).toMatchObject({ status: 404, code: 'key_not_found' });
  }
  expect((bodyOf(await ask('GET', 'ws_owner/keys'), 200) as { keys: object[] }).keys).toHaveLength(1);
});

test('a workspace has at most a hundred keys, also when more are asked for at once, and the revoked and expired count no more', async () => {
  const first = await makeKey('ws_many');
  // As the command line makes them, which has no limit.
  await Promise.all(Array.from({ length: 94 }, () => herald.createKey('ws_many', ['tasks'])));
  const answers = await Promise.all(Array.from({ length: 25 }, () => ask('POST', 'ws_many/keys', {})));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(20);
  for (const each of refused) expect(problemOf(each)).toMatchObject({ status: 409, code: 'key_limit_reached' });
  expect((bodyOf(await ask('GET', 'ws_many/keys'), 200) as { keys: object[] }).keys).toHaveLength(100);
  bodyOf(await ask('DELETE', `ws_many/keys/${first.id}`), 200);
  await makeKey('ws_many', { expiresInSeconds: 60 });
});

test('a workspace names as execution workspace itself and those that the platform has bound to it, and no other', async () => {
  const [own, other] = [await herald.createWorkspace(), await herald.createWorkspace()];
  const create = (executionWorkspaceId: string) => own.request('POST', '/tasks', { body: { executionWorkspaceId } });
  expect(problemOf(await create(other.id))).toMatchObject({
    status: 403,
    code: 'workspace_not_bound',
    detail: `Tasks of this workspace do not run in ${other.id}: the platform has not bound the two; leave executionWorkspaceId out, or ask the platform`,
  });
  expect((await create(own.id)).status).toBe(201);

  const bindings = `${own.id}/execution-workspaces`;
  const bound = bodyOf(await ask('POST', bindings, { executionWorkspaceId: other.id }), 200);
  expect(bodyOf(await ask('POST', bindings, { executionWorkspaceId: other.id }), 200)).toEqual(bound);
  expect(bodyOf(await ask('GET', bindings), 200)).toEqual({ executionWorkspaces: [bound] });
  const { id } = bodyOf(await create(other.id), 201) as { id: string };
  expect(await herald.executor.readTask(id)).toMatchObject({ workspaceId: own.id, executionWorkspaceId: other.id });
  // One way only.
  const back = await other.request('POST', '/tasks', { body: { executionWorkspaceId: own.id } });
  expect(problemOf(back).code).toBe('workspace_not_bound');

  expect(bodyOf(await ask('DELETE', `${bindings}/${other.id}`), 200)).toEqual({ deleted: true });
  expect(problemOf(await ask('DELETE', `${bindings}/${other.id}`)).code).toBe('workspace_not_found');
  expect(problemOf(await create(other.id)).code).toBe('workspace_not_bound');
});

test('what the platform says of where a Task runs is believed, and the Task is its workspace’s', async () => {
  const own = await herald.createWorkspace();
  const body = { executionWorkspaceId: 'ws_bound-to-this-task', callback: { url: 'https://hooks.example.com/' } };
  const task = bodyOf(await ask('POST', `${own.id}/tasks`, body), 201) as { id: string; callback: { secret: string } };
  expect(task.callback.secret).toMatch(/^whsec_/);
  expect(await own.readTask(task.id)).toMatchObject({
    workspaceId: own.id,
    executionWorkspaceId: 'ws_bound-to-this-task',
  });
});

test('a workspace is bound to at most a hundred', async () => {
  const [workspace, bindings] = ['ws_binder', 'ws_binder/execution-workspaces'];
  for (let count = 0; count < 100; count += 25) {
    const some = Array.from({ length: 25 }, (_, index) => ({ executionWorkspaceId: `${workspace}-${count + index}` }));
    // Each key has a budget of its own.
    const another = await herald.createKey(undefined, ['platform']);
    for (const body of some)
      bodyOf(await herald.request('POST', `${WORKSPACES}/${bindings}`, { key: another, body }), 200);
  }
  const refused = await ask('POST', bindings, { executionWorkspaceId: 'ws_one-more' });
  expect(problemOf(refused)).toMatchObject({ status: 409, code: 'binding_limit_reached' });
  await herald.askAsPlatform('POST', bindings, 200, { executionWorkspaceId: `${workspace}-7` });
});

test('a platform key has a budget of requests of its own', async () => {
  const other = await herald.createKey(undefined, ['platform']);
  const answers = await Promise.all(
    Array.from({ length: 120 }, () => herald.request('GET', `${WORKSPACES}/ws_x/keys`, { key: other })),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(problemOf(refused[0] as never)).toMatchObject({
    code: 'rate_limited',
    detail: 'this platform key may make 50 requests per second; wait a second, then go on more slowly',
  });
  expect((await ask('GET', 'ws_x/keys')).status).toBe(200);
  const workspace = await herald.createWorkspace();
  expect((await workspace.request('GET', '/api/public/webhooks')).status).toBe(200);
});

test('an erased workspace has no way in or out, and nothing of what its Tasks held', async () => {
  const { key: text } = await makeKey('ws_leaves');
  const customer = createWorkspaceClient('ws_leaves', text, (...args) => herald.request(...args));
  const receiver = await herald.startReceiver();
  await customer.registerReceiver({ url: receiver.url });
  const link = bodyOf(await ask('POST', 'ws_leaves/portal-links', {}), 201) as { token: string };
  await herald.askAsPlatform('POST', 'ws_leaves/execution-workspaces', 200, { executionWorkspaceId: 'ws_runs' });
  const other = await herald.createWorkspace();
  const kept = await other.createTask({ input: 'canary of another' });
  const tasks = [];
  for (let count = 0; count < 25; count++) tasks.push((await customer.createTask({ input: `canary ${count}` })).id);
  const [done = '', waiting = ''] = tasks;
  await herald.executor.report(done, START, { ...DONE, result: 'canary result' });
  await herald.executor.report(waiting, START, actionRequired(1, { outcome: { summary: 'canary outcome' } }));
  await customer.request('POST', `/tasks/${waiting}/messages`, { body: { text: 'canary message' } });
  await herald.settled();

  expect(bodyOf(await ask('DELETE', 'ws_leaves'), 200)).toEqual({
    workspaceId: 'ws_leaves',
    erased: true,
    tasks: tasks.length,
  });
  expect(bodyOf(await ask('DELETE', 'ws_leaves'), 200)).toMatchObject({ erased: true, tasks: 0 });
  for (const each of [text, link.token])
    expect((await herald.request('GET', '/api/public/webhooks', { key: each })).status).toBe(401);
  expect(bodyOf(await ask('GET', 'ws_leaves/execution-workspaces'), 200)).toEqual({ executionWorkspaces: [] });
  for (const id of tasks) {
    const task = await herald.executor.readTask(id);
    expect(task).toMatchObject({ input: null, messages: [], result: null, outcome: null });
    expect(task.status).toBe(id === done ? 'done' : 'canceled');
  }
  const { key: again } = await makeKey('ws_leaves');
  const after = createWorkspaceClient('ws_leaves', again, (...args) => herald.request(...args));
  expect((await after.listReceivers()).webhooks).toEqual([]);
  expect(JSON.stringify(bodyOf(await after.request('GET', '/tasks'), 200))).not.toContain('canary');
  expect(await other.readTask(kept.id)).toMatchObject({ status: 'queued', input: 'canary of another' });
});

test('requests to erase a workspace do so together, while its customer and its executor end what they have, and the trail has each', async () => {
  const { key: text } = await makeKey('ws_hurries');
  const customer = createWorkspaceClient('ws_hurries', text, (...args) => herald.request(...args));
  const receiver = await herald.startReceiver();
  const receiverIds = [];
  for (let count = 0; count < 10; count++)
    receiverIds.push((await customer.registerReceiver({ url: receiver.url })).id);
  const tasks = [];
  for (let count = 0; count < 30; count++) tasks.push((await customer.createTask({ input: 'canary' })).id);
  for (const id of tasks) await herald.executor.report(id, START);

  const [answers] = await Promise.all([
    Promise.all(Array.from({ length: 3 }, () => ask('DELETE', 'ws_hurries'))),
    Promise.allSettled(receiverIds.map((id) => customer.request('DELETE', `/api/public/webhooks/${id}`))),
    Promise.allSettled(tasks.map((id) => herald.executor.report(id, DONE))),
  ]);
  for (const answer of answers) expect(bodyOf(answer, 200)).toMatchObject({ erased: true });
  const { entries } = await auditTrailOf(herald).list({ workspaceId: 'ws_hurries', limit: 100 });
  expect(entries.filter(({ action }) => action === 'eraseWorkspace')).toHaveLength(3);
  for (const id of tasks) expect(await herald.executor.readTask(id)).toMatchObject({ input: null, result: null });
});

test('a platform key does nothing else', async () => {
  const { id } = await (await herald.createWorkspace()).createTask();
  const asked = [
    ['GET', '/api/public/webhooks'],
    ['GET', '/api/public/access'],
    ['GET', `/tasks/${id}`],
    ['GET', `/api/internal/tasks/${id}`],
  ] as const;
  for (const [method, path] of asked) {
    const answer = await herald.request(method, path, { key });
    expect(problemOf(answer)).toMatchObject({ status: 403, code: 'insufficient_scope' });
  }
});
