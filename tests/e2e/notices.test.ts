import { newSigningSecret } from '@herald/core';
import { createDeliveryClient } from '../support/delivery-client.ts';
import { startRedisGate } from '../support/redis-gate.ts';
import { runCli } from '../support/run-cli.ts';
import { startHerald } from '../support/start-herald.ts';
import { readWebhook } from '../support/webhooks.ts';
import { whoSigned } from '../support/who-signed.ts';

jest.setTimeout(90_000);

const SECRET = newSigningSecret();
/** In the arguments of the script that records an attempt which may make a notice, and in no other command. */
const DRAFT = '"notice":';

test('the platform is told of what Herald disables and of what recovers, signed, retried, and although a worker dies with it', async () => {
  await using herald = await startHerald({ workers: 0, env: { RETRY_SCHEDULE: '10ms,10ms', NOTICE_SECRET: SECRET } });
  const platform = await herald.startReceiver([500, 200]);
  const notices = { NOTICE_URL: platform.url };
  const receiver = await herald.startReceiver([200, 410, 200]);
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  // Redis knows the script from then on, so that its first reply is that of the record.
  const first = await herald.startWorker(notices);
  const before = await deliveries.emit();
  await deliveries.waitForStatus(before.to(registered), 'delivered');
  await first.stop();

  await using gate = await startRedisGate({ port: herald.server.port, stopAt: DRAFT, withhold: 'reply' });
  const victim = await herald.startWorker({ ...notices, REDIS_URL: gate.url });
  const killed = gate.stopped.then(() => victim.kill());
  const gone = await deliveries.emit();
  await killed;
  expect(await deliveries.readReceiver(registered)).toMatchObject({ enabled: false, disabledReason: 'gone' });
  expect(platform.requests).toEqual([]);

  await herald.startWorker(notices);
  // The one that died may have had the notice in work: then its lease must end.
  const told = readWebhook(await platform.next(40_000));
  const retried = readWebhook(await platform.next());
  expect(retried.deliveryId).toBe(told.deliveryId);
  expect(retried.request.rawBody).toEqual(told.request.rawBody);
  expect(await whoSigned(told.request, [SECRET, registered.secret])).toEqual({ service: [SECRET], standard: [SECRET] });
  const { attempts } = await deliveries.read(gone.to(registered));
  expect(told.body).toMatchObject({
    event: 'receiver.disabled',
    workspace_id: workspace.id,
    receiver: { id: registered.id, url: receiver.url },
    reason: 'gone',
    last_attempt: { delivery_id: gone.to(registered), at: attempts[0]?.at, status: 410 },
  });

  await deliveries.patchReceiver(registered, { enabled: true });
  await deliveries.emit();
  expect(readWebhook(await platform.next()).body).toMatchObject({
    event: 'receiver.recovered',
    receiver: { id: registered.id },
    since: told.body.since,
  });
  const callback = await herald.startReceiver([410]);
  const { taskId } = await deliveries.emit({ callback: { url: callback.url } });
  expect(readWebhook(await platform.next()).body).toMatchObject({
    event: 'callback.disabled',
    callback: { id: taskId.replace('task_', 'cb_'), url: callback.url, task_id: taskId },
  });
  await herald.settled();
  expect(platform.requests).toHaveLength(4);

  const { status, body } = await workspace.request('GET', `/api/public/deliveries/${told.deliveryId}`);
  expect({ status, body }).toMatchObject({ status: 404, body: { code: 'delivery_not_found' } });
  const { stdout } = await runCli(['deliveries', 'list', '--notices', '--json'], { ...herald.topology.env });
  expect(JSON.parse(stdout)).toMatchObject([
    { event: 'callback.disabled', status: 'delivered', host: 'NOTICE_URL' },
    { event: 'receiver.recovered', status: 'delivered', tries: 1 },
    { event: 'receiver.disabled', status: 'delivered', tries: 2, id: told.deliveryId },
  ]);
  const again = await runCli(['deliveries', 'redeliver', told.deliveryId], { ...herald.topology.env });
  expect(again.code).toBe(0);
  expect(readWebhook(await platform.next()).deliveryId).toBe(told.deliveryId);
  expect(herald.logs()).not.toContain(SECRET.slice(6));
});
