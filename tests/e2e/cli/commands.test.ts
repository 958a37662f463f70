import { callbackIdOf, createSigningKey, deliveryIdOf } from '@herald/core';
import { createKeyspace } from '@herald/store/keys/keys';
import { createWorkerPresence } from '@herald/store/operators/create-service-state-reader';
import { launchProcess, waitFor, type Receiver } from '@herald/test-kit';
import { readFileSync } from 'node:fs';
import { createDeliveryClient, type DeliveryClient } from '../../support/delivery-client.ts';
import { runCli } from '../../support/run-cli.ts';
import { entryPoint } from '../../support/start-herald-process.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { RegisteredReceiver, WorkspaceClient } from '../../support/workspace-client.ts';

const keyIdOf = (secret: string) => createSigningKey(secret).id;
const ENV = { SHARDS: '3', RETRY_SCHEDULE: '1h' };
const UNKNOWN = 'wh_00000000000000000000000000';

let herald: Herald;
/** All that any command has printed. */
const printed: string[] = [];
const secrets: string[] = [];
const HEADER = 'Bearer header-canary';
beforeAll(async () => {
  herald = await startHerald({ env: ENV });
});
afterAll(() => herald[Symbol.asyncDispose]());

async function run(...args: readonly string[]) {
  const result = await runCli(args, { ...herald.topology.env, ...ENV });
  printed.push(result.stdout, result.stderr);
  return result;
}

/** What a command prints for programs; it must have gone well. */
async function read<Document>(...args: readonly string[]): Promise<Document> {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Document;
}

interface Scene {
  workspace: WorkspaceClient;
  receiver: Receiver;
  registered: RegisteredReceiver;
  deliveries: DeliveryClient;
}

/** A workspace of its own, with one receiver that answers like this. */
async function startScene(respond: Parameters<Herald['startReceiver']>[0] = [200]): Promise<Scene> {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver(respond);
  const registered = await workspace.registerReceiver({
    url: `${receiver.origin}/hook?token=url-canary`,
    headers: { authorization: HEADER },
    maxRetryHours: 48,
  });
  secrets.push(registered.secret, workspace.key, HEADER);
  return { workspace, receiver, registered, deliveries: createDeliveryClient(workspace) };
}

type Row = Record<string, unknown>;

