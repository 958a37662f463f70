import { bodyOf } from '../support/http-request.ts';
import { problemOf } from '../support/problems.ts';
import { actionRequired, CANCELED, checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { webhooksAt } from '../support/webhooks.ts';

const FINISHED = {
  ...DONE,
  result: { answer: 42, list: [1, null, 'x'] },
  outcome: { summary: 'all done', progress: 1 },
  usage: { tokens: 1_234 },
};

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald();
});
afterAll(() => herald[Symbol.asyncDispose]());

async function createTaskWithReceiver() {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  return { workspace, receiver, task: await workspace.createTask() };
}

test("a legacy close followed by the executor's own done emits once and loses no result", async () => {
  const { workspace, receiver, task } = await createTaskWithReceiver();
  await herald.executor.report(task.id, START);
  const closed = await workspace.closeTask(task.id);
  const lacking = await workspace.readTask(task.id);
  const reported = await herald.executor.report(task.id, FINISHED);
  await herald.settled();

  expect(closed).toMatchObject({ status: 'done', duplicate: false });
  expect(lacking).toMatchObject({ status: 'done', result: null, outcome: null, usage: null });
  expect(reported).toEqual({ ...closed, duplicate: true });
  expect(webhooksAt(receiver).map(({ event }) => event)).toEqual(['task.done']);
  const { result, outcome, usage } = FINISHED;
  expect(await workspace.readTask(task.id)).toMatchObject({ status: 'done', result, outcome, usage });
  expect(Object.keys(webhooksAt(receiver)[0]?.body ?? {})).toEqual(['id', 'event', 'created_at', 'sequence', 'task']);
});

test('a result that is there is never overwritten by a later report', async () => {
  const { workspace, task } = await createTaskWithReceiver();
  await herald.executor.report(task.id, START, { ...DONE, result: 'first' });
  await herald.executor.report(task.id, { ...DONE, result: 'second', usage: { tokens: 1 } });
  expect(await workspace.readTask(task.id)).toMatchObject({ result: 'first', usage: { tokens: 1 } });
});

test('a legacy close and a done that race emit once and lose no result', async () => {
  const { workspace, receiver, task } = await createTaskWithReceiver();
  await herald.executor.report(task.id, START);
  const racing = [
    ...Array.from({ length: 5 }, () => workspace.closeTask(task.id)),
    ...Array.from({ length: 5 }, () => herald.executor.report(task.id, FINISHED)),
  ];
  const answers = await Promise.all(racing);
  await herald.settled();
  expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
  expect(receiver.requests).toHaveLength(1);
  expect(await workspace.readTask(task.id)).toMatchObject({ result: FINISHED.result, usage: FINISHED.usage });
});

test('a done followed by a legacy close emits once and keeps the result', async () => {
  const { workspace, receiver, task } = await createTaskWithReceiver();
  const reported = await herald.executor.report(task.id, START, FINISHED);
  const closed = await workspace.closeTask(task.id);
  await herald.settled();
  expect(closed).toEqual({ ...reported, duplicate: true });
  expect(receiver.requests).toHaveLength(1);
  expect((await workspace.readTask(task.id)).result).toEqual(FINISHED.result);
});

test('a legacy close ends a Task that was never reported as running', async () => {
  const { workspace, receiver, task } = await createTaskWithReceiver();
  expect(await workspace.closeTask(task.id)).toMatchObject({ status: 'done', duplicate: false });
  expect(webhooksAt({ requests: [await receiver.next()] })[0]?.event).toBe('task.done');
});

