import { waitFor } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { readDelivery, shardKeys } from '../../support/delivery-state.ts';
import { auditTrailOf } from '../../support/audit-trail-of.ts';
import { createOperatorClient, OPERATOR_ENV } from '../../support/operator-client.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { startScene } from './scene.ts';

const ENV = { ...OPERATOR_ENV, OPERATOR_WRITE: 'true' };

test('a change from another site is refused before anything is done; from the board itself it is made', async () => {
  await using herald = await startHerald({ workers: 0, env: ENV });
  const operator = createOperatorClient(herald);
  const isPaused = async () => (await operator.readQueue('deliveries')).isPaused;
  const origin = herald.apis[0]?.origin ?? '';
  const pause = (headers: Record<string, string>) =>
    operator.request('PUT', '/api/queues/deliveries/pause', { headers });

  for (const headers of [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ]) {
    const { status, body } = await pause(headers);
    expect({ status, body }).toMatchObject({ status: 403, body: { code: 'foreign_origin' } });
  }
  const bare = await pause({});
  expect(bare.body).toMatchObject({
    code: 'foreign_origin',
    detail: `send the header Origin: ${origin}; browsers do by themselves`,
  });
  await expect(isPaused()).resolves.toBe(false);

  expect((await pause({ origin })).status).toBe(200);
  await expect(isPaused()).resolves.toBe(true);
  expect((await operator.act('PUT', '/api/queues/deliveries/resume')).status).toBe(200);
  await expect(isPaused()).resolves.toBe(false);
  expect((await operator.act('PUT', '/api/queues/pause')).status).toBe(200);
  await expect(isPaused()).resolves.toBe(true);
  const { entries } = await auditTrailOf(herald).list({ limit: 10 });
  const facts = { by: 'operator', user: 'olga', address: '127.0.0.1' };
  expect(entries).toMatchObject([
    { ...facts, action: 'pauseQueue', target: 'every queue' },
    { ...facts, action: 'resumeQueue', target: 'deliveries' },
    { ...facts, action: 'pauseQueue', target: 'deliveries' },
  ]);
});

test('a paused queue sends nothing but test events; resumed, it goes on', async () => {
  await using herald = await startHerald({ env: ENV });
  const operator = createOperatorClient(herald);
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const registered = await workspace.registerReceiver({ url: receiver.url });
  await operator.act('PUT', '/api/queues/deliveries/pause');
  const emitted = await createDeliveryClient(workspace).emit();
  await waitFor('the job to wait', async () => (await operator.readQueue('deliveries')).counts.waiting === 1);
  expect((await operator.readQueue('deliveries')).hasWorkers).toBe(true);
  expect(receiver.requests).toEqual([]);
  const tested = await workspace.request('POST', `/api/public/webhooks/${registered.id}/test`);
  expect(tested).toMatchObject({ status: 200, body: { delivered: true } });
  await receiver.next();
  expect(receiver.requests).toHaveLength(1);
  await operator.act('PUT', '/api/queues/deliveries/resume');
  expect((await receiver.next()).headers['x-service-delivery']).toBe(emitted.to(registered));
  await herald.settled();
});

test('promoting a delayed delivery, or retrying a failed one, makes one attempt now', async () => {
  await using scene = await startScene({ OPERATOR_WRITE: 'true' });
  const { herald, receiver, delayed, failed } = scene;
  const operator = createOperatorClient(herald);
  // The board finds a job by the id in the body of its event, too.
  const transitionId = await herald.redis.hget(shardKeys().delivery(delayed.deliveryId), 'x');
  const byTransition = await operator.readJob('deliveries', transitionId ?? '');
  expect(byTransition).toMatchObject({ job: { id: delayed.deliveryId } });
  const seen = receiver.requests.length;
  const before = await readDelivery(herald.redis, delayed.deliveryId);
  expect((await operator.act('PUT', `/api/queues/deliveries/${delayed.deliveryId}/promote`)).status).toBe(204);
  expect((await operator.act('PUT', `/api/queues/deliveries/${failed.deliveryId}/retry`)).status).toBe(204);
  await expect(operator.readJob('deliveries', failed.deliveryId)).resolves.toMatchObject({ status: 'waiting' });
  await herald.startWorker({ RETRY_SCHEDULE: '1h,1h,1h' });
  const requests = await receiver.waitForCount(seen + 2);
  expect(
    requests
      .slice(seen)
      .map(({ headers }) => headers['x-service-delivery'])
      .sort(),
  ).toEqual([delayed.deliveryId, failed.deliveryId].sort());
  // Both stand beside the schedule, as any redelivery does: what waits keeps its tries, and what had failed stays so.
  const { attempts, tries } = before;
  await waitFor('the attempts to be recorded', async () => {
    const both = [
      await readDelivery(herald.redis, failed.deliveryId),
      await readDelivery(herald.redis, delayed.deliveryId),
    ];
    return both[0]?.attempts === 2 && both[1]?.attempts === attempts + 1;
  });
  expect((await readDelivery(herald.redis, delayed.deliveryId)).tries).toBe(tries);
  expect((await operator.readQueue('deliveries', 'failed')).jobs.map(({ id }) => id)).toEqual([failed.deliveryId]);
  await expect(operator.readJob('deliveries', failed.deliveryId)).resolves.toMatchObject({ status: 'failed' });
  await expect(operator.readJob('deliveries', delayed.deliveryId)).resolves.toMatchObject({ status: 'delayed' });
}, 60_000);

describe('what would only confuse', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ workers: 0, env: ENV });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test.each([
    ['PUT', '/deliveries/empty'],
    ['PUT', '/deliveries/obliterate'],
    ['PUT', '/deliveries/promote'],
    ['PUT', '/deliveries/clean/delayed'],
    ['POST', '/deliveries/add'],
    ['PUT', '/deliveries/retry/failed'],
    ['PUT', '/deliveries/concurrency'],
    ['PUT', '/deliveries/dlv_x/clean'],
    ['PATCH', '/deliveries/dlv_x/update-data'],
  ])('%s %s is refused also to an operator who may write, with the reason', async (method, path) => {
    const answer = await createOperatorClient(herald).act(method, `/api/queues${path}`, { body: {} });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('A job is a delivery');
  });
});
