import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { bodyOf } from '../../support/http-request.ts';
import { limitMemory } from '../../support/limit-memory.ts';
import { scrape } from '../../support/metrics.ts';
import { document } from '../../support/openapi-document.ts';
import { problemOf } from '../../support/problems.ts';
import { checkpoint, DONE, START } from '../../support/reports.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

const TOKEN = 'a-token-of-letters';
const ENV = { WORKSPACE_PENDING_LIMIT: '3', WORKSPACE_BYTES: '1000000', METRICS_TOKEN: TOKEN };

let herald: Herald;
let platformKey: string;
beforeAll(async () => {
  herald = await startHerald({ workers: 0, env: ENV });
  platformKey = await herald.createKey(undefined, ['platform']);
});
afterAll(() => herald[Symbol.asyncDispose]());

const askAsPlatform = (method: string, path: string, body?: object) =>
  herald.request(method, `/api/platform/workspaces/${path}`, { key: platformKey, ...(body && { body }) });

async function run(...args: readonly string[]) {
  const { code, stdout, stderr } = await runCli(args, herald.topology.env);
  return { code, stdout, stderr };
}

test('a workspace that is full is refused item by item, until an operator frees what it holds', async () => {
  const [full, other] = [await herald.createWorkspace(), await herald.createWorkspace()];
  const receiver = await herald.startReceiver();
  const { id } = await full.registerReceiver({ url: receiver.url });
  await other.registerReceiver({ url: receiver.url });
  const [task, others] = [await full.createTask(), await other.createTask()];
  await herald.executor.report(task.id, START);
  await herald.executor.report(others.id, START);
  const results = await herald.executor.reportBatch([
    ...['c1', 'c2', 'c3', 'c4'].map((each) => ({ taskId: task.id, ...checkpoint(each) })),
    { taskId: others.id, ...checkpoint('c1') },
  ]);
  const codes = results.map((result) => ('error' in result ? result.error.code : 'accepted'));
  expect(codes).toEqual(['accepted', 'accepted', 'accepted', 'workspace_full', 'accepted']);
  const refused = await herald.executor.tryReport(task.id, DONE);
  expect(problemOf(refused)).toMatchObject({ status: 429, code: 'workspace_full' });
  expect(refused.headers['retry-after']).toBe('10');
  const created = await full.request('POST', '/tasks', { body: {} });
  expect(problemOf(created)).toMatchObject({ status: 429, code: 'workspace_full' });
  expect((await other.request('POST', '/tasks', { body: {} })).status).toBe(201);

  const shown = await run('queues', '--by-workspace', '--json');
  expect(JSON.parse(shown.stdout)).toMatchObject({ workspaces: [{ pending: 3 }, { pending: 1 }] });
  const [api] = herald.apis;
  const { sum } = await scrape(api?.origin ?? '', { authorization: `Bearer ${TOKEN}` });
  expect(sum('herald_workspace_pending_deliveries')).toBe(4);
  expect(sum('herald_workspace_held_bytes')).toBeGreaterThan(4_000);

  const without = await run('deliveries', 'purge', '--yes');
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('name at least one of') as string });
  const counted = await run('deliveries', 'purge', '--receiver', id, '--json');
  expect(JSON.parse(counted.stdout)).toEqual({ deliveries: 3, pending: 3, isDone: false });
  const cancel = ['deliveries', 'cancel', '--task', task.id, '--event', 'task.check_in'];
  expect((await run(...cancel)).stdout).toBe('3 deliveries would be canceled. --yes does it.');
  const canceled = await run(...cancel, '--yes');
  expect(canceled.stdout).toMatch(/^3 deliveries canceled, and that is all of them; /);
  // Nothing is left that could be canceled, though all of it is still there.
  expect((await run(...cancel)).stdout).toBe('0 deliveries would be canceled. --yes does it.');
  const delivered = await run(...cancel, '--status', 'delivered');
  expect(delivered).toMatchObject({ code: 1, stderr: expect.stringContaining('leave --status out') as string });
  const { text: canceledBefore } = await full.request('GET', '/api/public/deliveries');
  await herald.executor.report(task.id, DONE);
  const purged = await run('deliveries', 'purge', '--receiver', id, '--status', 'canceled', '--yes', '--json');
  expect(JSON.parse(purged.stdout)).toEqual({ deliveries: 3, pending: 0, isDone: true });
  const left = await full.request('GET', '/api/public/deliveries');
  expect(canceledBefore).toContain('canceled_by_operator');
  expect(JSON.parse(left.text)).toMatchObject({ deliveries: [{ event: 'task.done', status: 'pending' }] });
}, 30_000);

