import { createDeliveryClient } from '../support/delivery-client.ts';
import { bodyOf } from '../support/http-request.ts';
import { under } from '../support/idempotency-records.ts';
import { dumpRedis, toText } from '../support/redis-dump.ts';
import { actionRequired, checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';

jest.setTimeout(60_000);

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ env: { RETRY_SCHEDULE: '1h' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

const holds = async (mark: string) => toText(await dumpRedis(herald.redis)).includes(mark);

let scenes = 0;

/** A workspace with a Task; `mark` stands in all content, and in nothing else. Its receiver takes only check-ins. */
async function startScene() {
  const mark = `canary-${++scenes}`;
  const content = (where: string) => ({ summary: `${mark} ${where}`, note: [`${mark} ${where}`] });
  const answer = { headers: { 'content-type': `text/${mark}` }, body: `${mark} answer` };
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver(({ headers }) => ({
    ...answer,
    status: headers['x-service-event'] === 'task.check_in' ? 200 : 503,
  }));
  const callback = await herald.startReceiver([{ ...answer, status: 200 }]);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const { id: taskId } = await workspace.createTask({ input: content('input'), callback: { url: callback.url } });
  const erase = (id = taskId) => workspace.request('DELETE', `/tasks/${id}/payloads`);
  return { mark, content, workspace, registered, taskId, erase, deliveries: createDeliveryClient(workspace) };
}

test('all that a closed Task held is gone from Redis, and what was delivered stays as a fact', async () => {
  const { mark, content, workspace, registered, taskId, erase, deliveries } = await startScene();
  await herald.executor.report(taskId, START, checkpoint('c1', { outcome: content('checkpoint') }));
  await herald.executor.report(
    taskId,
    actionRequired(1, { outcome: content('action'), decisionItems: [{ id: 'yes', label: `${mark} label` }] }),
  );
  const send = (path: string, body: object) =>
    workspace.request('POST', `/tasks/${taskId}${path}`, under(`key-of-${path}`, { body }));
  const message = await send('/messages', { text: `${mark} message` });
  const decision = await send('/approvals/pay/resolve', { decision: `${mark} decision`, actionVersion: 1 });
  expect([message.status, decision.status]).toEqual([200, 200]);
  expect((await erase()).body).toMatchObject({
    status: 409,
    code: 'task_open',
    detail: expect.stringMatching(/running/) as string,
  });

  await herald.executor.report(taskId, {
    ...DONE,
    result: content('result'),
    outcome: content('done'),
    usage: { cost: 7 },
  });
  const { deliveries: all } = await deliveries.listByTask(taskId);
  for (const { id } of all) await deliveries.waitForAttempts(id, 1);
  expect(await holds(mark)).toBe(true);

  const { erasedAt } = bodyOf(await erase(), 200) as { erasedAt: string };
  expect(await holds(mark)).toBe(false);
  expect(bodyOf(await erase(), 200)).toEqual({ taskId, erasedAt });

  const task = await workspace.readTask(taskId);
  expect(task).toMatchObject({ status: 'done', result: null, outcome: null, usage: { cost: 7 }, erasedAt });
  expect(await herald.executor.readTask(taskId)).toMatchObject({
    input: null,
    messages: [],
    decisions: [],
    lastCheckpoint: null,
  });
  const after = await Promise.all(all.map(({ id }) => deliveries.read(id)));
  expect(after.every((delivery) => 'erasedAt' in delivery)).toBe(true);
  for (const { attempts } of after) {
    expect(attempts).toEqual([
      {
        at: expect.any(String) as string,
        durationMs: expect.any(Number) as number,
        status: expect.any(Number) as number,
        address: '127.0.0.1',
        keyIds: [expect.stringMatching(/^[0-9a-f]{6}$/) as string],
      },
    ]);
  }
  const ofReceiver = after.filter(({ endpointId }) => endpointId === registered.id);
  expect(ofReceiver.map(({ status, reason }) => ({ status, reason }))).toEqual([
    { status: 'canceled', reason: 'payload_erased' },
    { status: 'canceled', reason: 'payload_erased' },
    { status: 'delivered', reason: undefined },
  ]);
  for (const { id } of after) {
    expect((await deliveries.tryRedeliver(id)).body).toMatchObject({ status: 409, code: 'payload_erased' });
  }
  await herald.settled();

  // The same answer, though Redis doesn't have its text any more.
  expect((await send('/messages', { text: `${mark} message` })).body).toEqual(message.body);
  expect(await holds(mark)).toBe(false);
});

test('what an executor reports late is not added to a Task that was erased', async () => {
  const { mark, content, workspace, taskId, erase } = await startScene();
  await workspace.closeTask(taskId);
  bodyOf(await erase(), 200);
  const late = await herald.executor.report(taskId, { ...DONE, result: content('late'), outcome: content('late') });
  expect(late).toMatchObject({ duplicate: true });
  expect(await workspace.readTask(taskId)).toMatchObject({ result: null, outcome: null });
  expect(await holds(mark)).toBe(false);
});

test('another workspace’s Task is not found, and keeps all', async () => {
  const { workspace, taskId } = await startScene();
  await workspace.closeTask(taskId);
  const { erase } = await startScene();
  expect((await erase(taskId)).body).toMatchObject({ status: 404, code: 'task_not_found' });
  expect(await workspace.readTask(taskId)).not.toHaveProperty('erasedAt');
});