test('a Task that is done can not be closed as canceled, nor the other way round', async () => {
  const { workspace, receiver, task } = await createTaskWithReceiver();
  const canceled = await workspace.createTask();
  await workspace.closeTask(task.id, 'done');
  await workspace.closeTask(canceled.id, 'canceled');
  const refused = [
    await workspace.request('POST', `/tasks/${task.id}/close`, { body: { status: 'canceled' } }),
    await workspace.request('POST', `/tasks/${task.id}/cancel`, { body: {} }),
    await herald.executor.tryReport(task.id, CANCELED),
    await herald.executor.tryReport(canceled.id, DONE),
    await workspace.request('POST', `/tasks/${canceled.id}/close`, { body: { status: 'done' } }),
  ];
  expect(refused.map((answer) => `${answer.status} ${problemOf(answer).code}`)).toEqual(
    Array.from(refused, () => '409 invalid_transition'),
  );
  await herald.settled();
  expect(receiver.requests).toHaveLength(2);
  expect(await workspace.readTask(canceled.id)).toMatchObject({ status: 'canceled', result: null });
});

test("a done after a legacy close as canceled is refused with the reason, and leaves the Task's usage alone", async () => {
  const { workspace, receiver, task } = await createTaskWithReceiver();
  await herald.executor.report(task.id, START);
  await workspace.closeTask(task.id, 'canceled');
  const refused = problemOf(await herald.executor.tryReport(task.id, FINISHED));
  expect(refused).toMatchObject({ status: 409, code: 'invalid_transition' });
  expect(refused.detail).toMatch(/was closed as canceled before this done came.* only the usage is kept/);
  const [again] = await herald.executor.reportBatch([{ taskId: task.id, ...FINISHED, usage: 'another' }]);
  expect(again).toMatchObject({ error: { code: 'invalid_transition' } });
  await herald.settled();
  expect(await workspace.readTask(task.id)).toMatchObject({
    status: 'canceled',
    result: null,
    outcome: null,
    usage: FINISHED.usage,
  });
  expect(webhooksAt(receiver).map(({ event }) => event)).toEqual(['task.canceled']);
});

test('a Task shows the newest outcome of a canonical checkpoint or an action, and in the end the final one', async () => {
  const { workspace, task } = await createTaskWithReceiver();
  const shown: unknown[] = [];
  for (const report of [
    START,
    checkpoint('draft', { canonical: false }),
    checkpoint('c1'),
    checkpoint('wrong', { canonical: false }),
    { type: 'checkpoint', checkpointId: 'bare', canonical: true, material: false },
    checkpoint('quiet', { material: false }),
    actionRequired(1),
    checkpoint('late', { canonical: false }),
    DONE,
    FINISHED,
  ]) {
    await herald.executor.report(task.id, report);
    const { outcome } = (await workspace.readTask(task.id)) as { outcome: { summary: string } | null };
    shown.push(outcome?.summary ?? null);
  }
  expect(shown).toEqual([
    ...[null, null],
    ...['at c1', 'at c1', 'at c1', 'at quiet'],
    ...['waiting for approval', 'waiting for approval', 'waiting for approval', 'all done'],
  ]);
  expect((await herald.executor.readTask(task.id)).outcome).toEqual(FINISHED.outcome);
});

test('a report that comes again with other contents is a duplicate that says so, and is told to operators once per Task', async () => {
  const { workspace, receiver, task } = await createTaskWithReceiver();
  await herald.executor.report(task.id, START, checkpoint('c1'), actionRequired(1));
  const other = checkpoint('c1', { outcome: { summary: 'something else' } });
  const answers = [
    await herald.executor.report(task.id, checkpoint('c1')),
    await herald.executor.report(task.id, other),
    await herald.executor.report(task.id, actionRequired(1, { apiResolvable: false })),
  ];
  expect(answers.map(({ duplicate, differs }) => [duplicate, differs])).toEqual([
    [true, undefined],
    [true, true],
    [true, true],
  ]);
  expect(await herald.executor.reportBatch([{ taskId: task.id, ...other }])).toMatchObject([{ differs: true }]);
  await herald.executor.report(task.id, FINISHED);
  expect(await herald.executor.report(task.id, { ...FINISHED, result: 'another' })).toMatchObject({ differs: true });
  expect((await workspace.readTask(task.id)).result).toEqual(FINISHED.result);
  await herald.settled();
  expect(receiver.requests).toHaveLength(3);
  const lines = herald.apis.flatMap(({ process }) =>
    process.stdout.filter((line) => line.includes('"transition.differs"') && line.includes(task.id)),
  );
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ level: 'warn', taskId: task.id, workspaceId: workspace.id }),
  ]);
});

