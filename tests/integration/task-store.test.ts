import { callbackIdOf, type Decision, type ListPlace, type Task } from '@herald/core';
import { BYTES_OF_A_RECORD, MESSAGE_LIMIT, type TaskCursor } from '@herald/store/tasks/task-store';
import { buildReceiver, buildTask, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

const DAY_MS = 86_400_000;

let stores: Stores;
beforeEach(async () => {
  stores = await startStores(3);
});
afterEach(() => stores[Symbol.asyncDispose]());

async function create(more: Partial<Task> = {}): Promise<Task> {
  const task = buildTask(newWorkspaceId(), { status: 'queued', ...more });
  await stores.tasks.create(task);
  return task;
}

async function listAll(limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: TaskCursor | undefined;
  do {
    const page = await stores.tasks.listByStatus('queued', limit, 10_000, cursor);
    pages.push(page.tasks.map(({ id }) => id));
    cursor = page.next;
  } while (cursor && pages.length < 100);
  return pages;
}

test.each([1, 2, 3, 7, 20, 21])(
  'pages of %d over three shards show every Task once, longest unchanged first',
  async (limit) => {
    const tasks: Task[] = [];
    for (let index = 0; index < 20; index++) {
      const updatedAt = 1_000 + Math.floor(index / 6); // many of one time, over all shards
      tasks.push(await create({ createdAt: updatedAt, updatedAt }));
    }
    const pages = await listAll(limit);
    const inOrder = tasks.sort((a, b) => a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
    expect(pages.flat()).toEqual(inOrder);
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
  },
);

test('Tasks that were never started leave the list when they expire, a hundred at a time, and no page shows them', async () => {
  const now = 200 * DAY_MS;
  const { workspaceId } = await create({ createdAt: now - 100 * DAY_MS, updatedAt: now - 100 * DAY_MS });
  const { redis, keyspace } = stores;
  const list = keyspace.of(workspaceId).tasksIn('queued');
  await redis.zadd(list, ...Array.from({ length: 149 }, (_, index) => [index, `task_${index}`]).flat());
  await stores.tasks.create(
    buildTask(workspaceId, { status: 'queued', createdAt: now - DAY_MS, updatedAt: now - DAY_MS }),
  );
  expect(await redis.zcard(list)).toBe(51);
  const living = buildTask(workspaceId, { status: 'queued', createdAt: now, updatedAt: now });
  expect((await stores.tasks.listByStatus('queued', 1, now)).tasks).toHaveLength(1);
  await stores.tasks.create(living);
  const { tasks, next } = await stores.tasks.listByStatus('queued', 2, now);
  expect([tasks.length, next]).toEqual([2, undefined]);
  expect(await redis.zcard(list)).toBe(2);
});

test('a Task that leaves the status between two pages takes no other one with it', async () => {
  const tasks: Task[] = [];
  for (let index = 0; index < 9; index++) tasks.push(await create({ createdAt: 1_000 + index }));
  const first = await stores.tasks.listByStatus('queued', 3, 10_000);
  const [moved] = tasks;
  if (!moved) throw new Error('nine were created');
  await stores.transitions.commit({
    task: moved,
    newRevision: 'next',
    subscriptionVersion: '0',
    now: 5_000,
    change: { status: 'running', sequence: 0 },
    factKey: 'start',
  });
  const second = await stores.tasks.listByStatus('queued', 100, 10_000, first.next);
  expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(tasks.map(({ id }) => id));
});

test('of two resolutions that were decided on one revision one is recorded', async () => {
  const task = await create({ status: 'requires_action' });
  const decide = (decision: string, by: Pick<Stores, 'tasks'>) => {
    const made: Decision = { approvalId: 'pay', actionVersion: 1, decision, decidedAt: 1 };
    return by.tasks.resolve(task, made, 'running');
  };
  const replies = await Promise.all([decide('yes', stores), decide('no', stores.second)]);
  expect([...replies].sort()).toEqual(['conflict', 'resolved']);
  const decisions = await stores.tasks.listDecisions(task.workspaceId, task.id);
  expect(decisions.map(({ decision }) => decision)).toEqual([replies[0] === 'resolved' ? 'yes' : 'no']);
});

test('a message to a Task that is closed at the same moment is either refused or there', async () => {
  for (let round = 0; round < 20; round++) {
    const task = await create({ status: 'running' });
    const [reply] = await Promise.all([
      stores.tasks.addMessage(task.workspaceId, task.id, { id: 'msg_1', text: 'hi', createdAt: 1 }),
      stores.second.transitions.commit({
        task,
        newRevision: 'next',
        subscriptionVersion: '0',
        now: 5_000,
        change: { status: 'done', sequence: 1 },
        factKey: 'done',
      }),
    ]);
    const messages = await stores.tasks.listMessages(task.workspaceId, task.id);
    expect(messages).toHaveLength(reply === 'added' ? 1 : 0);
    expect(['added', 'done']).toContain(reply);
  }
});

test('a Task of another workspace takes no message and is not found, by whatever shard', async () => {
  const task = await create();
  for (let index = 0; index < 10; index++) {
    const stranger = newWorkspaceId();
    expect(await stores.tasks.find(stranger, task.id)).toBeUndefined();
  }
  expect(await stores.tasks.findWorkspace(task.id)).toBe(task.workspaceId);
});

test('a resolution keeps all that belongs to the Task for as long as the Task', async () => {
  const workspaceId = newWorkspaceId();
  const bare = buildTask(workspaceId, { status: 'requires_action' });
  const callback = buildReceiver(workspaceId, { id: callbackIdOf(bare.id) });
  const task: Task = { ...bare, callback };
  await stores.tasks.create(task, { endpoint: callback, encryptedSecret: 'encrypted' });
  const newRevision = 'next';
  await stores.transitions.commit({
    task,
    newRevision,
    subscriptionVersion: '0',
    now: Date.now(),
    change: { status: 'requires_action', sequence: 0 },
    factKey: 'checkpoint:c1',
  });
  await stores.tasks.addMessage(workspaceId, task.id, { id: 'msg_1', text: 'hi', createdAt: 1 });
  const keys = stores.keyspace.of(workspaceId);
  const belongings = [keys.facts(task.id), keys.messages(task.id), keys.endpoint(callback.id)];
  // Most of the Task's time has passed.
  for (const key of [keys.task(task.id), ...belongings]) await stores.redis.pexpire(key, 60_000);
  const decision: Decision = { approvalId: 'pay', actionVersion: 1, decision: 'yes', decidedAt: Date.now() };
  expect(await stores.tasks.resolve({ ...task, revision: newRevision }, decision, 'running')).toBe('resolved');
  const expiresAt = await stores.redis.pexpiretime(keys.task(task.id));
  const shorter = [];
  for (const key of belongings) if ((await stores.redis.pexpiretime(key)) < expiresAt - 1_000) shorter.push(key);
  expect(shorter).toEqual([]);
});

test('the messages of a Task are bounded in number and in size together', async () => {
  const [many, large] = [buildTask(newWorkspaceId()), buildTask(newWorkspaceId())];
  await Promise.all([stores.tasks.create(many), stores.tasks.create(large)]);
  let count = 0;
  const add = (task: Task, text: string) =>
    stores.tasks.addMessage(task.workspaceId, task.id, { id: `msg_${count++}`, text, createdAt: 1 });
  const replies = await Promise.all(Array.from({ length: MESSAGE_LIMIT + 1 }, () => add(many, 'hi')));
  expect(replies.filter((reply) => reply === 'full')).toHaveLength(1);
  const text = 'x'.repeat(100_000);
  expect(await Promise.all(Array.from({ length: 11 }, () => add(large, text)))).toEqual([
    ...Array.from({ length: 10 }, () => 'added'),
    'full',
  ]);
  expect(await add(large, 'a short one still fits')).toBe('added');
});

test('a creation that runs again under the same id finds the first, and one that is sent twice creates once', async () => {
  const task = await create({ status: 'queued' });
  const again = { ...task, revision: 'another', input: 'changed' };
  expect(await stores.tasks.create(task)).toBe('created');
  expect(await stores.second.tasks.create(again)).toBe('exists');
  expect((await stores.tasks.find(task.workspaceId, task.id))?.input).toBeUndefined();
});

test('a message that is added again is there once, also when the Task was closed since', async () => {
  const task = await create({ status: 'running' });
  const [one, other] = [
    { id: 'msg_1', text: 'hi', createdAt: 1 },
    { id: 'msg_2', text: 'hi', createdAt: 1 },
  ];
  const add = (message: typeof one) => stores.tasks.addMessage(task.workspaceId, task.id, message);
  expect([await add(one), await add(one), await add(other)]).toEqual(['added', 'added', 'added']);
  await stores.transitions.commit({
    task,
    newRevision: 'next',
    subscriptionVersion: '0',
    now: 5_000,
    change: { status: 'done', sequence: 1 },
    factKey: 'done',
  });
  expect([await add(one), await add({ ...one, id: 'msg_3' })]).toEqual(['added', 'done']);
  expect(await stores.tasks.listMessages(task.workspaceId, task.id)).toEqual([one, other]);
});

test('the list of a workspace stays as long as its longest Task, and new Tasks take out what has gone', async () => {
  const first = await create();
  const { workspaceId } = first;
  const { redis, keyspace } = stores;
  const keys = keyspace.of(workspaceId);
  const list = keys.workspaceTasks(workspaceId);
  const endsWith = async (task: Task) => {
    expect(await redis.pexpiretime(list)).toBe(await redis.pexpiretime(keys.task(task.id)));
  };
  await endsWith(first);
  await redis.pexpire(list, 1_000);
  const read = await stores.tasks.find(workspaceId, first.id);
  if (!read) throw new Error('it is there');
  const decision: Decision = {
    approvalId: 'a',
    actionVersion: 1,
    decision: 'yes',
    decidedAt: Date.now() + 40 * DAY_MS,
  };
  await stores.tasks.resolve(read, decision, 'running');
  await endsWith(first);

  // An old one that lives keeps none behind it, however many these are.
  const gone = Array.from({ length: 50 }, (_, index) => buildTask(workspaceId, { createdAt: first.createdAt + index }));
  await redis.zadd(list, ...gone.flatMap(({ createdAt, id }) => [createdAt, id]));
  const page = await stores.tasks.listByWorkspace(workspaceId, {}, 10);
  expect([page.tasks.map(({ id }) => id), page.lookedAt]).toEqual([[first.id], 51]);
  const living = [first];
  for (let count = 0; count < 100; count++) living.push(await createIn(workspaceId, first.createdAt + 100 + count));
  // Each takes out a gone one with their share of the list: of 50 some 20 are left behind 100.
  expect(await redis.zcard(list)).toBeLessThan(living.length + 50);
  const seen: string[] = [];
  for (let place: ListPlace | undefined, isEnd = false; !isEnd;) {
    const { tasks, next } = await stores.tasks.listByWorkspace(workspaceId, {}, 7, place);
    seen.push(...tasks.map(({ id }) => id));
    [place, isEnd] = [next, next === undefined];
  }
  expect(seen).toEqual(living.map(({ id }) => id).reverse());
});

test('a page of large Tasks ends at a mebibyte of what it shows, and the pages have every Task once', async () => {
  const workspaceId = newWorkspaceId();
  const { redis, keyspace, tasks } = stores;
  const shown: string[] = [];
  // A page may not skip what it had no room for, also where it has read on because a filter left some out.
  for (const [index, size] of [1_200, 300, 'running', 300, 300, 300, 'running', 0, 0].entries()) {
    const status = size === 'running' ? size : 'queued';
    const { id } = await createIn(workspaceId, 1_000 + index, { status, input: 'i'.repeat(250_000) });
    await redis.hset(
      keyspace.of(workspaceId).task(id),
      'result',
      JSON.stringify('r'.repeat(Number(size) * 1_000 || 0)),
    );
    if (status === 'queued') shown.push(id);
  }
  const oldestFirst = await listAll(20);
  expect([oldestFirst.flat(), oldestFirst.map((page) => page.length)]).toEqual([shown, [1, 3, 3]]);

  const newestFirst: Awaited<ReturnType<typeof tasks.listByWorkspace>>[] = [];
  let place: ListPlace | undefined;
  do {
    const page = await tasks.listByWorkspace(workspaceId, { status: 'queued' }, 6, place);
    newestFirst.push(page);
    place = page.next;
  } while (place);
  const found = newestFirst.flatMap((page) => page.tasks);
  expect(found.map(({ id, input }) => [id, input])).toEqual(shown.map((id) => [id, undefined]).reverse());
  expect(newestFirst.map((page) => page.tasks.length)).toEqual([5, 1, 1]);
  const bytes = 900_000 + 5 * '""'.length;
  expect(newestFirst[0]?.lookedAt).toBe(9 + Math.floor(bytes / BYTES_OF_A_RECORD));
});

async function createIn(workspaceId: string, createdAt: number, more: Partial<Task> = {}): Promise<Task> {
  const task = buildTask(workspaceId, { status: 'queued', createdAt, ...more });
  await stores.tasks.create(task);
  return task;
}
