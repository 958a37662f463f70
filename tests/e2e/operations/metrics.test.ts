import { waitFor } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { shardKeys } from '../../support/delivery-state.ts';
import { scrape, type Scrape } from '../../support/metrics.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { actionRequired, checkpoint, DONE, START } from '../../support/reports.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { startNameServer } from '../../support/start-name-server.ts';

jest.setTimeout(120_000);

const SIGNED_IN = basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD);
const TASKS = 3;
const CHECK_IN = 'task.check_in';
const ACTION = 'task.requires_action';
const DONE_EVENT = 'task.done';
const CANCELED = 'task.canceled';
const TEST = 'webhook.test';

async function scrapeBoth({ apis, workers }: Herald): Promise<{ api: Scrape; worker: Scrape }> {
  return {
    api: await scrape(apis[0]?.origin ?? '', SIGNED_IN),
    worker: await scrape(workers[0]?.origin ?? ''),
  };
}

/**
 * Three Tasks through every event, and three that are canceled, to receivers that answer, refuse, hang, redirect, are gone,
 * and lead to a forbidden address. Then a duplicate, a test event and a redelivery.
 */
async function playScript(herald: Herald): Promise<void> {
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const register = async (url: string, events: string[]) => await workspace.registerReceiver({ url, events });
  const sound = await herald.startReceiver();
  const registered = await register(sound.url, []);
  const broken = await register(
    // It works again when the redelivery comes.
    (await herald.startReceiver((_request, index) => (index < TASKS ? 500 : 200))).url,
    [DONE_EVENT],
  );
  await register((await herald.startReceiver(['hang'])).url, [CHECK_IN]);
  await register((await herald.startReceiver([302])).url, [ACTION]);
  const gone = await register((await herald.startReceiver([410])).url, [CANCELED]);
  await register('https://internal.example.com/hook', [DONE_EVENT]);

  let done = { taskId: '', transitionId: '' };
  for (let task = 0; task < TASKS; task++) {
    const { id } = await workspace.createTask();
    done = await herald.executor.report(id, START, checkpoint('cp_1'), actionRequired(1), DONE);
  }
  await herald.executor.report(done.taskId, DONE);
  for (let task = 0; task < TASKS; task++) {
    const { id } = await workspace.createTask();
    await workspace.cancelTask(id);
    await deliveries.waitForReceiver(gone, ({ enabled }) => !enabled);
  }
  await workspace.sendTest(registered.id);
  await herald.settled(60_000);
  const { deliveries: failed } = await deliveries.list(broken, { status: 'failed' });
  await deliveries.redeliver(failed[0]?.id ?? '');
  await deliveries.waitForStatus(failed[0]?.id ?? '', 'delivered');
  await herald.settled(60_000);
}

test('both processes count exactly what a script had them do', async () => {
  await using names = await startNameServer();
  names.set('internal.example.com', '192.168.7.7');
  await using herald = await startHerald({
    env: { ...OPERATOR_ENV, RETRY_SCHEDULE: '', DELIVERY_TIMEOUT: '5s', EGRESS_DNS_SERVERS: names.address },
  });
  await playScript(herald);
  const { api, worker } = await scrapeBoth(herald);

  const accepted = (event: string) => api.sum('herald_transitions_accepted_total', { event });
  expect([CHECK_IN, ACTION, DONE_EVENT, CANCELED, 'none'].map(accepted)).toEqual([3, 3, 3, 3, 3]);
  expect(api.sum('herald_transitions_duplicate_total')).toBe(1);
  const created = (event: string) => api.sum('herald_deliveries_created_total', { event });
  expect([CHECK_IN, ACTION, DONE_EVENT, CANCELED, TEST].map(created)).toEqual([6, 6, 9, 6, 1]);
  expect(api.sum('herald_test_events_total', { outcome: 'delivered' })).toBe(1);
  expect(api.sum('herald_test_events_total')).toBe(1);
  expect(api.sum('herald_redeliveries_total')).toBe(1);

  const attempts = (event: string, outcome: string | RegExp) => worker.sum('herald_attempts_total', { event, outcome });
  expect([attempts(CHECK_IN, '2xx'), attempts(CHECK_IN, /^timeout_/)]).toEqual([3, 3]);
  expect([attempts(ACTION, '2xx'), attempts(ACTION, '3xx')]).toEqual([3, 3]);
  expect(['2xx', '5xx', 'address_blocked'].map((outcome) => attempts(DONE_EVENT, outcome))).toEqual([4, 3, 3]);
  expect([attempts(CANCELED, '2xx'), attempts(CANCELED, '4xx')]).toEqual([3, 1]);
  expect(attempts(TEST, '2xx')).toBe(1);
  expect(worker.sum('herald_attempts_total')).toBe(27);
  expect(worker.sum('herald_send_duration_seconds_count', { outcome: 'success' })).toBe(14);
  expect(worker.sum('herald_send_duration_seconds_count', { outcome: 'failure' })).toBe(13);

  const settled = (event: string, outcome: string, reason = '') => [
    api.sum('herald_deliveries_settled_total', { event, outcome, reason }),
    worker.sum('herald_deliveries_settled_total', { event, outcome, reason }),
  ];
  for (const event of [CHECK_IN, ACTION, DONE_EVENT, CANCELED]) expect(settled(event, 'delivered')).toEqual([0, 3]);
  expect(settled(TEST, 'delivered')).toEqual([0, 1]);
  expect(settled(CHECK_IN, 'failed', 'schedule_exhausted')).toEqual([0, 3]);
  expect(settled(ACTION, 'failed', 'schedule_exhausted')).toEqual([0, 3]);
  expect(settled(DONE_EVENT, 'failed', 'schedule_exhausted')).toEqual([0, 6]);
  // The first by the 410, the others when they were accepted.
  expect(settled(CANCELED, 'canceled', 'receiver_disabled')).toEqual([2, 1]);
  const total = (each: Scrape) => each.sum('herald_deliveries_settled_total');
  expect(total(api) + total(worker)).toBe(api.sum('herald_deliveries_created_total'));
  expect(worker.sum('herald_deliveries_recovered_total', { event: DONE_EVENT })).toBe(1);
  expect(worker.sum('herald_delivery_latency_seconds_count')).toBe(13);
  expect(worker.sum('herald_endpoints_disabled_total', { reason: 'gone' })).toBe(1);
  expect(worker.sum('herald_endpoints_disabled_total')).toBe(1);
  expect(worker.sum('herald_sends_in_flight')).toBe(0);
  expect(worker.sum('herald_internal_errors_total')).toBe(0);
  expect(worker.sum('herald_jobs_stalled_total')).toBe(0);

  const requests = (method: string, route: string, status: number) => [
    api.sum('herald_http_requests_total', { method, route, status: String(status) }),
    api.sum('herald_http_request_duration_seconds_count', { method, route }),
  ];
  expect(requests('POST', '/api/internal/tasks/:id/transitions', 200)).toEqual([13, 13]);
  expect(requests('POST', '/tasks', 201)).toEqual([6, 6]);
  expect(requests('POST', '/tasks/:id/cancel', 200)).toEqual([3, 3]);
  expect(requests('POST', '/api/public/webhooks', 201)).toEqual([6, 6]);
  expect(requests('POST', '/api/public/webhooks/:id/test', 200)).toEqual([1, 1]);
  expect(requests('POST', '/api/public/deliveries/:id/redeliver', 202)).toEqual([1, 1]);

  for (const each of [api, worker]) {
    expect(each.sum('herald_service_state_known')).toBe(1);
    expect(each.sum('herald_workers')).toBe(1);
    expect(each.sum('herald_queue_jobs')).toBe(0);
    expect(each.sum('herald_queue_oldest_due_seconds')).toBe(0);
    expect(each.sum('herald_queue_empty_in_seconds')).toBe(0);
    expect(each.sum('herald_waiting_receivers')).toBe(0);
    expect(each.sum('herald_receiver_due_deliveries')).toBe(0);
  }
});

