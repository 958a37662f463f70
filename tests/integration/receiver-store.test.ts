import { RECEIVER_LIMIT } from '@herald/core';
import { SEGMENT_ENTRIES } from '@herald/store/keys/segment-lua';
import { appendToLog, logEntriesFrom } from '../support/append-to-log.ts';
import { buildReceiver, buildTask, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores[Symbol.asyncDispose]());

test('of 50 registrations that race over two connections exactly the limit succeeds, and nothing else is stored', async () => {
  const workspaceId = newWorkspaceId();
  const receivers = Array.from({ length: 50 }, () => buildReceiver(workspaceId));
  const replies = await Promise.all(
    receivers.map((receiver, index) => (index % 2 ? stores : stores.second).receivers.register(receiver, 'encrypted')),
  );
  expect(replies.filter((reply) => reply === 'registered')).toHaveLength(RECEIVER_LIMIT);
  expect(await stores.receivers.list(workspaceId)).toHaveLength(RECEIVER_LIMIT);
  const stored = await Promise.all(receivers.map(({ id }) => stores.redis.exists(stores.keys.endpoint(id))));
  expect(stored.filter((exists) => exists === 1)).toHaveLength(RECEIVER_LIMIT);
});

test('the list is in the order of registration', async () => {
  const workspaceId = newWorkspaceId();
  const [second, first] = [
    buildReceiver(workspaceId, { createdAt: 2_000 }),
    buildReceiver(workspaceId, { createdAt: 1_000 }),
  ];
  await stores.receivers.register(second, 'encrypted');
  await stores.receivers.register(first, 'encrypted');
  expect((await stores.receivers.list(workspaceId)).map(({ id }) => id)).toEqual([first.id, second.id]);
});

test('another workspace finds, changes and removes nothing', async () => {
  const [owner, stranger] = [newWorkspaceId(), newWorkspaceId()];
  const receiver = buildReceiver(owner, { description: 'mine' });
  await stores.receivers.register(receiver, 'encrypted');
  const before = await stores.receivers.findSubscriptions(owner);
  expect(await stores.receivers.find(stranger, receiver.id)).toBeUndefined();
  expect(await stores.receivers.patch(stranger, receiver.id, { description: 'theirs' }, 1)).toBe(false);
  expect(await stores.receivers.remove(stranger, receiver.id, Date.now())).toBe(false);
  expect(await stores.receivers.findSubscriptions(owner)).toEqual(before);
});

test('a callback is no receiver, though it lives under the same kind of key', async () => {
  const workspaceId = newWorkspaceId();
  const task = buildTask(workspaceId);
  const endpoint = buildReceiver(workspaceId, { id: task.id.replace('task_', 'cb_') });
  await stores.tasks.create({ ...task, callback: endpoint }, { endpoint, encryptedSecret: 'encrypted' });
  expect(await stores.receivers.find(workspaceId, endpoint.id)).toBeUndefined();
  expect(await stores.receivers.patch(workspaceId, endpoint.id, { enabled: false }, 1)).toBe(false);
  expect(await stores.receivers.remove(workspaceId, endpoint.id, Date.now())).toBe(false);
  expect(await stores.receivers.list(workspaceId)).toEqual([]);
});

test('a receiver that is removed while it is being changed stays removed', async () => {
  const workspaceId = newWorkspaceId();
  for (let round = 0; round < 20; round++) {
    const receiver = buildReceiver(workspaceId);
    await stores.receivers.register(receiver, 'encrypted');
    await Promise.all([
      stores.receivers.remove(workspaceId, receiver.id, Date.now()),
      stores.second.receivers.patch(workspaceId, receiver.id, { description: 'late' }, 1),
    ]);
    expect(await stores.redis.exists(stores.keys.endpoint(receiver.id))).toBe(0);
  }
});

test('a new url starts with a clean health, and enabling forgets why it was disabled', async () => {
  const workspaceId = newWorkspaceId();
  const receiver = buildReceiver(workspaceId);
  await stores.receivers.register(receiver, 'encrypted');
  await stores.redis.hset(stores.keys.endpoint(receiver.id), {
    fails: '3',
    failAt: '5',
    on: '0',
    offAt: '7',
    offWhy: 'gone',
  });
  await stores.receivers.patch(workspaceId, receiver.id, { url: 'https://new.example.com/' }, 8);
  expect(await stores.receivers.find(workspaceId, receiver.id)).toMatchObject({
    enabled: false,
    disabledReason: 'gone',
    health: { consecutiveFailures: 0 },
  });
  await stores.receivers.patch(workspaceId, receiver.id, { enabled: true }, 9);
  const { disabledAt, disabledReason, enabled } = (await stores.receivers.find(workspaceId, receiver.id)) ?? {};
  expect({ disabledAt, disabledReason, enabled }).toEqual({
    disabledAt: undefined,
    disabledReason: undefined,
    enabled: true,
  });
});

test('a registration that runs again under the same id finds the first, as it is by now, also in a full workspace', async () => {
  const workspaceId = newWorkspaceId();
  const receivers = Array.from({ length: RECEIVER_LIMIT }, () => buildReceiver(workspaceId));
  for (const receiver of receivers) await stores.receivers.register(receiver, 'encrypted');
  const [first] = receivers;
  if (!first) throw new Error('there is a first');
  await stores.receivers.patch(workspaceId, first.id, { description: 'changed since' }, 1);
  expect(await stores.second.receivers.register(first, 'encrypted.again')).toBe('exists');
  expect(await stores.receivers.find(workspaceId, first.id)).toMatchObject({
    description: 'changed since',
    encryptedSecret: 'encrypted',
  });
});

test('a removed receiver is remembered while any part of its log is there', async () => {
  const workspaceId = newWorkspaceId();
  const { redis, keys, receivers } = stores;
  for (const count of [SEGMENT_ENTRIES, 1, 0]) {
    const receiver = buildReceiver(workspaceId);
    await receivers.register(receiver, 'encrypted');
    // A full log is a segment, and nothing newer is there yet.
    if (count > 0) await appendToLog(redis, keys.endpointLog(receiver.id), 60_000, logEntriesFrom(1_000, count));
    await receivers.remove(workspaceId, receiver.id, 1);
    const isKnown = (await redis.zscore(keys.removedReceivers(workspaceId), receiver.id)) !== null;
    expect({ count, isKnown }).toEqual({ count, isKnown: count > 0 });
  }
});
