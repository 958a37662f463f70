import { createKeyspace } from '@herald/store/keys/keys';
import { randomBytes } from 'node:crypto';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { basic, createOperatorClient, OPERATOR_ENV } from '../../support/operator-client.ts';
import { expediteProbe } from '../../support/queue-state.ts';
import { actionRequired, checkpoint, DONE, START } from '../../support/reports.ts';
import { sized } from '../../support/sized.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { TOPOLOGIES, type TopologyKind } from '../../support/start-topology.ts';
import { factsAt, webhooksAt } from '../../support/webhooks.ts';
import { whoSigned } from '../../support/who-signed.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { createMood, emitMany } from '../fleet/fleet.ts';

jest.setTimeout(60_000);

const SHARDS = 3;
const SECRETS_KEY = randomBytes(32).toString('base64');

/** What the service promises, on every Redis that it runs on. On one server other tests show each of it; the soak tests run it on all. */
describe.each(sized<readonly TopologyKind[]>(['cluster'], TOPOLOGIES))('on the topology %s', (topology) => {
  const keyspace = createKeyspace(SHARDS);
  let herald: Herald;
  /** One in each shard. */
  let workspaces: readonly WorkspaceClient[];
  let workspace: WorkspaceClient;
  beforeAll(async () => {
    herald = await startHerald({
      topology,
      apis: 2,
      env: {
        SHARDS: String(SHARDS),
        SECRETS_KEY,
        RETRY_SCHEDULE: '50ms,100ms',
        // Longer than a busy machine keeps a process waiting: what is sent again would count twice.
        DELIVERY_TIMEOUT: '4s',
        ...OPERATOR_ENV,
      },
    });
    const byShard = new Map<unknown, WorkspaceClient>();
    while (byShard.size < SHARDS) {
      const created = await herald.createWorkspace();
      byShard.set(keyspace.of(created.id), created);
    }
    workspaces = keyspace.shards.flatMap((keys) => byShard.get(keys) ?? []);
    workspace = await herald.createWorkspace();
  }, 90_000);
  afterAll(() => herald[Symbol.asyncDispose]());

  test('a Task of every shard tells its receiver and its callback each event once, signed', async () => {
    for (const each of workspaces) {
      const [receiver, callback] = [await herald.startReceiver(), await herald.startReceiver()];
      const { secret } = await each.registerReceiver({ url: receiver.url });
      const task = await each.createTask({ callback: { url: callback.url } });
      await herald.executor.report(task.id, START, checkpoint('c1'), actionRequired(1));
      const resolved = await each.resolve(task.id, 'pay', { decision: 'yes', actionVersion: 1 });
      expect(resolved.status).toBe(200);
      await herald.executor.report(task.id, DONE);
      expect(await herald.executor.report(task.id, DONE)).toMatchObject({ duplicate: true });
      await Promise.all([receiver, callback].map((endpoint) => endpoint.waitForCount(3)));
      const facts = ['check_in', 'done', 'requires_action'].map((event) => `${task.id} task.${event}`);
      expect([factsAt(receiver), factsAt(callback)]).toEqual([facts, facts]);
      for (const request of receiver.requests) {
        expect(await whoSigned(request, [secret])).toEqual({ service: [secret], standard: [secret] });
      }
    }
  });

  test('a batch over Tasks of all shards is accepted item by item', async () => {
    const tasks = await Promise.all(workspaces.map((each) => each.createTask()));
    const results = await herald.executor.reportBatch([
      ...tasks.map(({ id: taskId }) => ({ taskId, ...START })),
      { taskId: `tsk_${'0'.repeat(26)}`, ...START },
    ]);
    expect(results.map((result) => ('error' in result ? result.error.code : result.status))).toEqual([
      ...tasks.map(() => 'running'),
      'task_not_found',
    ]);
    const listed = bodyOf(await herald.executor.request('GET', '/api/internal/tasks?status=running&limit=100'), 200);
    const ids = (listed as { tasks: { id: string }[] }).tasks.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(tasks.map(({ id }) => id)));
  });

  test('a failing receiver gets the same bytes again under the same id', async () => {
    const receiver = await herald.startReceiver([500, 503, 200]);
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const client = createDeliveryClient(workspace);
    const id = (await client.emit()).to(registered);
    const { attempts } = await client.waitForStatus(id, 'delivered');
    expect(attempts.map(({ status }) => status)).toEqual([500, 503, 200]);
    expect(new Set(receiver.requests.map(({ rawBody }) => rawBody.toString())).size).toBe(1);
    expect(new Set(webhooksAt(receiver).map(({ deliveryId }) => deliveryId))).toEqual(new Set([id]));
  });

  test('a dead receiver holds nobody up, and gets everything when it is back', async () => {
    const own = await herald.createWorkspace();
    const keys = keyspace.of(own.id);
    const mood = createMood('hang');
    const [healthy, dead] = [await herald.startReceiver(), await herald.startReceiver(mood.respond)];
    await own.registerReceiver({ url: healthy.url });
    const { id } = await own.registerReceiver({ url: dead.url });
    await emitMany(herald, own, 30);
    await healthy.waitForCount(30);
    mood.set(200);
    // The breaker's waits are tested elsewhere.
    await expediteProbe(herald.redis, id, keys);
    await mood.waitForAccepted(30, 30_000);
    expect(mood.accepted.size).toBe(30);
  });

  test('a failed delivery comes back by a replay, and a delivered one by redelivery', async () => {
    const own = await herald.createWorkspace();
    const receiver = await herald.startReceiver([400, 400, 400, 200]);
    const registered = await own.registerReceiver({ url: receiver.url });
    const client = createDeliveryClient(own);
    const since = new Date().toISOString();
    const id = (await client.emit()).to(registered);
    await client.waitForStatus(id, 'failed');
    const replay = await own.request('POST', `/api/public/webhooks/${registered.id}/replay`, { body: { since } });
    expect(replay.status).toBe(202);
    await client.waitForStatus(id, 'delivered');
    await client.redeliver(id);
    await client.waitForAttempts(id, 5);
    expect(new Set(webhooksAt(receiver).map(({ deliveryId }) => deliveryId))).toEqual(new Set([id]));
    expect((await client.list(registered)).deliveries.map((delivery) => delivery.id)).toEqual([id]);
  });

  test('a test event reaches a receiver of every shard, and its outcome the caller', async () => {
    for (const each of workspaces) {
      const receiver = await herald.startReceiver([204]);
      const { id } = await each.registerReceiver({ url: receiver.url });
      expect(bodyOf(await each.sendTest(id), 200)).toMatchObject({ delivered: true, receiverStatus: 204 });
      await each.request('DELETE', `/api/public/webhooks/${id}`);
    }
  });

  test('a rotated secret signs beside the old one until the overlap ends', async () => {
    const own = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    const { id, secret: old } = await own.registerReceiver({ url: receiver.url });
    const rotated = await own.request('POST', `/api/public/webhooks/${id}/secret/rotate`, { body: {} });
    const { secret } = bodyOf(rotated, 200) as { secret: string };
    await createDeliveryClient(own).emit();
    expect(await whoSigned(await receiver.next(), [old, secret])).toEqual({ service: [old], standard: [old, secret] });
  });

  test('a repeated request with an Idempotency-Key has its effect once, through whichever API', async () => {
    const own = await herald.createWorkspace();
    const options = { body: { url: 'https://127.0.0.1:8443/' }, headers: { 'idempotency-key': 'once' } };
    const answers = [];
    for (const via of herald.apis) {
      const send = { ...options, key: own.key, via };
      answers.push(bodyOf(await herald.request('POST', '/api/public/webhooks', send), 201));
    }
    expect(new Set(answers.map((answer) => (answer as { id: string }).id)).size).toBe(1);
    expect((await own.listReceivers()).webhooks).toHaveLength(1);
  });

  test('a key that asks too fast is refused', async () => {
    const via = await herald.startApi({ RATE_LIMIT: '5' });
    const key = await herald.createKey('ws_fast', ['webhooks']);
    const ask = () => herald.request('GET', '/api/public/webhooks', { key, via });
    const statuses = (await Promise.all(Array.from({ length: 40 }, ask))).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    await via.stop();
  });

  test('operators see the queue of every shard, and the metrics of the whole', async () => {
    const names = (await createOperatorClient(herald).readQueues()).map(({ name }) => name);
    expect(names).toEqual(keyspace.shards.map((_, shard) => `shard-${shard}.deliveries`));
    const { OPERATOR_USER: user, OPERATOR_PASSWORD: password } = OPERATOR_ENV;
    const metrics = await herald.request('GET', '/metrics', { headers: basic(user, password) });
    expect(metrics.text).toContain('herald_');
    const ready = await herald.request('GET', '/readyz');
    expect(bodyOf(ready, 200)).toMatchObject({ status: 'ok', workers: 1 });
  });

  test('every secret is re-encrypted with another key, whichever master holds it, while deliveries go on', async () => {
    const both = { SECRETS_KEY: `${randomBytes(32).toString('base64')},${SECRETS_KEY}` };
    const before = [...herald.apis, ...herald.workers].filter(({ process }) => !process.hasExited());
    await herald.startApi(both);
    await herald.startWorker(both);
    for (const each of before) await each.stop();
    const run = (command: string) =>
      runCli(['secrets', command, '--json'], { ...herald.topology.env, ...both, SHARDS: String(SHARDS) });
    const first = await run('reencrypt');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const again = JSON.parse((await run('reencrypt')).stdout) as { moved: number; inPlace: number };
    // One of each shard's workspace at the least, and the rotated pair.
    expect(again).toMatchObject({ moved: 0, unopenable: [] });
    expect(again.inPlace).toBeGreaterThan(2 * SHARDS);
    expect((JSON.parse(first.stdout) as { moved: number }).moved).toBe(again.inPlace);
    for (const each of workspaces) {
      const receiver = await herald.startReceiver();
      await each.registerReceiver({ url: receiver.url });
      await createDeliveryClient(each).emit();
      await receiver.next();
    }
    await herald.settled(30_000);
  });
});
