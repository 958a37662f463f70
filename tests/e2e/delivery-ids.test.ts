import { actionRequired, CANCELED, checkpoint, DONE, START, type Report } from '../support/reports.ts';
import { bodyOf } from '../support/http-request.ts';
import { restoreSnapshot, takeSnapshot } from '../support/redis-snapshot.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { readWebhook, webhooksAt } from '../support/webhooks.ts';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ apis: 2, env: { RETRY_SCHEDULE: '10ms,10ms' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

test('a receiver that answers 503 once gets the same bytes again under the same delivery id', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([503, 200]);
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, checkpoint('c1'));
  const [first, second] = [await receiver.next(), await receiver.next()];
  expect(second.headers['x-service-delivery']).toBe(first.headers['x-service-delivery']);
  expect(second.rawBody).toEqual(first.rawBody);
  await herald.settled();
  expect(receiver.requests).toHaveLength(2);
});

test('a reset connection is tried again under the same id, and a delivery that is used up ends', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver(['reset', 500, 404]);
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, DONE);
  await herald.settled();
  // Three tries: the first repeats its request at once, since a new connection was closed without a byte.
  expect(receiver.requests).toHaveLength(4);
  expect(new Set(webhooksAt(receiver).map(({ deliveryId }) => deliveryId)).size).toBe(1);
});

test('one transition has another delivery id at every endpoint, and the same body', async () => {
  const workspace = await herald.createWorkspace();
  const receivers = [await herald.startReceiver(), await herald.startReceiver(), await herald.startReceiver()];
  const [first, second, callback] = receivers;
  await workspace.registerReceiver({ url: first?.url });
  await workspace.registerReceiver({ url: second?.url });
  const task = await workspace.createTask({ callback: { url: callback?.url } });
  await herald.executor.report(task.id, START, checkpoint('c1'));
  const requests = await Promise.all(receivers.map((receiver) => receiver.next()));
  expect(new Set(requests.map(({ headers }) => headers['x-service-delivery'])).size).toBe(3);
  expect(new Set(requests.map(({ rawBody }) => rawBody.toString())).size).toBe(1);
});

test('two receivers with one url are two endpoints', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, DONE);
  await herald.settled();
  expect(new Set(webhooksAt(receiver).map(({ deliveryId }) => deliveryId)).size).toBe(2);
});

test.each<[string, readonly [Report, ...Report[]], Report]>([
  ['start', [START], START],
  ['checkpoint', [START, checkpoint('c1')], checkpoint('c1')],
  [
    'checkpoint that emits nothing',
    [START, checkpoint('c1', { material: false })],
    checkpoint('c1', { material: false }),
  ],
  ['action', [START, actionRequired(7)], actionRequired(7)],
  ['done', [START, DONE], DONE],
  ['cancel', [START, CANCELED], CANCELED],
])('a repeated %s is a duplicate that emits nothing and names the same transition', async (_name, reports, again) => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  const first = await herald.executor.report(task.id, ...reports);
  await herald.settled();
  const sentBefore = receiver.requests.length;
  const repeated = await herald.executor.report(task.id, again);
  const batched = await herald.executor.reportBatch([{ taskId: task.id, ...again }]);
  await herald.settled();
  expect(first.duplicate).toBe(false);
  expect(repeated).toEqual({ ...first, duplicate: true });
  expect(batched).toEqual([{ ...first, duplicate: true }]);
  expect(receiver.requests).toHaveLength(sentBefore);
});

