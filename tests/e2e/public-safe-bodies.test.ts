import { actionRequired, CANCELED, checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { webhooksAt } from '../support/webhooks.ts';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald();
});
afterAll(() => herald[Symbol.asyncDispose]());

let count = 0;
/** A string that must never leave, told apart from all others. */
const canary = (where: string) => `canary-${++count}-${where}`;

/** Internal fields that an executor may add to whatever is open to them. */
const internals = (where: string) => ({
  internalNote: canary(`${where}-note`),
  toolOutput: { raw: [canary(`${where}-tool`)] },
  credentials: { token: canary(`${where}-token`) },
  [canary(`${where}-name`)]: true,
  __proto__: { inherited: canary(`${where}-proto`) },
});

test('no internal field of anything appears in any body or header', async () => {
  const workspace = await herald.createWorkspace();
  const [receiver, callback] = [await herald.startReceiver(), await herald.startReceiver()];
  await workspace.registerReceiver({ url: receiver.url, description: canary('description') });
  const create = async () => {
    const executionWorkspaceId = `canary-${++count}-execution`;
    await herald.askAsPlatform('POST', `${workspace.id}/execution-workspaces`, 200, { executionWorkspaceId });
    return await workspace.createTask({
      input: { prompt: canary('input'), ...internals('input') },
      executionWorkspaceId,
      callback: { url: callback.url },
    });
  };
  const [done, canceled, closed] = [await create(), await create(), await create()];
  const outcome = { summary: 'public', progress: 0.25, ...internals('outcome') };
  const action = actionRequired(1, {
    outcome,
    approvalRequests: [
      { id: 'pay', primary: true, title: 'public', description: 'public', ...internals('approval') },
      { id: canary('secondary-id'), title: canary('secondary-title'), ...internals('secondary') },
    ],
    decisionItems: [{ id: 'yes', label: 'public', ...internals('item') }],
  });
  const finished = {
    ...DONE,
    result: { answer: canary('result'), ...internals('result') },
    outcome: { summary: canary('final-summary'), ...internals('final-outcome') },
    usage: { cost: canary('usage') },
  };
  for (const { id } of [done, canceled, closed]) {
    await herald.executor.report(id, START, checkpoint('c1', { outcome }), action);
    await workspace.request('POST', `/tasks/${id}/messages`, { body: { text: canary('message') } });
    await workspace.resolve(id, 'pay', { decision: canary('decision'), actionVersion: 1 });
  }
  await herald.executor.report(done.id, finished);
  await herald.executor.report(canceled.id, CANCELED);
  await workspace.closeTask(closed.id);
  await herald.executor.report(closed.id, finished);
  await herald.settled();

  expect(receiver.requests).toHaveLength(9);
  expect(callback.requests).toHaveLength(9);
  const sent = [...receiver.requests, ...callback.requests]
    .map(({ headers, rawBody }) => JSON.stringify(headers) + rawBody.toString())
    .join('\n');
  expect(sent).toContain('public');
  expect(sent.match(/canary-\d+-[\w-]+/g) ?? []).toEqual([]);
});

test('each event carries exactly the fields that are public, and terminal ones no result, outcome or usage', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const [done, canceled] = [await workspace.createTask(), await workspace.createTask()];
  await herald.executor.report(done.id, START, checkpoint('c1'), actionRequired(1), {
    ...DONE,
    result: 1,
    outcome: { summary: 's' },
    usage: 2,
  });
  await herald.executor.report(canceled.id, CANCELED);
  await herald.settled();
  const fields = Object.fromEntries(webhooksAt(receiver).map(({ event, body }) => [event, Object.keys(body)]));
  const terminal = ['id', 'event', 'created_at', 'sequence', 'task'];
  expect(fields).toEqual({
    'task.check_in': [...terminal, 'outcome'],
    'task.requires_action': [
      ...[...terminal, 'outcome', 'approval_request', 'action_version', 'decision_items', 'api_resolvable'],
      'action_url',
    ],
    'task.done': terminal,
    'task.canceled': terminal,
  });
  for (const { body } of webhooksAt(receiver)) expect(Object.keys(body.task)).toEqual(['id', 'status']);
});

test("the customer's own view of a Task shows the outcome only in its public part", async () => {
  const workspace = await herald.createWorkspace();
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, {
    ...DONE,
    outcome: { summary: 'public', ...internals('view') },
  });
  const view = await workspace.readTask(task.id);
  expect(view.outcome).toEqual({ summary: 'public' });
});