test('a callback is changed by the rules of a receiver, and only on a Task that has one', async () => {
  const workspace = await herald.createWorkspace();
  const url = 'https://hooks.example.com/in';
  const task = await workspace.createTask({ callback: { url } });
  const bare = await workspace.createTask();
  const order = { ordering: 'none', orderingTimeout: '24h', orderingTimeoutSeconds: 86_400 };
  const unchanged = { url, events: [], enabled: true, ...order };
  const refusals: unknown[] = [];
  for (const patch of [
    { url: 'http://hooks.example.com/in' },
    { url: 'https://10.0.0.1/in' },
    { url: 'https://user@hooks.example.com/in' },
    { events: ['task.lost'] },
    { description: 'none here' },
    { enabled: false, orderingTimeout: '10s' },
    {},
  ]) {
    const { status, code } = problemOf(await workspace.patchCallback(task.id, patch));
    refusals.push(`${status} ${code}`);
  }
  expect(refusals).toEqual(Array.from(refusals, () => '422 validation_failed'));
  expect((await workspace.readTask(task.id)).callback).toEqual(unchanged);
  const missing = [
    await workspace.patchCallback(bare.id, { enabled: false }),
    await workspace.patchCallback('task_00000000000000000000000000', { enabled: false }),
  ];
  expect(missing.map((answer) => problemOf(answer).code)).toEqual(['callback_not_found', 'task_not_found']);

  const off = bodyOf(await workspace.patchCallback(task.id, { enabled: false, events: ['task.done'] }), 200);
  expect(off).toMatchObject({ url, events: ['task.done'], enabled: false, disabledReason: 'by_request' });
  expect((await workspace.readTask(task.id)).callback).toEqual(off);
  const secretless = await workspace.request('GET', `/tasks/${task.id}`);
  expect(secretless.text).not.toContain('whsec_');
});

test.each([
  ['queued', []],
  ['running', [START]],
  ['requires_action', [START, actionRequired(1)]],
] as const)('cancel ends a Task that is %s, once', async (_status, reports) => {
  const { workspace, receiver, task } = await createTaskWithReceiver();
  for (const report of reports) await herald.executor.report(task.id, report);
  const first = await workspace.cancelTask(task.id);
  const second = await workspace.cancelTask(task.id);
  const closed = await workspace.closeTask(task.id, 'canceled');
  await herald.settled();
  expect(first).toMatchObject({ status: 'canceled', duplicate: false });
  expect([second, closed]).toEqual([
    { ...first, duplicate: true },
    { ...first, duplicate: true },
  ]);
  expect(webhooksAt(receiver).filter(({ event }) => event === 'task.canceled')).toHaveLength(1);
});

test('moves that the state machine does not allow are refused and change nothing', async () => {
  const { workspace, receiver, task } = await createTaskWithReceiver();
  const early = [
    await herald.executor.tryReport(task.id, checkpoint('c1')),
    await herald.executor.tryReport(task.id, actionRequired(1)),
    await herald.executor.tryReport(task.id, DONE),
  ];
  expect(early.map((answer) => problemOf(answer).code)).toEqual(Array.from(early, () => 'invalid_transition'));
  expect((await workspace.readTask(task.id)).status).toBe('queued');
  await herald.executor.report(task.id, START, actionRequired(2));
  expect(problemOf(await herald.executor.tryReport(task.id, actionRequired(1)))).toMatchObject({
    status: 409,
    code: 'stale_action_version',
  });
  await herald.executor.report(task.id, DONE);
  expect(problemOf(await herald.executor.tryReport(task.id, checkpoint('late'))).code).toBe('invalid_transition');
  await herald.settled();
  expect(webhooksAt(receiver)).toHaveLength(2);
});

