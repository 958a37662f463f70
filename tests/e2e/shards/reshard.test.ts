import { createShardRecordStore } from '@herald/store/data/shard-record';
import type { Receiver } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { waitUntilSettled } from '../../support/delivery-state.ts';
import { bodyOf } from '../../support/http-request.ts';
import { actionRequired, DONE, START } from '../../support/reports.ts';
import { runApp, runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { createWorkspaces, killResharding, reshardTo, shellEnv } from './reshard-command.ts';

jest.setTimeout(150_000);

const idsAt = (receiver: Receiver) =>
  webhooksAt(receiver)
    .map(({ deliveryId }) => deliveryId)
    .sort();

const stopAll = async (herald: Herald) => {
  for (const each of [...herald.workers, ...herald.apis]) if (!each.process.hasExited()) await each.stop();
};

/** A workspace with a receiver that is well, one that fails each delivery once, and one that is dead until told. */
async function startScene(herald: Herald, workspace: WorkspaceClient, health: { isDead: boolean }) {
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
  const deliveries = createDeliveryClient(workspace);
  const emitted: Awaited<ReturnType<typeof deliveries.emit>>[] = [];
  const emit = async (count: number) => {
    for (let index = 0; index < count; index++) emitted.push(await deliveries.emit());
  };
  return { workspace, good, flaky, dead, registered, deliveries, emitted, emit };
}

type Scene = Awaited<ReturnType<typeof startScene>>;

test('a service that is resharded in the middle of everything, by a command that is killed, loses nothing and goes on', async () => {
  const health = { isDead: true };
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '5s,5s,5s' } });
  const scenes: Scene[] = [];
  for (const workspace of await createWorkspaces(herald, 4)) scenes.push(await startScene(herald, workspace, health));
  const [first] = scenes;
  if (!first) throw new Error('there are four');

  // Delivered, delayed, held back behind an open breaker.
  for (const { emit, deliveries, registered } of scenes) {
    await emit(6);
    await deliveries.waitForReceiver(registered.dead, (view) => view.health.state === 'paused');
    await emit(2);
    await deliveries.waitForReceiver(registered.dead, (view) => view.health.backlog > 0);
    await deliveries.waitForReceiver(registered.good, (view) => view.health.lastSuccessAt !== null);
  }
  await herald.workers[0]?.stop();
  // New, redelivered, replayed, of a receiver that is disabled, and an open Task.
  for (const { emit } of scenes) await emit(20);
  const { workspace, deliveries, registered, emitted } = first;
  const off = await workspace.registerReceiver({ url: 'https://off.example.com/' });
  await first.emit(1);
  await deliveries.patchReceiver(off, { enabled: false });
  const sent = emitted[0]?.to(registered.good) ?? '';
  await deliveries.redeliver(sent);
  const replay = bodyOf(
    await workspace.request('POST', `/api/public/webhooks/${registered.good.id}/replay`, {
      body: { since: '2020-01-01T00:00:00Z', status: ['delivered'] },
    }),
    202,
  ) as { id: string };
  const open = await workspace.createTask({ input: { order: 1 } });
  await herald.executor.report(open.id, START, actionRequired(1));
  await herald.apis[0]?.stop();

  await killResharding(herald, 4, 1);
  const notComplete = 'from 1 to 4 shards is not complete; finish it with "herald shards reshard --to 4"';
  for (const SHARDS of ['1', '4']) {
    const env = { ...shellEnv(herald, 1), SHARDS, SECRETS_KEY: Buffer.alloc(32).toString('base64') };
    const { code, stderr } = await runApp('worker', env);
    expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 1, lines: 1 });
    expect(stderr).toContain(notComplete);
  }
  expect((await runCli(['queues'], shellEnv(herald, 1))).stderr).toContain(notComplete);
  expect((await runCli(['doctor', '--json'], shellEnv(herald, 4))).stdout).toContain('"shards_moving"');
  const again = await reshardTo(herald, 4, 1);
  expect(again).toMatchObject({ code: 0, stderr: '' });
  expect(again.stdout).toMatch(/^Moved \d+ keys from 1 shard to 4; \d+ deliveries enqueued again\.$/m);
  expect(again.stdout).toContain('Start every API and worker with SHARDS=4.');

  health.isDead = false;
  await herald.startApi({ SHARDS: '4' });
  await herald.startWorker({ SHARDS: '4' });
  await waitUntilSettled(herald.redis, 60_000, 4);
  const expectAll = () => {
    // The first has a Task, a redelivery and a replay on top.
    for (const kind of ['good', 'flaky', 'dead'] as const) {
      const ids = emitted.map((each) => each.to(registered[kind]));
      expect(idsAt(first[kind])).toEqual(expect.arrayContaining(ids));
    }
    for (const { good, flaky, dead, registered: receivers, emitted: all } of scenes.slice(1)) {
      const idsTo = (receiver: { id: string }) => all.map((each) => each.to(receiver)).sort();
      expect(idsAt(good)).toEqual(idsTo(receivers.good));
      expect(idsAt(flaky)).toEqual(idsTo(receivers.flaky).flatMap((id) => [id, id]));
      expect([...new Set(idsAt(dead))]).toEqual(idsTo(receivers.dead));
    }
  };
  expectAll();
  const flakyOne = await deliveries.read(emitted[0]?.to(registered.flaky) ?? '');
  expect(flakyOne).toMatchObject({ status: 'delivered', tries: 2, attempts: [{ status: 503 }, { status: 200 }] });
  expect(webhooksAt(first.good).filter(({ deliveryId }) => deliveryId === sent).length).toBeGreaterThanOrEqual(2);
  expect(bodyOf(await workspace.request('GET', `/api/public/replays/${replay.id}`), 200)).toMatchObject({
    status: 'done',
  });
  const { deliveries: ofDisabled } = await deliveries.list(off);
  expect(ofDisabled.map(({ status, reason }) => `${status} ${reason ?? ''}`)).toContain('canceled receiver_disabled');
  expect(await workspace.readTask(open.id)).toMatchObject({ status: 'requires_action', id: open.id });
  const resolved = await workspace.resolve(open.id, 'pay', { decision: 'yes', actionVersion: 1 });
  expect(resolved.status).toBe(200);
  await herald.executor.report(open.id, DONE);
  expect(await herald.executor.report(emitted[3]?.taskId ?? '', DONE)).toMatchObject({
    duplicate: true,
    transitionId: emitted[3]?.transitionId,
  });

  // And back to fewer, with something in the queue.
  await herald.workers[1]?.stop();
  for (const { emit } of scenes) await emit(3);
  await stopAll(herald);
  expect(await reshardTo(herald, 2, 4)).toMatchObject({ code: 0, stderr: '' });
  await herald.startApi({ SHARDS: '2' });
  await herald.startWorker({ SHARDS: '2' });
  await waitUntilSettled(herald.redis, 60_000, 2);
  expectAll();
  expect((await deliveries.list(registered.good)).deliveries.length).toBeGreaterThan(20);
  expect(await createShardRecordStore(herald.redis).read()).toEqual({ count: 2, layout: 4 });
});

test('on a Redis Cluster keys go from node to node: resharding that is killed and run again loses nothing', async () => {
  await using herald = await startHerald({ topology: 'cluster', workers: 0 });
  const scenes: Scene[] = [];
  for (const workspace of await createWorkspaces(herald, 3)) {
    const scene = await startScene(herald, workspace, { isDead: false });
    await scene.emit(15);
    scenes.push(scene);
  }
  await stopAll(herald);
  await killResharding(herald, 3, 1);
  expect(await reshardTo(herald, 3, 1)).toMatchObject({ code: 0, stderr: '' });
  await herald.startApi({ SHARDS: '3' });
  await herald.startWorker({ SHARDS: '3', RETRY_SCHEDULE: '10ms,10ms' });
  await waitUntilSettled(herald.redis, 60_000, 3);
  for (const { emitted, good, registered } of scenes) {
    expect(idsAt(good)).toEqual(emitted.map((each) => each.to(registered.good)).sort());
  }
});
