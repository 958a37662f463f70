import { problemOf } from '../support/problems.ts';
import { CANCELED, checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { webhooksAt } from '../support/webhooks.ts';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald();
});
afterAll(() => herald[Symbol.asyncDispose]());

test('a batch is judged item by item, in order, and a bad item spoils no other', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const [a, b] = [await workspace.createTask(), await workspace.createTask()];
  const results = await herald.executor.reportBatch([
    { taskId: a.id, ...checkpoint('too-early') },
    { taskId: a.id, ...START },
    { taskId: b.id, ...START },
    'not an object',
    { taskId: a.id, ...checkpoint('c1') },
    { taskId: a.id, type: 'explode' },
    { taskId: 'task_nobody', ...START },
    { taskId: a.id, ...checkpoint('c1') },
    { taskId: a.id, ...DONE, surprise: 1 },
    { taskId: a.id, ...DONE },
    { taskId: b.id, ...CANCELED },
    { taskId: a.id, ...checkpoint('too-late') },
    { ...DONE },
  ]);
  const summary = results.map((result) =>
    'error' in result ? result.error.code : `${result.status}${result.duplicate ? ' again' : ''}`,
  );
  expect(summary).toEqual([
    'invalid_transition',
    'running',
    'running',
    'validation_failed',
    'running',
    'validation_failed',
    'task_not_found',
    'running again',
    'validation_failed',
    'done',
    'canceled',
    'invalid_transition',
    'validation_failed',
  ]);
  await herald.settled();
  const sent = webhooksAt(receiver).map(({ body }) => `${body.task.id} ${body.sequence} ${body.event}`);
  expect(sent.sort()).toEqual([`${a.id} 1 task.check_in`, `${a.id} 2 task.done`, `${b.id} 1 task.canceled`].sort());
});

test('a bad item says what is wrong with it, by its place in the item', async () => {
  const [result] = await herald.executor.reportBatch([{ taskId: 'task_x', type: 'checkpoint', checkpointId: 5 }]);
  expect(result).toMatchObject({
    error: {
      code: 'validation_failed',
      status: 422,
      errors: expect.arrayContaining([
        { path: 'checkpointId', pointer: '/checkpointId', code: 'wrong_type', message: expect.any(String) as string },
        { path: 'canonical', pointer: '/canonical', code: 'required', message: expect.any(String) as string },
      ]) as object[],
    },
  });
});

test('500 transitions of 50 Tasks in one batch are delivered each once, and 501 are refused', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const tasks = await Promise.all(Array.from({ length: 50 }, () => workspace.createTask()));
  const perTask = [START, ...Array.from({ length: 9 }, (_, index) => checkpoint(`c${index}`))];
  const batch = perTask.flatMap((report) => tasks.map(({ id }) => ({ taskId: id, ...report })));
  const results = await herald.executor.reportBatch(batch);
  expect(results.filter((result) => 'error' in result || result.duplicate)).toEqual([]);
  await herald.settled();
  const sent = webhooksAt(receiver);
  expect(sent).toHaveLength(450);
  expect(new Set(sent.map(({ deliveryId }) => deliveryId)).size).toBe(450);
  for (const { id } of tasks) {
    const sequences = sent.filter(({ body }) => body.task.id === id).map(({ body }) => body.sequence);
    expect(sequences.sort((x, y) => x - y)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  }
  const tooMany = await herald.executor.request('POST', '/api/internal/transitions', {
    body: { transitions: [...batch, batch[0]] },
  });
  expect(problemOf(tooMany)).toMatchObject({ status: 422, code: 'validation_failed' });
});

test('a batch body may be larger than any other, up to 4 MiB', async () => {
  const workspace = await herald.createWorkspace();
  const task = await workspace.createTask();
  const result = 'x'.repeat(1_000_000);
  const answer = await herald.executor.reportBatch([
    { taskId: task.id, ...START },
    { taskId: task.id, ...DONE, result },
  ]);
  expect(answer).toMatchObject([{ status: 'running' }, { status: 'done' }]);
  expect((await workspace.readTask(task.id)).result).toBe(result);
  const tooLarge = await herald.executor.request('POST', '/api/internal/transitions', {
    body: { transitions: [{ taskId: task.id, ...DONE, result: 'x'.repeat(4_200_000) }] },
  });
  expect(problemOf(tooLarge)).toMatchObject({ status: 413, code: 'payload_too_large' });
});