describe('herald receivers', () => {
  test('list shows those of every workspace, by their origin, and never a callback', async () => {
    const [one, other] = [await startScene(), await startScene()];
    const { callback } = await one.workspace.createTask({ callback: { url: one.receiver.url } });
    secrets.push(callback?.secret ?? '');
    const all = await read<Row[]>('receivers', 'list');
    expect(all.filter(({ id }) => id === one.registered.id || id === other.registered.id)).toHaveLength(2);
    expect(all.every(({ id }) => String(id).startsWith('wh_'))).toBe(true);
    expect(await read<Row[]>('receivers', 'list', '--workspace', one.workspace.id)).toEqual([
      expect.objectContaining({
        id: one.registered.id,
        workspace: one.workspace.id,
        url: one.receiver.origin,
        headerNames: ['authorization'],
        maxRetryHours: 48,
        state: 'healthy',
        consecutiveFailures: 0,
        backlog: 0,
        lastSuccessAt: null,
      }),
    ]);
    expect(printed.join('\n')).not.toContain('url-canary');
    const whole = await run('receivers', 'list', '--workspace', one.workspace.id, '--urls');
    expect(whole.stdout).toContain(`${one.receiver.origin}/hook?token=url-canary`);
    printed.splice(-2, 2); // it was asked for
  });

  test('list and deliveries tell when it is the rate of a receiver that makes deliveries wait', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver([200]);
    const { id } = await workspace.registerReceiver({ url: receiver.url, rateLimit: { perSecond: 1 } });
    secrets.push(workspace.key);
    for (let task = 0; task < 15; task++) await workspace.closeTask((await workspace.createTask()).id);
    await receiver.waitForCount(1);
    const [listed] = await read<Row[]>('receivers', 'list', '--workspace', workspace.id);
    expect(listed).toMatchObject({ id, rateLimit: { perSecond: 1 }, state: 'healthy' });
    expect(Number(listed?.waitingForRate)).toBeGreaterThan(5);
    const { stdout } = await run('receivers', 'list', '--workspace', workspace.id);
    expect(stdout).toMatch(/healthy, \d+ wait for its rate of 1\/s/);
    const pending = await read<Row[]>('deliveries', 'list', '--receiver', id, '--status', 'pending');
    expect(pending[0]).toMatchObject({ waitsFor: { state: 'rate_limited' } });
    const shown = await run('deliveries', 'show', String(pending[0]?.id));
    expect(shown.stdout).toContain('when the rate of its receiver allows it');
    await workspace.request('DELETE', `/api/public/webhooks/${id}`);
  });

  test('its test tells what the receiver answered, and fails unless it was a 2xx', async () => {
    const { registered, receiver } = await startScene([204, { status: 500, body: 'out of \u001b[31morder' }, 200]);
    expect(await run('receivers', 'test', registered.id)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Delivered \(dlv_\w{32}\): it answered 204 after \d+ ms\.$/) as string,
      stderr: '',
    });
    expect(await run('receivers', 'test', registered.id)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^Not delivered \(dlv_\w{32}\): it answered 500 after \d+ ms, "out of {2}\[31morder"\.$/,
      ) as string,
    });
    expect(await read('receivers', 'test', registered.id, '--event', 'task.requires_action')).toEqual({
      id: registered.id,
      delivered: true,
      receiverStatus: 200,
      deliveryId: receiver.requests[2]?.headers['x-service-delivery'],
      durationMs: expect.any(Number) as number,
    });
    expect(receiver.requests.map(({ headers }) => headers['x-service-event'])).toEqual([
      ...['webhook.test', 'webhook.test', 'task.requires_action'],
    ]);
    const listed = await read<Row[]>('deliveries', 'list', '--receiver', registered.id);
    expect(listed).toMatchObject([
      { event: 'webhook.test', sampleOf: 'task.requires_action', status: 'delivered' },
      { event: 'webhook.test', status: 'failed' },
      { event: 'webhook.test', status: 'delivered' },
    ]);
    const failed = await read<Row[]>('deliveries', 'list', '--status', 'failed');
    expect(failed.map(({ id }) => id)).toContain(listed[1]?.id);
    for (const of of [
      ['--receiver', registered.id],
      ['--status', 'failed', '--event', 'webhook.test'],
    ]) {
      const idsOf = async (...filter: string[]) =>
        (await read<{ id: string }[]>('deliveries', 'list', ...of, ...filter)).map(({ id }) => id);
      for (const filter of [
        ['--http-status', '5xx'],
        ['--http-status', '500'],
        ['--error', 'test_failed'],
      ])
        expect(await idsOf(...filter)).toContain(listed[1]?.id);
      expect(await idsOf('--http-status', '503', '--error', 'test_failed')).not.toContain(listed[1]?.id);
    }
    // Nothing was lost with it: neither counts it.
    expect(await read('queues')).toMatchObject({ failedLately: 0 });
    expect(receiver.requests[2]?.headers['x-service-sample']).toBe('true');
  });

  test('disable ends what is pending as canceled, and enable undoes it; both say when nothing was to do', async () => {
    const { registered, deliveries } = await startScene([503]);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForAttempts(id, 1);
    expect(await run('receivers', 'enable', registered.id)).toMatchObject({
      code: 0,
      stdout: `${registered.id} is enabled already; nothing was changed.`,
    });
    expect(await read('receivers', 'disable', registered.id)).toEqual({
      id: registered.id,
      enabled: false,
      locked: false,
      changed: true,
    });
    expect(await deliveries.waitForStatus(id, 'canceled')).toMatchObject({ reason: 'receiver_disabled' });
    expect((await run('receivers', 'disable', registered.id)).stdout).toContain('is disabled already');
    expect(await deliveries.readReceiver(registered)).toMatchObject({ enabled: false, disabledReason: 'by_request' });
    expect((await run('receivers', 'enable', registered.id)).stdout).toMatch(/^Enabled wh_\w+\. .*herald replay/);
    expect(await deliveries.readReceiver(registered)).toMatchObject({ enabled: true });
  });
});

