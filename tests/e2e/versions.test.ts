import { createHmac } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { createDeliveryClient } from '../support/delivery-client.ts';
import { unpackPreviousRelease, type PreviousRelease } from '../support/previous-release.ts';
import { actionRequired, checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald } from '../support/start-herald.ts';
import type { Installation } from '../support/start-herald-process.ts';
import { factsAt, webhooksAt } from '../support/webhooks.ts';

/** An upgrade, or a rollback, is never at one instant: both releases work on the same Redis for a while. */
let previous: PreviousRelease;
beforeAll(async () => {
  previous = await unpackPreviousRelease();
});
afterAll(() => previous[Symbol.asyncDispose]());

const current: Installation = {};

test.each([
  ['an API of the previous release and a worker of this one', () => previous, () => current],
  ['an API of this release and a worker of the previous one', () => current, () => previous],
] as const)('%s do the whole job together', async (_, apiOf, workerOf) => {
  await using herald = await startHerald({
    topology: 'single',
    apis: 0,
    workers: 0,
    env: { RETRY_SCHEDULE: '20ms,20ms' },
  });
  const api = await herald.startApi({}, apiOf());
  await herald.startWorker({}, workerOf());
  const workspace = await herald.createWorkspace(api);
  const deliveries = createDeliveryClient(workspace);
  const receiver = await herald.startReceiver([500, 200]);
  const callback = await herald.startReceiver();
  const registered = await workspace.registerReceiver({ url: receiver.url });

  const task = await workspace.createTask({ callback: { url: callback.url } });
  await herald.executor.report(task.id, START, checkpoint('c1'), actionRequired(1), DONE);
  await herald.settled();
  const facts = ['task.check_in', 'task.done', 'task.requires_action'].map((event) => `${task.id} ${event}`);
  expect([...new Set(factsAt(receiver))]).toEqual(facts);
  expect(factsAt(callback)).toEqual(facts);
  expect(receiver.requests).toHaveLength(4); // one was tried twice
  for (const { rawBody, headers } of receiver.requests) {
    const hmac = createHmac('sha256', registered.secret).update(rawBody).digest('hex');
    expect(headers['x-service-signature']).toBe(`sha256=${hmac}`);
  }

  expect((await workspace.sendTest(registered.id)).body).toEqual({ delivered: true, receiverStatus: 200 });
  const { deliveries: log } = await deliveries.list(registered, { event: 'task.done' });
  const [done] = log;
  if (!done) throw new Error('the delivery is not in the log');
  expect(done.status).toBe('delivered');
  const before = receiver.requests.length;
  await deliveries.redeliver(done.id);
  const [again] = (await receiver.waitForCount(before + 1)).slice(before);
  expect(again?.headers['x-service-delivery']).toBe(done.id);
  await herald.settled();
});

test('a rolling upgrade and a rollback under load lose nothing, and the same fact keeps its delivery id', async () => {
  await using herald = await startHerald({ topology: 'single', apis: 0, workers: 0 });
  let api = await herald.startApi({}, previous);
  let workers = [await herald.startWorker({}, previous), await herald.startWorker({}, previous)];
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });

  const accepted = new Map<string, string>(); // Task → transition
  const underLoad = async (work: () => Promise<void>) => {
    const working = { isOn: true };
    const load = (async () => {
      while (working.isOn) {
        const task = await workspace.createTask();
        accepted.set(task.id, (await herald.executor.report(task.id, START, DONE)).transitionId);
        await breathe();
      }
    })();
    await work();
    working.isOn = false;
    await load;
  };
  const replaceAll = async (by: Installation) => {
    await underLoad(async () => {
      for (const old of workers) {
        workers = [...workers.filter((each) => each !== old), await herald.startWorker({}, by)];
        await old.stop();
      }
    });
    const old = api;
    api = await herald.startApi({}, by);
    await old.stop();
  };
  await replaceAll(current);
  const [first] = accepted;
  if (!first) throw new Error('there was no load');
  const [taskId, transitionId] = first;
  expect(await herald.executor.report(taskId, DONE)).toMatchObject({ transitionId, duplicate: true });
  await replaceAll(previous);
  await underLoad(() => receiver.waitForCount(accepted.size + 20).then(() => undefined));
  await herald.settled();

  expect([...new Set(factsAt(receiver))]).toEqual([...accepted.keys()].map((id) => `${id} task.done`).sort());
  const idsOf = Map.groupBy(webhooksAt(receiver), ({ body }) => body.id);
  for (const [, sent] of idsOf) expect(new Set(sent.map(({ deliveryId }) => deliveryId)).size).toBe(1);
});
