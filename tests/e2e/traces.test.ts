import { freePort } from '@herald/test-kit';
import { expectDelivery } from '../support/expect-delivery.ts';
import { DONE, START } from '../support/reports.ts';
import { startCollector } from '../support/start-collector.ts';
import { startHerald } from '../support/start-herald.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

test.each([
  ['by default receivers are told nothing of it', {}, false],
  ['receivers are told where that is asked for', { TRACEPARENT_TO_RECEIVERS: 'true' }, true],
])("a trace goes from the executor's request through the queue to every attempt; %s", async (_, more, isTold) => {
  await using collector = await startCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, RETRY_SCHEDULE: '10ms', ...more };
  await using herald = await startHerald({ env });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([500, 200]);
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START);
  const answer = await herald.executor.request('POST', `/api/internal/tasks/${task.id}/transitions`, {
    body: DONE,
    headers: { traceparent: `00-${TRACE_ID}-${CALLER}-01` },
  });
  expect(answer.status).toBe(200);
  await herald.settled();
  for (const each of [...herald.apis, ...herald.workers]) await each.stop(); // which exports what is left

  const ours = collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
  const request = ours.find(({ service }) => service === 'herald-api');
  expect(request).toMatchObject({
    name: 'POST /api/internal/tasks/:id/transitions',
    parentSpanId: CALLER,
    attributes: { 'http.response.status_code': 200 },
  });
  const deliveryId = receiver.requests[0]?.headers['x-service-delivery'];
  const attempts = ours.filter(({ service }) => service === 'herald-worker');
  expect(attempts.map(({ name, parentSpanId, attributes }) => ({ name, parentSpanId, ...attributes }))).toMatchObject([
    { name: 'deliver task.done', parentSpanId: request?.spanId, 'http.response.status_code': 500 },
    { name: 'deliver task.done', parentSpanId: request?.spanId, 'http.response.status_code': 200 },
  ]);
  for (const { attributes } of attempts) {
    expect(attributes).toMatchObject({ 'herald.delivery_id': deliveryId, 'herald.task_id': task.id });
  }
  expect(receiver.requests.map(({ headers }) => headers.traceparent)).toEqual(
    attempts.map(({ spanId }) => (isTold ? `00-${TRACE_ID}-${spanId}-01` : undefined)),
  );
});

test('a caller whose traceparent is garbage gets a trace of its own', async () => {
  await using collector = await startCollector();
  await using herald = await startHerald({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }, workers: 0 });
  const workspace = await herald.createWorkspace();
  const answer = await workspace.request('GET', '/tasks/task_x', { headers: { traceparent: '00-zz-\u00ff-01' } });
  expect(answer.status).toBe(404);
  for (const api of herald.apis) await api.stop();
  expect(collector.spans).toMatchObject([{ name: 'GET /tasks/:id', service: 'herald-api' }]);
  expect(collector.spans[0]?.parentSpanId).toBeUndefined();
});

test('a collector that is away costs traces, and nothing else', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` };
  await using herald = await startHerald({ env });
  await expectDelivery(herald);
  for (const each of [...herald.apis, ...herald.workers]) expect((await each.stop()).code).toBe(0);
});