test('herald receivers disable and enable a callback by its id, and say how to bring back what it missed', async () => {
  const { workspace, deliveries } = await startScene();
  const callback = await herald.startReceiver();
  const task = await workspace.createTask({ callback: { url: callback.url } });
  secrets.push(task.callback?.secret ?? '');
  const id = callbackIdOf(task.id);
  expect((await run('receivers', 'disable', id)).stdout).toMatch(/^Disabled cb_\w+\. .*herald deliveries redeliver/);
  expect((await workspace.readTask(task.id)).callback).toMatchObject({ enabled: false, disabledReason: 'by_request' });
  const { transitionId } = await workspace.closeTask(task.id);
  const missed = await deliveries.waitForStatus(deliveryIdOf(transitionId, id), 'canceled');
  expect(await run('deliveries', 'redeliver', missed.id)).toMatchObject({
    code: 1,
    stderr: `error: ${id} is disabled; enable it first: herald receivers enable ${id}`,
  });
  expect(await read('receivers', 'enable', id)).toEqual({ id, enabled: true, locked: false, changed: true });
  await run('deliveries', 'redeliver', missed.id);
  await deliveries.waitForStatus(missed.id, 'delivered');
});

describe('herald deliveries', () => {
  test('list finds those of a receiver, a Task, a workspace, by status, event and time', async () => {
    const { registered, deliveries, workspace } = await startScene([200, 503]);
    const delivered = await deliveries.emit();
    await deliveries.waitForStatus(delivered.to(registered), 'delivered');
    const pending = await deliveries.emit();
    await deliveries.waitForAttempts(pending.to(registered), 1);
    const list = async (...args: readonly string[]) =>
      (await read<{ id: string }[]>('deliveries', 'list', ...args)).map(({ id }) => id);
    const [first, second] = [delivered.to(registered), pending.to(registered)];
    const of = ['--receiver', registered.id];
    expect(await list(...of)).toEqual([second, first]);
    expect(await list('--workspace', workspace.id)).toEqual([second, first]);
    expect(await list('--task', delivered.taskId)).toEqual([first]);
    const { transitionId } = delivered;
    expect(await list('--transition', transitionId)).toEqual([first]);
    expect(await list('--transition', transitionId, '--status', 'failed')).toEqual([]);
    expect(await list('--transition', `trn_${'a'.repeat(32)}`)).toEqual([]);
    const path = `/api/public/deliveries?transitionId=${transitionId}`;
    expect(await herald.request('GET', path, { key: workspace.key })).toMatchObject({
      status: 200,
      body: { deliveries: [{ id: first }], nextCursor: null },
    });
    expect(await list(...of, '--status', 'pending')).toEqual([second]);
    expect(await list(...of, '--event', 'task.canceled')).toEqual([]);
    expect(await list(...of, '--since', '1h')).toHaveLength(2);
    expect(await list(...of, '--since', '2100-01-01T00:00:00Z')).toEqual([]);
    expect(await list(...of, '--until', '1h')).toEqual([]);
    expect(await list('--task', delivered.taskId, '--until', '1h')).toEqual([]);
    expect(await list(...of, '--since', 'today', '--until', '2100-01-01')).toHaveLength(2);
    const limited = await run('deliveries', 'list', ...of, '--limit', '1');
    expect(limited.stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['id', second]);
    expect(limited).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('There are more than these 1') as string,
    });
    const called = await deliveries.emit({ callback: { url: registered.url } });
    expect(await list('--workspace', workspace.id)).toContain(called.toCallback);
  });

  test('show has the attempts, and redeliver makes one more', async () => {
    const headers = { server: 'nginx' };
    const { registered, deliveries, workspace, receiver } = await startScene([{ status: 503, headers }, 200]);
    const emitted = await deliveries.emit();
    const id = emitted.to(registered);
    await deliveries.waitForAttempts(id, 1);
    expect(await read('deliveries', 'show', id)).toMatchObject({
      id,
      workspace: workspace.id,
      endpointId: registered.id,
      taskId: emitted.taskId,
      status: 'pending',
      tries: 1,
      event: 'task.done',
      lastOutcome: '503',
      attempts: [{ status: 503, headers, address: '127.0.0.1', keyIds: [keyIdOf(registered.secret)] }],
    });
    expect((await run('deliveries', 'show', id)).stdout).toMatch(
      new RegExp(`^1\t.*\t503\t\tserver: nginx\t127\\.0\\.0\\.1\t${keyIdOf(registered.secret)}\t$`, 'm'),
    );
    const { request } = await read<{ request: object }>('deliveries', 'show', id, '--request');
    const [sent] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', url: registered.url, body: sent?.rawBody.toString() });
    expect(sent?.headers).toMatchObject((request as { headers: object }).headers);
    expect((await run('deliveries', 'show', id, '--request')).stdout).toContain(`request\tPOST ${registered.url}\n`);
    printed.splice(-4, 4); // it was asked for
    const asked = await run('deliveries', 'redeliver', id);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining(`herald deliveries show ${id}`) as string });
    await deliveries.waitForStatus(id, 'delivered');
    const shown = await run('deliveries', 'show', id);
    expect(shown.stdout).toMatch(/^status\tdelivered$/m);
    expect(shown.stdout).toMatch(/^2\t\d{4}-.*\t200\t/m);
  });
});

