import { callbackIdOf, originOf, type Task } from '@herald/core';
import { createCallbackStore, type CallbackStore } from '@herald/store/endpoints/callback-store';
import { buildReceiver, buildTask, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

let stores: Stores;
let callbacks: CallbackStore;
beforeAll(async () => {
  stores = await startStores(3);
  callbacks = createCallbackStore({ redis: stores.redis, keyspace: stores.keyspace });
});
afterAll(() => stores[Symbol.asyncDispose]());

const OLD = 'https://hooks.example.com/in';
const NEW = 'https://other.example.com/in';

async function createTask(more: Partial<Task> = {}) {
  const workspaceId = newWorkspaceId();
  const bare = buildTask(workspaceId, more);
  const callback = buildReceiver(workspaceId, { id: callbackIdOf(bare.id), url: OLD });
  const task: Task = { ...bare, callback };
  await stores.tasks.create(task, { endpoint: callback, encryptedSecret: 'encrypted' });
  return { workspaceId, task, id: callback.id, keys: stores.keyspace.of(workspaceId) };
}

test('a change of url and filter holds for the callback and for its Task, by which transitions are routed', async () => {
  const { workspaceId, task, id } = await createTask();
  expect(await callbacks.patch(workspaceId, id, { url: NEW, events: ['task.done'] }, 5)).toBe(true);
  const changed = { url: NEW, events: ['task.done'] };
  expect(await callbacks.find(workspaceId, id)).toMatchObject({
    ...changed,
    group: originOf(workspaceId, NEW),
  });
  expect((await stores.tasks.find(workspaceId, task.id))?.callback).toEqual({ id, ...changed });
  await callbacks.patch(workspaceId, id, { events: [] }, 6);
  expect((await stores.tasks.find(workspaceId, task.id))?.callback).toEqual({ id, url: NEW, events: [] });
});

test('so does a change of order, with its timeout', async () => {
  const { workspaceId, task, id } = await createTask();
  const read = async () => (await stores.tasks.find(workspaceId, task.id))?.callback;
  const patch = (change: object, now: number) => callbacks.patch(workspaceId, id, change, now);
  await patch({ ordering: 'task' }, 5);
  expect(await read()).toMatchObject({ ordering: 'task', orderingTimeoutMs: 86_400_000 });
  await patch({ orderingTimeout: 60_000 }, 6);
  expect(await read()).toMatchObject({ ordering: 'task', orderingTimeoutMs: 60_000 });
  await patch({ ordering: 'none' }, 7);
  expect(await read()).toEqual({ id, url: OLD, events: [] });
  await patch({ ordering: 'task' }, 8);
  expect(await callbacks.find(workspaceId, id)).toMatchObject({ ordering: 'task', orderingTimeoutMs: 60_000 });
  const found = await stores.transitions.findTask(workspaceId, task.id, [], []);
  expect(found?.task.callback).toMatchObject({ ordering: 'task', orderingTimeoutMs: 60_000 });
});

test('whatever another process decided on the callback as it was is refused', async () => {
  const { workspaceId, task, id } = await createTask();
  await callbacks.patch(workspaceId, id, { url: NEW }, 5);
  const commit = {
    task,
    newRevision: 'next',
    subscriptionVersion: '0',
    now: 6,
    change: { status: 'running', sequence: 1 },
    factKey: 'checkpoint:c1',
  } as const;
  expect(await stores.second.transitions.commit(commit)).toEqual({ kind: 'conflict' });
  const found = await stores.second.transitions.findTask(workspaceId, task.id, [], []);
  if (!found) throw new Error('it is there');
  expect(await stores.second.transitions.commit({ ...commit, task: found.task })).toMatchObject({ kind: 'accepted' });
});

test('enabling forgets why it was disabled and how often it failed; a new url forgets the failures alone', async () => {
  const { workspaceId, id, keys } = await createTask();
  const disabled = { fails: '12', failAt: '5', on: '0', offAt: '7', offWhy: 'failing' };
  await stores.redis.hset(keys.endpoint(id), disabled);
  await callbacks.patch(workspaceId, id, { url: NEW }, 8);
  expect(await callbacks.find(workspaceId, id)).toMatchObject({
    enabled: false,
    disabledAt: 7,
    disabledReason: 'failing',
    health: { consecutiveFailures: 0 },
  });
  await stores.redis.hset(keys.endpoint(id), disabled);
  await callbacks.patch(workspaceId, id, { enabled: true }, 9);
  const enabled = await callbacks.find(workspaceId, id);
  expect(enabled).toMatchObject({ enabled: true, health: { consecutiveFailures: 0, healthySince: 9 } });
  expect(enabled).not.toHaveProperty('disabledAt');
  expect(enabled).not.toHaveProperty('disabledReason');
});

test('its pending deliveries are marked to end when it is disabled, and not when its host changes', async () => {
  const { workspaceId, id, keys } = await createTask();
  await callbacks.patch(workspaceId, id, { url: `${OLD}/elsewhere` }, 5);
  expect(await stores.redis.zscore(keys.purge, id)).toBeNull();
  await callbacks.patch(workspaceId, id, { url: NEW }, 6);
  expect(await stores.redis.zscore(keys.purge, id)).toBeNull();
  await callbacks.patch(workspaceId, id, { enabled: false }, 7);
  expect(await stores.redis.zscore(keys.purge, id)).toBe('7');
});

test('another workspace finds and changes nothing, and a receiver is no callback', async () => {
  const { workspaceId, id, keys, task } = await createTask();
  const stranger = newWorkspaceId();
  expect(await callbacks.find(stranger, id)).toBeUndefined();
  expect(await callbacks.patch(stranger, id, { enabled: false }, 1)).toBe(false);
  expect(await stores.redis.hget(keys.task(task.id), 'rev')).toBe(task.revision);
  const receiver = buildReceiver(workspaceId);
  await stores.receivers.register(receiver, 'encrypted');
  expect(await callbacks.find(workspaceId, receiver.id)).toBeUndefined();
});

test('a callback that outlives its Task can be changed, and brings no part of the Task back', async () => {
  const { workspaceId, id, keys, task } = await createTask({ status: 'done' });
  await stores.redis.del(keys.task(task.id));
  expect(await callbacks.patch(workspaceId, id, { enabled: false }, 1)).toBe(true);
  expect(await callbacks.find(workspaceId, id)).toMatchObject({ enabled: false, disabledReason: 'by_request' });
  expect(await stores.redis.exists(keys.task(task.id))).toBe(0);
});

test('a Task without a callback gets none', async () => {
  const task = buildTask(newWorkspaceId());
  await stores.tasks.create(task);
  const id = callbackIdOf(task.id);
  expect(await callbacks.patch(task.workspaceId, id, { url: NEW }, 1)).toBe(false);
  expect(await stores.redis.exists(stores.keyspace.of(task.workspaceId).endpoint(id))).toBe(0);
  expect(await stores.tasks.find(task.workspaceId, task.id)).toEqual(task);
});

test('what waits for a callback that is disabled is noted to end, and its sealed headers for their key', async () => {
  const { workspaceId, id, keys } = await createTask();
  const headers = { encrypted: 'ab12cd34 sealed', names: ['authorization'] };
  expect(await callbacks.patch(workspaceId, id, { enabled: false, headers }, 5)).toBe(true);
  expect(await stores.redis.zrange(keys.purge, 0, '-1')).toContain(id);
  expect(await stores.redis.type(keys.keyVersions)).toBe('hash');
});