test('a terminal Task takes no message, an open one does', async () => {
  const { workspace, task } = await createTaskWithReceiver();
  const say = (text: string) => workspace.request('POST', `/tasks/${task.id}/messages`, { body: { text } });
  expect(await say('hello')).toMatchObject({ status: 200, body: { taskId: task.id, text: 'hello' } });
  await workspace.closeTask(task.id);
  expect(problemOf(await say('too late'))).toMatchObject({ status: 409, code: 'task_closed' });
  const { messages } = await herald.executor.readTask(task.id);
  expect(messages).toEqual([{ text: 'hello', createdAt: expect.any(String) as string }]);
});

test('resolving the primary request sets the Task running, resolving another one does not', async () => {
  const { workspace, task } = await createTaskWithReceiver();
  await herald.executor.report(task.id, START, actionRequired(1));
  expect((await workspace.readTask(task.id)).actionVersion).toBe(1);
  const secondary = await workspace.resolve(task.id, 'notify', { decision: 'seen', actionVersion: 1 });
  expect(bodyOf(secondary, 200)).toMatchObject({ status: 'requires_action', duplicate: false });
  const primary = await workspace.resolve(task.id, 'pay', { decision: 'yes', actionVersion: 1 });
  expect(bodyOf(primary, 200)).toEqual({
    taskId: task.id,
    approvalId: 'pay',
    decision: 'yes',
    actionVersion: 1,
    status: 'running',
    duplicate: false,
  });
  expect((await workspace.readTask(task.id)).status).toBe('running');
});

test('an action that is not api_resolvable is resolved by executors and by a key that may resolve any, by no other', async () => {
  const { workspace, task } = await createTaskWithReceiver();
  await herald.executor.report(task.id, START, actionRequired(1, { apiResolvable: false }));
  const decision = { decision: 'yes', actionVersion: 1 };
  const refused = problemOf(await workspace.resolve(task.id, 'pay', decision));
  expect(refused).toMatchObject({ status: 403, code: 'not_api_resolvable' });
  expect(await workspace.readTask(task.id)).toMatchObject({ status: 'requires_action' });

  const key = await herald.createKey(workspace.id, ['tasks', 'approvals:any']);
  const path = `approvals/pay/resolve`;
  const resolved = await herald.request('POST', `/tasks/${task.id}/${path}`, { key, body: decision });
  expect(bodyOf(resolved, 200)).toMatchObject({ status: 'running', duplicate: false });
  const alone = await herald.createKey(workspace.id, ['approvals:any']);
  const lacking = await herald.request('POST', `/tasks/${task.id}/${path}`, { key: alone, body: decision });
  expect(problemOf(lacking).code).toBe('insufficient_scope');

  await herald.executor.report(task.id, actionRequired(2, { apiResolvable: false }));
  const next = { decision: 'no', actionVersion: 2 };
  const byExecutor = await herald.executor.request('POST', `/api/internal/tasks/${task.id}/${path}`, { body: next });
  expect(bodyOf(byExecutor, 200)).toMatchObject({ decision: 'no', status: 'running' });
  const noTask = task.id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  const missing = await herald.executor.request('POST', `/api/internal/tasks/${noTask}/${path}`, { body: next });
  expect(problemOf(missing).code).toBe('task_not_found');
});

test('a resolution with a version that is not current is stale, and one of an unknown request is not found', async () => {
  const { workspace, task } = await createTaskWithReceiver();
  await herald.executor.report(task.id, START);
  const early = await workspace.resolve(task.id, 'pay', { decision: 'yes', actionVersion: 1 });
  expect(problemOf(early).code).toBe('stale_action_version');
  await herald.executor.report(task.id, actionRequired(1), actionRequired(2));
  const stale = await workspace.resolve(task.id, 'pay', { decision: 'yes', actionVersion: 1 });
  const future = await workspace.resolve(task.id, 'pay', { decision: 'yes', actionVersion: 3 });
  const unknown = await workspace.resolve(task.id, 'nobody', { decision: 'yes', actionVersion: 2 });
  expect([stale, future].map((answer) => `${answer.status} ${problemOf(answer).code}`)).toEqual([
    '409 stale_action_version',
    '409 stale_action_version',
  ]);
  expect(problemOf(unknown)).toMatchObject({ status: 404, code: 'approval_not_found' });
  expect((await herald.executor.readTask(task.id)).decisions).toEqual([]);
  await workspace.closeTask(task.id);
  const late = await workspace.resolve(task.id, 'pay', { decision: 'yes', actionVersion: 2 });
  expect(problemOf(late)).toMatchObject({ status: 409, code: 'task_closed' });
});