test('a list of nothing says so in the words of what was asked for', async () => {
  const { registered, workspace } = await startScene();
  const of = `--receiver=${registered.id}`;
  const none = async (...args: readonly string[]) => await run(...args);
  expect(await none('deliveries', 'list', of, '--status', 'failed')).toMatchObject({
    code: 0,
    stderr: `No failed deliveries of ${registered.id}.`,
  });
  expect(await none('deliveries', 'list', '--status', 'failed', '--event', 'task.canceled')).toMatchObject({
    stderr: 'No failed task.canceled deliveries.',
  });
  expect((await none('receivers', 'list', '--workspace', `${workspace.id}x`)).stderr).toBe(
    `No receivers in ${workspace.id}x.`,
  );
});

describe('herald replay', () => {
  test('sends what was canceled once more and ends when that is done; show and stop know it afterwards', async () => {
    const { registered, deliveries } = await startScene([503, 200]);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForAttempts(id, 1);
    await run('receivers', 'disable', registered.id);
    await deliveries.waitForStatus(id, 'canceled');
    const refused = await run('replay', registered.id, '--since', '1h');
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `error: ${registered.id} is disabled; enable it first: herald receivers enable ${registered.id}`,
    });
    await run('receivers', 'enable', registered.id);

    const ended = await read<{ id: string }>('replay', registered.id, '--since', '1h');
    expect(ended).toMatchObject({ receiverId: registered.id, status: 'done', total: 1, seen: 1, replayed: 1 });
    await deliveries.waitForStatus(id, 'delivered');
    expect(await read('replay', 'show', ended.id)).toMatchObject({ status: 'done', replayed: 1 });
    expect((await run('replay', 'stop', ended.id)).stdout).toMatch(/^status\tdone$/m);
    const nothing = await run('replay', 'start', registered.id, '--since', '1h');
    expect(nothing).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing to replay/) as string });
  });

  test('--no-wait only starts it', async () => {
    const { registered } = await startScene();
    const { stdout } = await run('replay', registered.id, '--since', '2h', '--status', 'delivered', '--no-wait');
    expect(stdout).toMatch(/^Started replay rpl_\w+; "herald replay show rpl_\w+"/);
  });
});