test('facts that race over two API processes, each reported twice, are each accepted and delivered once, in one row', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START);
  const accepted: { transitionId: string; duplicate: boolean }[] = [];
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) => {
        const via = herald.apis[index % 2];
        const path = `/api/internal/tasks/${task.id}/transitions`;
        const body = checkpoint(`c${round}-${Math.floor(index / 2) % 2}`);
        return herald.request('POST', path, { key: herald.executor.key, body, ...(via && { via }) });
      }),
    );
    accepted.push(...answers.map((answer) => bodyOf(answer, 200) as { transitionId: string; duplicate: boolean }));
  }
  await herald.settled();
  expect(accepted.filter(({ duplicate }) => !duplicate)).toHaveLength(20);
  expect(new Set(accepted.map(({ transitionId }) => transitionId)).size).toBe(20);
  const sequences = webhooksAt(receiver).map(({ body }) => body.sequence);
  expect(sequences.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

test('a draft of a checkpoint that comes again as one that emits, over two API processes at once, emits once, under the id of the fact', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  const draft = checkpoint('c1', { canonical: false, outcome: { summary: 'perhaps' } });
  const first = await herald.executor.report(task.id, START, draft);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => {
      const via = herald.apis[index % 2];
      const path = `/api/internal/tasks/${task.id}/transitions`;
      return herald.request('POST', path, { key: herald.executor.key, body: checkpoint('c1'), ...(via && { via }) });
    }),
  );
  const raised = answers.map((answer) => bodyOf(answer, 200) as { transitionId: string; duplicate: boolean });
  await herald.settled();
  expect(raised.filter(({ duplicate }) => !duplicate)).toEqual([first]);
  expect(raised.filter(({ duplicate }) => duplicate)).toEqual(
    Array.from({ length: 7 }, () => ({ ...first, duplicate: true })),
  );
  expect(webhooksAt(receiver).map(({ event, body }) => [event, body.id, body.outcome])).toEqual([
    ['task.check_in', first.transitionId, { summary: 'at c1', progress: 0.5 }],
  ]);
  expect(await herald.executor.report(task.id, draft)).toEqual({ ...first, duplicate: true, differs: true });
  expect(receiver.requests).toHaveLength(1);
});

test.each([
  ['done', DONE],
  ['canceled', CANCELED],
] as const)(
  'the legacy close as %s and the canonical path yield the same delivery ids from the same state',
  async (status, report) => {
    const workspace = await herald.createWorkspace();
    const [receiver, callback] = [await herald.startReceiver(), await herald.startReceiver()];
    await workspace.registerReceiver({ url: receiver.url });
    const task = await workspace.createTask({ callback: { url: callback.url } });
    await herald.executor.report(task.id, START, checkpoint('c1'));
    await herald.settled();
    const before = await takeSnapshot(herald.redis);

    const closed = await workspace.closeTask(task.id, status);
    await herald.settled();
    await restoreSnapshot(herald.redis, before);
    const reported = await herald.executor.report(task.id, report);
    await herald.settled();

    expect(reported).toEqual(closed);
    for (const endpoint of [receiver, callback]) {
      const [, legacy, canonical] = webhooksAt(endpoint);
      expect(canonical?.deliveryId).toBe(legacy?.deliveryId);
      const { created_at: _ours, ...canonicalBody } = canonical?.body ?? { created_at: '' };
      const { created_at: _theirs, ...legacyBody } = legacy?.body ?? { created_at: '' };
      expect(canonicalBody).toEqual(legacyBody);
    }
  },
);

test('the sequence rises strictly over what is emitted, and what emits nothing takes no number', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(
    task.id,
    START,
    checkpoint('c1'),
    checkpoint('silent', { material: false }),
    checkpoint('c2'),
    actionRequired(1),
    actionRequired(2),
    DONE,
  );
  await herald.settled();
  const bySequence = webhooksAt(receiver).sort((a, b) => a.body.sequence - b.body.sequence);
  expect(bySequence.map(({ event, body }) => [body.sequence, event, body.task.status])).toEqual([
    [1, 'task.check_in', 'running'],
    [2, 'task.check_in', 'running'],
    [3, 'task.requires_action', 'requires_action'],
    [4, 'task.requires_action', 'requires_action'],
    [5, 'task.done', 'done'],
  ]);
});

test('the body says what happened, in the names that the contract gives', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  const { transitionId } = await herald.executor.report(task.id, START, actionRequired(3));
  const { request, body, event, deliveryId } = readWebhook(await receiver.next());
  expect(request).toMatchObject({ method: 'POST', path: '/hook' });
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^Herald\/\d/) as string,
    'webhook-id': deliveryId,
  });
  expect(event).toBe('task.requires_action');
  expect(deliveryId).toMatch(/^dlv_[a-z2-7]{32}$/);
  expect(body).toEqual({
    id: transitionId,
    event: 'task.requires_action',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    sequence: 1,
    task: { id: task.id, status: 'requires_action' },
    outcome: { summary: 'waiting for approval' },
    approval_request: { id: 'pay', title: 'Pay the invoice', description: '12 EUR' },
    action_version: 3,
    decision_items: [
      { id: 'yes', label: 'Pay', description: 'now' },
      { id: 'no', label: 'Refuse' },
    ],
    api_resolvable: true,
    action_url: `https://app.example.com/tasks/${task.id}/actions/3`,
  });
});