test('a repeated resolution is a duplicate, another decision is refused, and of two that race one wins', async () => {
  const { workspace, task } = await createTaskWithReceiver();
  await herald.executor.report(task.id, START, actionRequired(1));
  const racing = await Promise.all(
    ['yes', 'no', 'yes', 'no', 'yes', 'no'].map((decision) =>
      workspace.resolve(task.id, 'pay', { decision, actionVersion: 1 }),
    ),
  );
  const accepted = racing.filter(({ status, body }) => status === 200 && !(body as { duplicate: boolean }).duplicate);
  expect(accepted).toHaveLength(1);
  const decision = (accepted[0]?.body as { decision: string } | undefined)?.decision;
  const again = await workspace.resolve(task.id, 'pay', { decision, actionVersion: 1 });
  expect(bodyOf(again, 200)).toMatchObject({ decision, duplicate: true, status: 'running' });
  const other = await workspace.resolve(task.id, 'pay', { decision: 'maybe', actionVersion: 1 });
  expect(problemOf(other)).toMatchObject({ status: 409, code: 'invalid_transition' });
  expect((await herald.executor.readTask(task.id)).decisions).toEqual([
    { approvalId: 'pay', actionVersion: 1, decision, decidedAt: expect.any(String) as string },
  ]);
});

test('the executor reads input, messages, decisions and its last checkpoint', async () => {
  const workspace = await herald.createWorkspace();
  const input = { question: 'why?', deep: [{ a: null }] };
  const task = await workspace.createTask({ input });
  await herald.executor.report(task.id, START, checkpoint('c1'), actionRequired(1));
  for (const text of ['one', 'two']) {
    await workspace.request('POST', `/tasks/${task.id}/messages`, { body: { text } });
  }
  await workspace.resolve(task.id, 'pay', { decision: 'yes', actionVersion: 1 });
  expect(await herald.executor.readTask(task.id)).toMatchObject({
    id: task.id,
    status: 'running',
    workspaceId: workspace.id,
    input,
    messages: [{ text: 'one' }, { text: 'two' }],
    decisions: [{ approvalId: 'pay', decision: 'yes', actionVersion: 1 }],
    lastCheckpoint: { checkpointId: 'c1', outcome: { summary: 'at c1' } },
  });
  const missing = await herald.executor.request('GET', '/api/internal/tasks/task_nobody');
  expect(problemOf(missing)).toMatchObject({ status: 404, code: 'task_not_found' });
});

interface Page {
  tasks: { id: string; status: string }[];
  nextCursor: string | null;
}