/**
 * Every operation that adds something to what a workspace has pending or stored, and what it answers where the workspace
 * has as much pending, and where it has as much stored, as it may. `request` gets what `fillUp` made.
 */
const ADDING: Readonly<
  Record<string, { pending: number; bytes: number; request: (filled: Filled) => Promise<Answered> }>
> = {
  createTask: { pending: 429, bytes: 429, request: ({ ask }) => ask('POST', '/tasks', {}) },
  createWorkspaceTask: {
    pending: 429,
    bytes: 429,
    request: ({ workspace }) => askAsPlatform('POST', `${workspace}/tasks`, {}),
  },
  addMessage: {
    pending: 200,
    bytes: 429,
    request: ({ ask, other }) => ask('POST', `/tasks/${other}/messages`, { text: 'x'.repeat(2_000) }),
  },
  cancelTask: { pending: 429, bytes: 429, request: ({ ask, task }) => ask('POST', `/tasks/${task}/cancel`) },
  closeTask: {
    pending: 429,
    bytes: 429,
    request: ({ ask, task }) => ask('POST', `/tasks/${task}/close`, { status: 'done' }),
  },
  reportTransition: { pending: 429, bytes: 429, request: ({ task }) => herald.executor.tryReport(task, DONE) },
  reportTransitions: {
    pending: 429,
    bytes: 429,
    async request({ task }) {
      const [result] = await herald.executor.reportBatch([{ taskId: task, ...DONE }]);
      const error = result && 'error' in result ? result.error : undefined;
      return { status: error ? 429 : 200, text: JSON.stringify(error) };
    },
  },
  testReceiver: {
    pending: 429,
    bytes: 429,
    request: ({ ask, receiver }) => ask('POST', `/api/public/webhooks/${receiver}/test`),
  },
  // Its body is there already.
  redeliverDelivery: {
    pending: 429,
    bytes: 202,
    request: ({ ask, settled }) => ask('POST', `/api/public/deliveries/${settled}/redeliver`),
  },
};
type Answered = { readonly status: number; readonly text: string };
type Filled = Awaited<ReturnType<typeof fillUp>>;

/** A workspace that is full, with a delivery that has settled. */
async function fillUp(of: 'pending' | 'bytes') {
  const workspace = await herald.createWorkspace();
  const { id: receiver } = await workspace.registerReceiver({ url: (await herald.startReceiver()).url });
  const [ended, task, other] = [
    await workspace.createTask(),
    await workspace.createTask(),
    await workspace.createTask(),
  ];
  await herald.executor.report(ended.id, START, checkpoint('c1'));
  await run('deliveries', 'cancel', '--receiver', receiver, '--yes');
  const { text } = await workspace.request('GET', '/api/public/deliveries');
  const settled = (JSON.parse(text) as { deliveries: { id: string }[] }).deliveries[0]?.id ?? '';
  await herald.executor.report(task.id, START);
  await herald.executor.report(other.id, START);
  if (of === 'pending') await herald.executor.report(task.id, checkpoint('c1'), checkpoint('c2'), checkpoint('c3'));
  for (let size = 200_000; of === 'bytes' && size >= 1; size = Math.floor(size / 2)) {
    const fill = () => workspace.request('POST', '/tasks', { body: { input: { text: 'x'.repeat(size) } } });
    while ((await fill()).status === 201);
  }
  const ask = (method: string, path: string, body?: object) => workspace.request(method, path, body ? { body } : {});
  return { ask, workspace: workspace.id, task: task.id, other: other.id, receiver, settled };
}

