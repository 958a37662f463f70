import { createHmac, randomBytes } from 'node:crypto';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { readKeyName } from '@herald/store/keys/key-name';
import type { Receiver } from '@herald/test-kit';
import { createDeliveryClient } from '../support/delivery-client.ts';
import { unpackPreviousRelease, type PreviousRelease } from '../support/previous-release.ts';
import { DONE } from '../support/reports.ts';
import { runApp, runCli } from '../support/run-cli.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { listKeys } from '../support/start-topology.ts';
import { webhooksAt } from '../support/webhooks.ts';

jest.setTimeout(120_000);

/** All processes of the release before are stopped, and those of this one started: the first takes the data over. */
let previous: PreviousRelease;
beforeAll(async () => {
  previous = await unpackPreviousRelease();
});
afterAll(() => previous[Symbol.asyncDispose]());

const SECRETS_KEY = randomBytes(32).toString('base64');

const start = () =>
  startHerald({
    topology: 'single',
    apis: 0,
    workers: 0, // all that the release knows
    hasFormerKeys: true,
    env: { SECRETS_KEY, RETRY_SCHEDULE: '4s,100ms,100ms' },
  });
const shellEnv = (herald: Herald) => ({
  ...herald.topology.env,
  SECRETS_KEY,
  PORT: '0',
  WORKER_PORT: '0',
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
});
const idsAt = (receiver: Receiver) =>
  webhooksAt(receiver)
    .map(({ deliveryId }) => deliveryId)
    .sort();

test('what waits when the release before is stopped is sent once by this one: new, delayed, held back, redelivered', async () => {
  await using herald = await start();
  const api = await herald.startApi({}, previous);
  const worker = await herald.startWorker({}, previous);
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const health = { isDead: true };
  const tried = new Set<string>();
  const good = await herald.startReceiver();
  const flaky = await herald.startReceiver(({ headers }) => {
    const id = headers['x-service-delivery'] ?? '';
    return tried.has(id) ? 200 : (tried.add(id), 503);
  });
  const dead = await herald.startReceiver(() => (health.isDead ? 'reset' : 200));
  const registered = {
    good: await workspace.registerReceiver({ url: good.url }),
    flaky: await workspace.registerReceiver({ url: flaky.url }),
    dead: await workspace.registerReceiver({ url: dead.url }),
  };
  const emitted: Awaited<ReturnType<typeof deliveries.emit>>[] = [];
  const emit = async (count: number) => {
    for (let index = 0; index < count; index++) emitted.push(await deliveries.emit());
  };

  // Delivered and delayed; then held back behind a breaker.
  await emit(6);
  await deliveries.waitForReceiver(registered.dead, (view) => view.health.state === 'paused');
  await emit(3);
  await deliveries.waitForReceiver(registered.dead, (view) => view.health.backlog > 0);
  await good.waitForCount(9);
  await worker.stop();
  // Enqueued, redelivered, and of a receiver that is disabled.
  await emit(20);
  const sent = emitted[0]?.to(registered.good) ?? '';
  await deliveries.redeliver(sent);
  const off = await workspace.registerReceiver({ url: 'https://off.example.com/' });
  await emit(1);
  await deliveries.patchReceiver(off, { enabled: false });

  // Not while the other one works; and whoever only reads says what to do.
  for (const app of ['api', 'worker'] as const) {
    const { code, stderr } = await runApp(app, shellEnv(herald));
    expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 1, lines: 1 });
    expect(stderr).toContain('A former version of Herald works on this Redis: herald-api');
  }
  expect((await runCli(['receivers', 'list'], shellEnv(herald))).stderr).toContain(
    'that of a former version of Herald',
  );
  expect((await runCli(['doctor', '--json'], shellEnv(herald))).stdout).toContain('"layout_former"');
  expect(await deliveries.read(sent)).toMatchObject({ id: sent });
  await api.stop();

  await Promise.all([herald.startApi(), herald.startWorker(), herald.startWorker()]);
  expect(herald.logs().match(/"upgrade.ended"/g)).toHaveLength(1);
  health.isDead = false;
  await herald.settled(60_000);
  const idsTo = (receiver: { id: string }) => emitted.map((each) => each.to(receiver)).sort();
  expect(idsAt(good)).toEqual([...idsTo(registered.good), sent].sort());
  expect(idsAt(flaky)).toEqual(idsTo(registered.flaky).flatMap((id) => [id, id]));
  expect([...new Set(idsAt(dead))]).toEqual(idsTo(registered.dead));
  for (const { rawBody, headers } of good.requests) {
    const hmac = createHmac('sha256', registered.good.secret).update(rawBody).digest('hex');
    expect(headers['x-service-signature']).toBe(`sha256=${hmac}`);
  }
  const { deliveries: ofDisabled } = await deliveries.list(off);
  expect(ofDisabled.map(({ status, reason }) => `${status} ${reason ?? ''}`)).toEqual(['canceled receiver_disabled']);
  const [first] = emitted;
  if (!first) throw new Error('some were emitted');
  const flakyOne = await deliveries.read(first.to(registered.flaky));
  expect(flakyOne).toMatchObject({ status: 'delivered', attempts: [{ status: 503 }, { status: 200 }] });
  expect(await herald.executor.report(first.taskId, DONE)).toMatchObject({
    transitionId: first.transitionId,
    duplicate: true,
  });
  expect((await workspace.sendTest(registered.good.id)).body).toMatchObject({ delivered: true, receiverStatus: 200 });
  const unknown = (await listKeys(herald.redis)).filter((name) => name.startsWith('{') && !readKeyName(name));
  expect(unknown).toEqual([]);
});

test('what a worker of the release before was sending when it was killed is sent again, under the same id', async () => {
  await using herald = await start();
  const api = await herald.startApi({}, previous);
  const worker = await herald.startWorker({}, previous);
  const workspace = await herald.createWorkspace();
  const answers = { isOn: false };
  const receiver = await herald.startReceiver(() => (answers.isOn ? 200 : 'hang'));
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const deliveries = createDeliveryClient(workspace);
  const emitted = await deliveries.emit();
  await receiver.waitForCount(1);
  await worker.kill();
  await api.stop();
  answers.isOn = true;
  // It left its sign, and may be alive for all that anybody knows.
  const first = await herald.startWorker();
  await herald.waitForLog('"upgrade.watches"', first);
  await herald.startApi();
  await herald.settled();
  expect(idsAt(receiver)).toEqual([emitted.to(registered), emitted.to(registered)]);
  expect(await herald.redis.hgetall(GLOBAL_KEYS.shards)).toMatchObject({ count: '1', layout: '4' });
});

test('the release before does not start on the data of this one', async () => {
  await using herald = await start();
  await herald.startApi();
  await expect(herald.startApi({}, previous)).rejects.toThrow('laid out by a newer version of Herald (layout 4');
});
