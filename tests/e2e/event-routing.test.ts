import type { Receiver } from '@herald/test-kit';
import { actionRequired, CANCELED, checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { factsAt, webhooksAt } from '../support/webhooks.ts';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ apis: 2 });
});
afterAll(() => herald[Symbol.asyncDispose]());

/** Drives a Task through every event that ends well; with the cancel of another Task that makes all four. */
const FULL_LIFE = [START, checkpoint('c1'), actionRequired(1), DONE] as const;

test('every event reaches exactly the receivers of its workspace whose filter matches', async () => {
  const [ours, theirs] = [await herald.createWorkspace(), await herald.createWorkspace()];
  const register = async (workspace: typeof ours, events?: string[]): Promise<Receiver> => {
    const receiver = await herald.startReceiver();
    await workspace.registerReceiver({ url: receiver.url, ...(events && { events }) });
    return receiver;
  };
  const everything = await register(ours);
  const emptyFilter = await register(ours, []);
  const checkIns = await register(ours, ['task.check_in']);
  const actions = await register(ours, ['task.requires_action']);
  const terminal = await register(ours, ['task.done', 'task.canceled']);
  const testsOnly = await register(ours, ['webhook.test']);
  const foreign = await register(theirs);

  const [a, b, c] = [await ours.createTask(), await ours.createTask(), await theirs.createTask()];
  await herald.executor.report(a.id, ...FULL_LIFE);
  await herald.executor.report(b.id, START, CANCELED);
  await herald.executor.report(c.id, START, checkpoint('theirs'));
  await herald.settled();

  const [checkIn, action] = [`${a.id} task.check_in`, `${a.id} task.requires_action`];
  const [done, canceled] = [`${a.id} task.done`, `${b.id} task.canceled`];
  expect(factsAt(everything)).toEqual([checkIn, action, done, canceled].sort());
  expect(factsAt(emptyFilter)).toEqual(factsAt(everything));
  expect(factsAt(checkIns)).toEqual([checkIn]);
  expect(factsAt(actions)).toEqual([action]);
  expect(factsAt(terminal)).toEqual([done, canceled].sort());
  expect(factsAt(testsOnly)).toEqual([]);
  expect(factsAt(foreign)).toEqual([`${c.id} task.check_in`]);
});

test("a callback gets its own Task's events, by its own filter, and no other Task's", async () => {
  const [ours, theirs] = [await herald.createWorkspace(), await herald.createWorkspace()];
  const [all, filtered, foreign] = [
    await herald.startReceiver(),
    await herald.startReceiver(),
    await herald.startReceiver(),
  ];
  const a = await ours.createTask({ callback: { url: all.url } });
  const b = await ours.createTask({ callback: { url: filtered.url, events: ['task.done'] } });
  const c = await theirs.createTask({ callback: { url: foreign.url } });
  const bare = await ours.createTask();
  for (const { id } of [a, b, c, bare]) await herald.executor.report(id, ...FULL_LIFE);
  await herald.settled();

  const allEvents = (id: string) => [`${id} task.check_in`, `${id} task.done`, `${id} task.requires_action`];
  expect(factsAt(all)).toEqual(allEvents(a.id));
  expect(factsAt(filtered)).toEqual([`${b.id} task.done`]);
  expect(factsAt(foreign)).toEqual(allEvents(c.id));
});

test('what one API process changes of a callback holds for the very next transition that another one takes', async () => {
  const [first, second] = herald.apis;
  if (!first || !second) throw new Error('two APIs were started');
  const workspace = await herald.createWorkspace(first);
  const [early, late] = [await herald.startReceiver(), await herald.startReceiver()];
  const task = await workspace.createTask({ callback: { url: early.url } });
  const report = async (body: object) => {
    const path = `/api/internal/tasks/${task.id}/transitions`;
    expect((await herald.request('POST', path, { key: herald.executor.key, via: second, body })).status).toBe(200);
  };
  const patch = async (change: object) => {
    expect((await workspace.patchCallback(task.id, change)).status).toBe(200);
  };
  await report(START);
  await report(checkpoint('c1'));
  await herald.settled();
  await patch({ url: late.url });
  await report(checkpoint('c2'));
  await patch({ events: ['task.done'] });
  await report(checkpoint('c3'));
  await patch({ events: [] });
  await herald.settled();
  await patch({ enabled: false });
  await report(checkpoint('c4'));
  await patch({ enabled: true });
  await report(DONE);
  await herald.settled();
  const sequencesAt = (receiver: Receiver) => webhooksAt(receiver).map(({ body }) => body.sequence);
  expect({ early: sequencesAt(early), late: sequencesAt(late) }).toEqual({ early: [1], late: [2, 5] });
});