test.each(['pending', 'bytes'] as const)(
  'where a workspace has as much %s as it may, whatever adds to it is refused',
  async (of) => {
    // Nobody sends test events, and none may come so far.
    await herald.redis.zadd(GLOBAL_KEYS.workers, Date.now() + 60_000, 'nobody');
    const filled = await fillUp(of);
    const answers: Record<string, unknown> = {};
    for (const [name, { request }] of Object.entries(ADDING)) {
      const { status, text } = await request(filled);
      answers[name] = text.includes('"workspace_full"') ? 429 : status;
    }
    await herald.redis.zrem(GLOBAL_KEYS.workers, 'nobody');
    // What frees is never refused.
    const erased = bodyOf(await askAsPlatform('DELETE', filled.workspace), 200);
    expect(erased).toMatchObject({ erased: true });
    expect(answers).toEqual(Object.fromEntries(Object.entries(ADDING).map(([name, each]) => [name, each[of]])));
  },
  30_000,
);

/** They add nothing but the answer that is kept for a new `Idempotency-Key`. */
const KEEPING = [
  'createWorkspaceKey',
  'createWorkspacePortalLink',
  'bindExecutionWorkspace',
  'registerReceiver',
  'replayDeliveries',
  'resolveApproval',
  'createPortalLink',
];

test('the operations that say so in the document are those that add something', () => {
  const operations = Object.values(document.paths).flatMap((each) => Object.values(each));
  const documented = operations.filter(({ responses }) => JSON.stringify(responses).includes('workspace_full'));
  // A batch says it in its items.
  const names = [...documented.map(({ operationId }) => operationId), 'reportTransitions'];
  expect(names.sort()).toEqual([...Object.keys(ADDING), ...KEEPING].sort());
});

test('where no more answers are kept, a new key is refused to what creates, and a receiver is changed under one', async () => {
  const { workspace, receiver, ask } = await fillUp('bytes');
  const key = await herald.createKey(workspace, ['webhooks']);
  const under = (method: string, path: string, body: object) =>
    herald.request(method, path, { key, body, headers: { 'idempotency-key': 'new' } });
  const link = await under('POST', '/api/public/portal-links', {});
  expect(problemOf(link)).toMatchObject({ status: 429, code: 'workspace_full' });
  expect(link.headers['retry-after']).toBe('10');
  const path = `/api/public/webhooks/${receiver}`;
  for (let time = 0; time < 2; time++) {
    const disabled = await under('PATCH', path, { enabled: false });
    expect([disabled.status, disabled.headers['idempotency-replayed']]).toEqual([200, undefined]);
  }
  expect((await under('POST', `${path}/secret/rotate`, {})).status).toBe(200);
  expect((await ask('POST', '/api/public/portal-links', {})).status).toBe(201);
});

test('on a full Redis a worker starts and sends, and receivers are disabled', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, checkpoint('c1'));
  await limitMemory(herald.redis, 1);
  try {
    expect(problemOf(await herald.executor.tryReport(task.id, checkpoint('c2'))).status).toBe(503);
    await herald.startWorker();
    await receiver.next();
    const disabled = await workspace.request('PATCH', `/api/public/webhooks/${id}`, { body: { enabled: false } });
    expect(disabled.status).toBe(200);
    expect((await run('receivers', 'disable', id)).code).toBe(0);
    expect((await workspace.request('DELETE', `/api/public/webhooks/${id}`)).status).toBe(200);
  } finally {
    await limitMemory(herald.redis, 0);
  }
  await herald.settled();
}, 30_000);

test('a lower RETENTION counts for what has settled before', async () => {
  const shorter = await herald.startWorker({ RETENTION: '1m' });
  await herald.waitForLog('retention.shortened', shorter);
  const settled = await herald.redis.keys('{*}:dlv_*');
  const lives = await Promise.all(settled.map((key) => herald.redis.pttl(key)));
  expect(lives.filter((ms) => ms <= 0 || ms > 60_000)).toEqual([]);
}, 30_000);
