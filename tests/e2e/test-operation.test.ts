import { waitFor } from '@herald/test-kit';
import { EVENT_NAMES, TaskEventName } from '@herald/core';
import { isSample, parseEvent, verifyStandard } from '@herald/receiver';
import { verify } from '@octokit/webhooks-methods';
import { createDeliveryClient } from '../support/delivery-client.ts';
import { readPendingWork } from '../support/delivery-state.ts';
import { problemOf } from '../support/problems.ts';
import { readQueuedIds } from '../support/queue-state.ts';
import { checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { webhooksAt } from '../support/webhooks.ts';

describe('with a worker', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ env: { CONCURRENCY: '2', DELIVERY_TIMEOUT: '2s', RETRY_SCHEDULE: '10ms' } });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test('a test event is signed, says that it is one, and its answer is reported', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver([204]);
    const { id, secret } = await workspace.registerReceiver({ url: receiver.url });
    const answer = await workspace.sendTest(id);
    expect(answer).toMatchObject({ status: 200, body: { delivered: true, receiverStatus: 204 } });
    const [webhook] = webhooksAt(receiver);
    if (!webhook) throw new Error('nothing came');
    expect(webhook.event).toBe('webhook.test');
    expect(webhook.request.headers).not.toHaveProperty('x-service-sample');
    expect(Object.keys(webhook.body)).toEqual(['id', 'event', 'created_at']);
    const { rawBody, headers } = webhook.request;
    await expect(verify(secret, rawBody.toString(), headers['x-service-signature'] ?? '')).resolves.toBe(true);
  });

  test('its answer leads to the delivery, and has the time it took and the start of what was answered', async () => {
    const workspace = await herald.createWorkspace();
    const body = `<b>out of order\u001b[31m</b>${'x'.repeat(2_000)}`;
    const receiver = await herald.startReceiver([{ status: 503, body, headers: { 'retry-after': '7' } }, 204]);
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    const outcome = (await workspace.sendTest(id)).body as Record<string, unknown>;
    const delivery = await createDeliveryClient(workspace).read(String(outcome.deliveryId));
    const [attempt] = delivery.attempts;
    expect(outcome).toEqual({
      delivered: false,
      receiverStatus: 503,
      answer: body.slice(0, 1_024),
      deliveryId: webhooksAt(receiver)[0]?.deliveryId,
      durationMs: attempt?.durationMs,
    });
    expect(attempt).toMatchObject({ status: 503, headers: { 'retry-after': '7' }, answer: outcome.answer });
    // An answer without text has none.
    expect((await workspace.sendTest(id)).body).toEqual({
      delivered: true,
      receiverStatus: 204,
      deliveryId: expect.stringMatching(/^dlv_/) as string,
      durationMs: expect.any(Number) as number,
    });
  });

  test('a sample of any event is made and signed like a real one, and says in its header and its ids that it is none', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    const { id, secret } = await workspace.registerReceiver({ url: receiver.url, events: ['task.done'] });
    const deliveries = createDeliveryClient(workspace);
    for (const event of TaskEventName.options) {
      const outcome = await workspace.sendTest(id, event);
      expect(outcome).toMatchObject({ status: 200, body: { delivered: true, receiverStatus: 200 } });
      const { deliveryId } = outcome.body as { deliveryId: string };
      const webhook = webhooksAt(receiver).at(-1);
      if (!webhook) throw new Error('nothing came');
      const { rawBody, headers } = webhook.request;
      expect(headers).toMatchObject({ 'x-service-event': event, 'x-service-sample': 'true' });
      expect(webhook).toMatchObject({ deliveryId, body: { event } });
      expect(webhook.body.id).toMatch(/^trn_sample/);
      await expect(verify(secret, rawBody.toString(), headers['x-service-signature'] ?? '')).resolves.toBe(true);
      expect(verifyStandard(rawBody, headers, secret)).toBe(true);
      expect(isSample(parseEvent(rawBody))).toBe(true);
      // It is kept as the test event that it is, of no Task.
      const read = await deliveries.read(deliveryId);
      expect(read).toMatchObject({ event: 'webhook.test', sampleOf: event, taskId: null, status: 'delivered' });
      expect(read.request.headers).toMatchObject({ 'x-service-event': event, 'x-service-sample': 'true' });
      expect(read.request.body).toBe(rawBody.toString());
      // Its Task is not there, whatever is asked of it.
      const { id: taskId } = webhook.body.task;
      expect(taskId).toMatch(/^task_sample/);
      const task = await workspace.request('GET', `/tasks/${taskId}`);
      const body = { decision: 'yes', actionVersion: 1 };
      const resolved = await workspace.request('POST', `/tasks/${taskId}/approvals/sample/resolve`, { body });
      for (const answer of [task, resolved]) {
        expect(problemOf(answer)).toMatchObject({ status: 404, code: 'task_not_found' });
      }
    }
    const first = webhooksAt(receiver)[0];
    // A redelivery of a sample is still one.
    await deliveries.redeliver(first?.deliveryId ?? '');
    const again = await receiver.waitForCount(TaskEventName.options.length + 1);
    expect(again.at(-1)).toMatchObject({
      rawBody: first?.request.rawBody,
      headers: { 'x-service-event': first?.event, 'x-service-sample': 'true' },
    });
    const { deliveries: done } = await deliveries.listAll({ event: 'task.done' });
    expect(done).toEqual([]);
    const { deliveries: tests } = await deliveries.listAll({ event: 'webhook.test' });
    expect(tests.map(({ sampleOf }) => sampleOf).sort()).toEqual([...TaskEventName.options].sort());
  });

  test('an event that there is not is refused with those that there are, and nothing is sent', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    const problem = problemOf(await workspace.sendTest(id, 'task.exploded'));
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ path: 'event' }] });
    for (const event of EVENT_NAMES) expect(problem.errors?.[0]?.message).toContain(event);
    expect(receiver.requests).toEqual([]);
  });

  test('every test event is a new one', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    await workspace.sendTest(id);
    await workspace.sendTest(id);
    expect(new Set(webhooksAt(receiver).map(({ deliveryId }) => deliveryId)).size).toBe(2);
  });

  test.each([500, 302, 410, 404])(
    'an answer of %d is not delivered, is told, and is never tried again',
    async (status) => {
      const workspace = await herald.createWorkspace();
      const receiver = await herald.startReceiver([status]);
      const { id } = await workspace.registerReceiver({ url: receiver.url });
      const answer = await workspace.sendTest(id);
      expect(answer).toMatchObject({ status: 200, body: { delivered: false, receiverStatus: status } });
      await herald.settled();
      expect(receiver.requests).toHaveLength(1);
      const found = await workspace.request('GET', `/api/public/webhooks/${id}`);
      expect(found.body).toMatchObject({ enabled: true, health: { consecutiveFailures: 0 } });
    },
  );

  test('a refused connection is told by its code, without a status', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    await receiver.close();
    const answer = await workspace.sendTest(id);
    expect(answer).toMatchObject({
      status: 200,
      body: { delivered: false, receiverStatus: null, error: 'connection_refused' },
    });
  });

  test('a workspace tests five receivers at a time, so that silent ones leave slots to others', async () => {
    const [greedy, other] = [await herald.createWorkspace(), await herald.createWorkspace()];
    const silent = await herald.startReceiver(['hang']);
    const { id } = await greedy.registerReceiver({ url: silent.url });
    const tests = Promise.all(Array.from({ length: 60 }, () => greedy.sendTest(id)));
    const receiver = await herald.startReceiver();
    await waitFor('the silent receiver to be tested', () => silent.requests.length > 0);
    const fine = await other.sendTest((await other.registerReceiver({ url: receiver.url })).id);
    expect(fine).toMatchObject({ status: 200, body: { delivered: true } });
    const answers = await tests;
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map((answer) => problemOf(answer).code))).toEqual(new Set(['rate_limited']));
    expect(silent.requests).toHaveLength(60 - refused.length);
    // Five in each 2 s: on a busy machine some come when the first have ended.
    const rounds = Math.floor(Math.max(...answers.map(({ durationMs }) => durationMs)) / 1_950);
    expect(silent.requests.length).toBeLessThanOrEqual(5 * rounds);
    expect((await greedy.sendTest(id)).status).toBe(200);
  });

  test('a receiver that never answers is told as a timeout, at the deadline', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver(['hang']);
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    const answer = await workspace.sendTest(id);
    expect(answer.body).toMatchObject({ delivered: false, error: 'timeout_response' });
    expect((answer.body as { durationMs: number }).durationMs).toBeGreaterThanOrEqual(1_990);
    expect(answer.durationMs).toBeLessThan(10_000);
    await herald.settled();
    expect(receiver.requests).toHaveLength(1);
  });

  test('a disabled receiver and one whose filter excludes it get it all the same', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    const filtered = await workspace.registerReceiver({ url: receiver.url, events: ['task.done'] });
    const disabled = await workspace.registerReceiver({ url: receiver.url, enabled: false });
    for (const { id } of [filtered, disabled]) {
      expect((await workspace.sendTest(id)).body).toMatchObject({ delivered: true, receiverStatus: 200 });
    }
    expect(webhooksAt(receiver).map(({ event }) => event)).toEqual(['webhook.test', 'webhook.test']);
  });

  test('it reaches only the receiver that was asked for', async () => {
    const workspace = await herald.createWorkspace();
    const [asked, bystander] = [await herald.startReceiver(), await herald.startReceiver()];
    const { id } = await workspace.registerReceiver({ url: asked.url });
    await workspace.registerReceiver({ url: bystander.url });
    await workspace.sendTest(id);
    await herald.settled();
    expect(bystander.requests).toEqual([]);
  });

  test('deliveries that wait for a dead receiver do not delay it', async () => {
    const workspace = await herald.createWorkspace();
    const [dead, healthy] = [await herald.startReceiver(['hang']), await herald.startReceiver()];
    const removed = await workspace.registerReceiver({ url: dead.url, events: ['task.check_in'] });
    const { id } = await workspace.registerReceiver({ url: healthy.url, events: ['task.done'] });
    const task = await workspace.createTask();
    await herald.executor.report(task.id, START);
    await herald.executor.reportBatch(
      Array.from({ length: 100 }, (_, index) => ({ taskId: task.id, ...checkpoint(`c${index}`) })),
    );
    await dead.waitForCount(2); // all that the worker sends at once hangs there
    const answer = await workspace.sendTest(id);
    const { waiting } = await readQueuedIds(herald.redis);
    expect(answer.body).toMatchObject({ delivered: true, receiverStatus: 200 });
    expect(waiting.length).toBeGreaterThan(90);
    await workspace.request('DELETE', `/api/public/webhooks/${removed.id}`);
  });
});