test('a callback is in no list of receivers and can not be read, changed, tested or removed as one', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const task = await workspace.createTask({ callback: { url: receiver.url } });
  expect((await workspace.listReceivers()).webhooks).toEqual([]);
  const path = `/api/public/webhooks/${task.id.replace(/^task_/, 'cb_')}`;
  const answers = [
    await workspace.request('GET', path),
    await workspace.request('PATCH', path, { body: { enabled: false } }),
    await workspace.request('POST', `${path}/test`),
    await workspace.request('DELETE', path),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
});

test('an execution workspace that differs from the controller changes nothing and appears in no body', async () => {
  const [controller, execution] = [await herald.createWorkspace(), await herald.createWorkspace()];
  const [receiver, callback, atExecution] = [
    await herald.startReceiver(),
    await herald.startReceiver(),
    await herald.startReceiver(),
  ];
  await controller.registerReceiver({ url: receiver.url });
  await execution.registerReceiver({ url: atExecution.url });
  const executionWorkspaceId = execution.id;
  await herald.askAsPlatform('POST', `${controller.id}/execution-workspaces`, 200, { executionWorkspaceId });
  const task = await controller.createTask({ executionWorkspaceId, callback: { url: callback.url } });
  await herald.executor.report(task.id, ...FULL_LIFE);
  await herald.settled();

  expect(factsAt(receiver)).toHaveLength(3);
  expect(factsAt(callback)).toEqual(factsAt(receiver));
  expect(factsAt(atExecution)).toEqual([]);
  const everythingSent = [...receiver.requests, ...callback.requests]
    .map(({ rawBody, headers }) => rawBody.toString() + JSON.stringify(headers))
    .join('\n');
  expect(everythingSent).not.toContain(execution.id);
});

test('a Task whose execution workspace does not exist is delivered all the same', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const body = { executionWorkspaceId: 'ws_task-bound' };
  const task = (await herald.askAsPlatform('POST', `${workspace.id}/tasks`, 201, body)) as { id: string };
  expect(await workspace.readTask(task.id)).toMatchObject(body);
  await herald.executor.report(task.id, START, DONE);
  expect(webhooksAt({ requests: [await receiver.next()] })[0]?.event).toBe('task.done');
});

test('checkpoints that are not both material and canonical emit nothing', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(
    task.id,
    START,
    checkpoint('draft', { canonical: false }),
    checkpoint('heartbeat', { material: false }),
    checkpoint('neither', { canonical: false, material: false }),
    checkpoint('real'),
  );
  await herald.settled();
  expect(webhooksAt(receiver).map(({ body }) => body.outcome)).toEqual([{ summary: 'at real', progress: 0.5 }]);
});

test('a disabled and a removed receiver get nothing more, a re-enabled one gets what comes next', async () => {
  const workspace = await herald.createWorkspace();
  const [switched, removed, witness] = [
    await herald.startReceiver(),
    await herald.startReceiver(),
    await herald.startReceiver(),
  ];
  const first = await workspace.registerReceiver({ url: switched.url });
  const second = await workspace.registerReceiver({ url: removed.url });
  await workspace.registerReceiver({ url: witness.url });
  const task = await workspace.createTask();

  await herald.executor.report(task.id, START, checkpoint('both'));
  await herald.settled();
  await workspace.request('PATCH', `/api/public/webhooks/${first.id}`, { body: { enabled: false } });
  await workspace.request('DELETE', `/api/public/webhooks/${second.id}`);
  await herald.executor.report(task.id, checkpoint('witness-only'));
  await herald.settled();
  await workspace.request('PATCH', `/api/public/webhooks/${first.id}`, { body: { enabled: true } });
  await herald.executor.report(task.id, DONE);
  await herald.settled();

  expect(factsAt(switched)).toEqual([`${task.id} task.check_in`, `${task.id} task.done`]);
  expect(factsAt(removed)).toEqual([`${task.id} task.check_in`]);
  expect(factsAt(witness)).toHaveLength(3);
});

test('what one API process changes holds for the very next transition that another one takes', async () => {
  const [first, second] = herald.apis;
  if (!first || !second) throw new Error('two APIs were started');
  const workspace = await herald.createWorkspace(first);
  const [early, late] = [await herald.startReceiver(), await herald.startReceiver()];
  const task = await workspace.createTask();
  const report = (checkpointId: string) =>
    herald.request('POST', `/api/internal/tasks/${task.id}/transitions`, {
      key: herald.executor.key,
      via: second,
      body: checkpointId === '' ? START : checkpoint(checkpointId),
    });
  const { id } = await workspace.registerReceiver({ url: early.url });
  await report('');
  await report('c1');
  await workspace.registerReceiver({ url: late.url });
  await report('c2');
  await workspace.request('PATCH', `/api/public/webhooks/${id}`, { body: { events: ['task.done'] } });
  await report('c3');
  await herald.settled();
  const sequencesAt = (receiver: Receiver) => webhooksAt(receiver).map(({ body }) => body.sequence);
  expect({ early: sequencesAt(early).sort(), late: sequencesAt(late).sort() }).toEqual({ early: [1, 2], late: [2, 3] });
});