test('herald queues counts what waits, shard by shard and receiver by receiver, and the workers', async () => {
  const { registered, deliveries, workspace, receiver } = await startScene([503]);
  await deliveries.waitForAttempts((await deliveries.emit()).to(registered), 1);
  const found = await read<{ workers: number; queues: Row[]; receivers: Row[]; receiverCount: number }>('queues');
  expect(found.workers).toBe(1);
  expect(found.queues).toMatchObject([0, 1, 2].map((shard) => ({ shard, queue: 'deliveries', isPaused: false })));
  const waiting = found.queues.reduce((sum, { delayed }) => sum + Number(delayed), 0);
  expect(found.receivers.reduce((sum, each) => sum + Number(each.deliveries), 0)).toBe(waiting);
  expect(found.receivers.find((each) => each.workspace === workspace.id)).toEqual({
    sentPerSecond: expect.any(Number) as number,
    emptyInMs: 0,
    receiver: registered.id,
    kind: 'receiver',
    workspace: workspace.id,
    host: new URL(receiver.origin).host,
    deliveries: 1,
    due: 0,
    inWork: 0,
    state: 'flowing',
    unanswered: 0,
    nextProbeAt: null,
    pausedUntil: null,
    waitsSince: null,
    nextDueAt: expect.stringMatching(/Z$/) as string,
  });
  expect(found.receiverCount).toBe(found.receivers.length);
  const { code, stdout } = await run('queues');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^shard\tqueue\twaiting/);
  expect(stdout).toMatch(/^receiver\thost\tworkspace\tdeliveries\tdue\tstate/m);
  expect(stdout).toMatch(/^workers seen lately\t1$/m);
  expect(stdout).toMatch(/^accepted, delivered a second\t\d+\.\d, \d+\.\d\nwhat is due is sent in\tnothing is due$/m);
});

test.each<[string, readonly string[], RegExp]>([
  ['an unknown callback', ['receivers', 'enable', `cb_${'0'.repeat(26)}`], /^error: there is no callback cb_0+ here$/],
  ['an unknown receiver', ['receivers', 'test', UNKNOWN], /^error: there is no receiver wh_0+ here$/],
  ['what is no receiver’s id', ['receivers', 'disable', 'dlv_x'], /must be the id of a receiver, such as wh_/],
  ['an unknown delivery', ['deliveries', 'show', `dlv_${'a'.repeat(32)}`], /^error: there is no delivery/],
  [
    'an unknown delivery to redeliver',
    ['deliveries', 'redeliver', `dlv_${'a'.repeat(32)}`],
    /^error: there is no delivery/,
  ],
  ['an unknown replay', ['replay', 'show', `rpl_${'0'.repeat(24)}`], /^error: there is no replay/],
  ['a list of everything', ['deliveries', 'list'], /--receiver, --task, --transition or --workspace/],
  ['an unknown status', ['deliveries', 'list', '--status', 'lost'], /pending, delivered, failed, canceled/],
  ['a transition that is none', ['deliveries', 'list', '--transition', 'trn_a'], /must be the id of a transition/],
  ['a time that is none', ['deliveries', 'list', '--status', 'failed', '--since', 'lately'], /such as 2h or 3d/],
  ['two things to list', ['deliveries', 'list', '--workspace', 'w', '--receiver', UNKNOWN], /cannot be used with/],
  ['a limit beyond bounds', ['deliveries', 'list', '--workspace', 'w', '--limit', '0'], /from 1 to 1000/],
  [
    'a list of no time',
    ['deliveries', 'list', '--workspace', 'w', '--since', '1h', '--until', '2h'],
    /--until must be later/,
  ],
  ['a replay without a time', ['replay', UNKNOWN], /required option '--since/],
  [
    'a replay of an unknown status',
    ['replay', UNKNOWN, '--since', '1h', '--status', 'lost'],
    /delivered, failed, canceled, pending/,
  ],
  ['a replay of an unknown error', ['replay', UNKNOWN, '--since', '1h', '--error', 'tls'], /such as tls_expired/],
  ['a replay of no time', ['replay', UNKNOWN, '--since', '1h', '--until', '2h'], /--until must be later/],
  ['an unknown command', ['recievers'], /unknown command.*receivers/s],
])('%s is refused with a sentence, exit code 1 and nothing on stdout', async (_name, args, sentence) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toMatch(/^ +at /m);
});