describe('without a worker', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ workers: 0 });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test('it is unavailable at once when there never was one, and readyz says so', async () => {
    const workspace = await herald.createWorkspace();
    const { id } = await workspace.registerReceiver({ url: 'https://hooks.example.com/' });
    const answer = await workspace.sendTest(id);
    expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    expect(answer.durationMs).toBeLessThan(4_000);
    expect(await herald.request('GET', '/readyz')).toMatchObject({ status: 200, body: { workers: 0 } });
  });

  test('a worker that stopped in an orderly way is known to be gone at once', async () => {
    const worker = await herald.startWorker();
    const workspace = await herald.createWorkspace();
    const { id } = await workspace.registerReceiver({ url: 'https://hooks.example.com/' });
    await worker.stop();
    const answer = await workspace.sendTest(id);
    expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.durationMs).toBeLessThan(4_000);
  });

  test('it is unavailable within seconds when the worker was killed, and is not sent by one that comes later', async () => {
    const worker = await herald.startWorker();
    const workspace = await herald.createWorkspace();
    const [receiver, other] = [await herald.startReceiver(), await herald.startReceiver()];
    const { id } = await workspace.registerReceiver({ url: receiver.url, events: ['webhook.test'] });
    await workspace.registerReceiver({ url: other.url });
    await worker.kill();
    const answer = await workspace.sendTest(id);
    expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.durationMs).toBeLessThan(12_000);

    await herald.startWorker();
    const task = await workspace.createTask();
    await herald.executor.report(task.id, START, DONE);
    await other.next();
    await waitFor('the queue to be empty', async () => (await readPendingWork(herald.redis)).jobs === 0);
    expect(receiver.requests).toEqual([]);
  }, 40_000);
});