test('what waits for a receiver that gives no answer is shown by both processes, as held by its breaker', async () => {
  await using herald = await startHerald({ env: { ...OPERATOR_ENV, RETRY_SCHEDULE: '1h', DELIVERY_TIMEOUT: '5s' } });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  await receiver.close();
  const deliveries = createDeliveryClient(workspace);
  for (let task = 0; task < 5; task++) await deliveries.emit();
  await herald.waitForLog('endpoint.breaker_opened');
  await deliveries.emit();
  await deliveries.emit();
  const held = { state: 'breaker_open' };
  const seen = await waitFor('the receiver to show', () => scrapeBoth(herald), {
    until: ({ api, worker }) => [api, worker].every((each) => each.sum('herald_receiver_due_deliveries', held) === 2),
    deadlineMs: 30_000,
  });
  for (const each of [seen.api, seen.worker]) {
    expect(each.sum('herald_waiting_receivers', held)).toBe(1);
    expect(each.sum('herald_waiting_receivers')).toBe(1);
    expect(each.sum('herald_receiver_due_deliveries', { state: 'flowing' })).toBe(0);
    expect(each.sum('herald_receiver_oldest_due_seconds', held)).toBeGreaterThan(0);
    expect(each.sum('herald_queue_jobs')).toBe(7);
    expect(each.sum('herald_queue_jobs', { state: 'delayed' })).toBe(7);
  }
  expect(seen.worker.sum('herald_breaker_changes_total', { to: 'opened' })).toBe(1);
});

test.each(['a delivery', 'a redelivery'])('%s that no worker takes is shown with its age', async (what) => {
  await using herald = await startHerald({ env: OPERATOR_ENV });
  const workspace = await herald.createWorkspace();
  const registered = await workspace.registerReceiver({ url: (await herald.startReceiver()).url });
  const deliveries = createDeliveryClient(workspace);
  const delivered = (await deliveries.emit()).to(registered);
  await deliveries.waitForStatus(delivered, 'delivered');
  await herald.redis.hset(shardKeys().queue.settings, 'paused', '1');
  await (what === 'a delivery' ? deliveries.emit() : deliveries.redeliver(delivered));
  const aged = await waitFor('it to age', () => scrapeBoth(herald), {
    until: ({ api, worker }) => [api, worker].every((each) => each.sum('herald_queue_oldest_due_seconds') > 1),
    deadlineMs: 30_000,
  });
  for (const each of [aged.api, aged.worker]) {
    expect(each.sum('herald_queue_jobs', { state: 'waiting' })).toBe(1);
    expect(each.sum('herald_queue_oldest_due_seconds')).toBeLessThan(60);
  }
});

test('the API shows nothing without credentials of an operator', async () => {
  await using herald = await startHerald({ workers: 0, env: OPERATOR_ENV });
  expect(await herald.request('GET', '/metrics')).toMatchObject({ status: 401 });
  expect(await herald.request('GET', '/metrics', { headers: basic('olga', 'wrong password') })).toMatchObject({
    status: 401,
  });
});