test('another SHARDS than the data’s is said instead of showing half of the receivers', async () => {
  await Promise.all(Array.from({ length: 6 }, () => startScene()));
  const { code, stdout, stderr } = await runCli(['receivers', 'list'], { ...herald.topology.env, SHARDS: '1' });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('SHARDS is 1, but the data in this Redis is laid out for 3');
});

test('without a worker a test event is refused, and a replay says that it waits', async () => {
  const { registered } = await startScene();
  await Promise.all(herald.workers.map((worker) => worker.stop()));
  expect(await run('receivers', 'test', registered.id)).toMatchObject({
    code: 1,
    stderr: 'error: no worker is running to send it',
  });
  const started = await run('replay', registered.id, '--since', '1h');
  expect(started).toMatchObject({ code: 0, stderr: expect.stringContaining('No worker was seen lately') as string });
  const id = /rpl_\w+/.exec(started.stdout)?.[0] ?? '';
  expect(await read('replay', 'stop', id)).toMatchObject({ status: 'stopped', replayed: 0 });
});

test('Ctrl-C ends the watching of a replay, says so, and leaves the replay to the workers', async () => {
  const { registered, workspace } = await startScene();
  // One that is there for the eye, so that the command waits, and nothing moves.
  await createWorkerPresence(herald.redis).show('a worker that does nothing', Date.now());
  const cli = await launchProcess({
    name: 'cli',
    command: process.execPath,
    args: [entryPoint('cli'), 'replay', registered.id, '--since', '1h'],
    env: { ...herald.topology.env, ...ENV },
  });
  const keys = createKeyspace(3).of(workspace.id);
  const id = await waitFor('the replay', async () => {
    const ids = await herald.redis.zrange(keys.replays, 0, '-1');
    const receivers = await Promise.all(ids.map((each) => herald.redis.hget(keys.replay(each), 'e')));
    return ids[receivers.indexOf(registered.id)];
  });
  cli.kill('SIGINT');
  expect(await cli.exited).toMatchObject({ code: 130 });
  expect(cli.stdout.join()).toContain(`Started replay ${id}`);
  expect(cli.stderr.join()).toContain(`herald replay stop ${id}`);
  expect(await read('replay', 'show', id)).toMatchObject({ status: 'running' });
});

test('no command has printed a secret, a key, or more of a url than its origin unless asked', () => {
  const text = printed.join('\n');
  expect(text).toContain('127.0.0.1:');
  expect(secrets.length).toBeGreaterThan(10);
  for (const secret of [...secrets, 'url-canary']) expect(text).not.toContain(secret);
});

test('a command begins without what only servers need', () => {
  const { sources } = JSON.parse(readFileSync(`${entryPoint('cli')}.map`, 'utf8')) as { sources: readonly string[] };
  expect(sources.some((source) => source.includes('node_modules/commander/'))).toBe(true);
  const packages = sources.map((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]);
  const servers = ['@prometheus-io/client', '@opentelemetry/api', 'express', 'got', '@bull-board/api'];
  expect(servers.filter((name) => packages.includes(name))).toEqual([]);
});
