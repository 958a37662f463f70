import { waitFor } from '@herald/test-kit';
import { verify } from '@octokit/webhooks-methods';
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
    expect(Object.keys(webhook.body)).toEqual(['id', 'event', 'created_at']);
    const { rawBody, headers } = webhook.request;
    await expect(verify(secret, rawBody.toString(), headers['x-service-signature'] ?? '')).resolves.toBe(true);
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
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ delivered: false, error: 'connection_refused' });
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
    const refused = (await tests).filter(({ status }) => status !== 200);
    expect(refused.map((answer) => problemOf(answer).code)).toEqual(Array.from({ length: 55 }, () => 'rate_limited'));
    expect(silent.requests).toHaveLength(5);
    expect((await greedy.sendTest(id)).status).toBe(200);
  });

  test('a receiver that never answers is told as a timeout, at the deadline', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver(['hang']);
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    const answer = await workspace.sendTest(id);
    expect(answer.body).toEqual({ delivered: false, error: 'timeout_response' });
    expect(answer.durationMs).toBeLessThan(4_000);
    await herald.settled();
    expect(receiver.requests).toHaveLength(1);
  });

  test('a disabled receiver and one whose filter excludes it get it all the same', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    const filtered = await workspace.registerReceiver({ url: receiver.url, events: ['task.done'] });
    const disabled = await workspace.registerReceiver({ url: receiver.url, enabled: false });
    for (const { id } of [filtered, disabled]) {
      expect((await workspace.sendTest(id)).body).toEqual({ delivered: true, receiverStatus: 200 });
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
    expect(answer.body).toEqual({ delivered: true, receiverStatus: 200 });
    expect(waiting.length).toBeGreaterThan(90);
    expect(answer.durationMs).toBeLessThan(1_000);
    await workspace.request('DELETE', `/api/public/webhooks/${removed.id}`);
  });
});

describe('without a worker', () => {
  test('it is unavailable at once when there never was one, and readyz says so', async () => {
    await using herald = await startHerald({ workers: 0 });
    const workspace = await herald.createWorkspace();
    const { id } = await workspace.registerReceiver({ url: 'https://hooks.example.com/' });
    const answer = await workspace.sendTest(id);
    expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    expect(answer.durationMs).toBeLessThan(1_000);
    expect(await herald.request('GET', '/readyz')).toMatchObject({ status: 200, body: { workers: 0 } });
  });

  test('it is unavailable within seconds when the worker was killed, and is not sent by one that comes later', async () => {
    await using herald = await startHerald();
    const workspace = await herald.createWorkspace();
    const [receiver, other] = [await herald.startReceiver(), await herald.startReceiver()];
    const { id } = await workspace.registerReceiver({ url: receiver.url, events: ['webhook.test'] });
    await workspace.registerReceiver({ url: other.url });
    await herald.workers[0]?.kill();
    const answer = await workspace.sendTest(id);
    expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.durationMs).toBeLessThan(8_000);

    await herald.startWorker();
    const task = await workspace.createTask();
    await herald.executor.report(task.id, START, DONE);
    await other.next();
    await waitFor('the queue to be empty', async () => (await readPendingWork(herald.redis)).jobs === 0);
    expect(receiver.requests).toEqual([]);
  }, 40_000);

  test('a worker that stopped in an orderly way is known to be gone at once', async () => {
    await using herald = await startHerald();
    const workspace = await herald.createWorkspace();
    const { id } = await workspace.registerReceiver({ url: 'https://hooks.example.com/' });
    await herald.workers[0]?.stop();
    const answer = await workspace.sendTest(id);
    expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.durationMs).toBeLessThan(1_000);
  });
});