test('the list by status pages through all of them, of every workspace, without loss or repeat', async () => {
  const workspaces = [await herald.createWorkspace(), await herald.createWorkspace()];
  const created: string[] = [];
  for (let count = 0; count < 25; count++) {
    const batch = await Promise.all(workspaces.map((workspace) => workspace.createTask()));
    created.push(...batch.map(({ id }) => id));
  }
  const moved = created.splice(0, 10);
  await herald.executor.reportBatch(moved.map((taskId) => ({ taskId, ...START })));

  const listed: string[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < 100; pages++) {
    const query = `status=queued&limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const answer = await herald.executor.request('GET', `/api/internal/tasks?${query}`);
    const page = bodyOf(answer, 200) as Page;
    expect(page.tasks.length).toBeLessThanOrEqual(7);
    listed.push(...page.tasks.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  expect(cursor).toBeNull();
  expect(new Set(listed).size).toBe(listed.length);
  expect(created.filter((id) => !listed.includes(id))).toEqual([]);
  expect(moved.filter((id) => listed.includes(id))).toEqual([]);
});

test('a list with a wrong query is refused', async () => {
  for (const query of [
    '',
    'status=lost',
    'status=queued&limit=0',
    'status=queued&limit=101',
    'status=queued&cursor=x',
  ]) {
    const answer = await herald.executor.request('GET', `/api/internal/tasks?${query}`);
    expect(problemOf(answer)).toMatchObject({ status: 422, code: 'validation_failed' });
  }
});

test('a workspace lists its Tasks, newest first, by status and time, page by page', async () => {
  const workspace = await herald.createWorkspace();
  const list = async (query: string) =>
    bodyOf(await workspace.request('GET', `/tasks?${query}`), 200) as {
      tasks: { id: string; createdAt: string; status: string }[];
      nextCursor: string | null;
    };
  const created: string[] = [];
  for (let count = 0; count < 5; count++) {
    created.unshift(
      (await workspace.createTask({ input: { count }, callback: { url: 'https://hooks.example.com/' } })).id,
    );
  }
  // Ids of one millisecond are in no order of creation.
  created.sort().reverse();
  await workspace.cancelTask(created[1] ?? '');
  const all = await list('');
  expect(all).toMatchObject({ tasks: created.map((id) => ({ id })), nextCursor: null });
  expect(all.tasks[0]).toMatchObject({ status: 'queued', callback: { url: 'https://hooks.example.com/' } });
  for (const name of ['input', 'messages', 'decisions']) expect(all.tasks[0]).not.toHaveProperty(name);

  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await list(`limit=2${cursor && `&cursor=${cursor}`}`);
    expect(page.tasks.length).toBeLessThanOrEqual(2);
    seen.push(...page.tasks.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(created);
  expect(await list('status=canceled')).toMatchObject({ tasks: [{ id: created[1] }], nextCursor: null });
  expect(await list('status=done')).toEqual({ tasks: [], nextCursor: null });
  const { createdAt = '' } = all.tasks[2] ?? {};
  expect((await list(`since=${createdAt}`)).tasks.map(({ id }) => id)).toEqual(
    all.tasks.filter((each) => each.createdAt >= createdAt).map(({ id }) => id),
  );
  expect((await list(`until=${createdAt}`)).tasks.map(({ id }) => id)).toEqual(
    all.tasks.filter((each) => each.createdAt < createdAt).map(({ id }) => id),
  );
  const wrong = await workspace.request('GET', `/tasks?since=${createdAt}&until=${createdAt}`);
  expect(problemOf(wrong)).toMatchObject({ status: 422, errors: [{ path: 'until' }] });
  expect((await list('limit=1')).nextCursor).not.toBeNull();
});

test('a Task shows its input, messages and decisions to its owner, until they are erased', async () => {
  const workspace = await herald.createWorkspace();
  const { id } = await workspace.createTask({ input: { invoice: 'in_42' } });
  bodyOf(await workspace.request('POST', `/tasks/${id}/messages`, { body: { text: 'with VAT' } }), 200);
  await herald.executor.report(id, START, actionRequired(1));
  const { status } = await workspace.resolve(id, 'pay', { decision: 'yes', actionVersion: 1 });
  expect(status).toBe(200);
  expect(await workspace.readTask(id)).toMatchObject({
    input: { invoice: 'in_42' },
    messages: [{ text: 'with VAT', createdAt: expect.any(String) as string }],
    decisions: [{ approvalId: 'pay', actionVersion: 1, decision: 'yes', decidedAt: expect.any(String) as string }],
  });
  await workspace.cancelTask(id);
  bodyOf(await workspace.request('DELETE', `/tasks/${id}/payloads`), 200);
  expect(await workspace.readTask(id)).toMatchObject({ input: null, messages: [], decisions: [] });
});
