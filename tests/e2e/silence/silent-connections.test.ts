import { waitFor } from '@herald/test-kit';
import { startLink } from '../../../chaos/link.ts';
import { problemOf } from '../../support/problems.ts';
import type { HeraldProcess } from '../../support/start-herald-process.ts';
import { startHerald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';

/** What a person is promised, in seconds. */
const TOLD_WITHIN = 3;
const DELIVERED_WITHIN = 15;
/** Longer than the whole of it may take; the assertions say what it may. */
const DEADLINE_MS = 40_000;

/** Seconds that pass until something is so. */
async function secondsUntil(what: string, condition: () => boolean | Promise<boolean>): Promise<number> {
  const from = performance.now();
  await waitFor(what, condition, DEADLINE_MS);
  return (performance.now() - from) / 1_000;
}

const isReady = async ({ origin }: HeraldProcess) => (await fetch(`${origin}/readyz`)).status === 200;
const isNotReady = async (process: HeraldProcess) => !(await isReady(process));

/** One API with a good way to Redis, and another way, for those that are started on it, that can forget connections as a load balancer does. */
async function startScene(workers: number) {
  await using cleanUp = new AsyncDisposableStack();
  const herald = cleanUp.use(await startHerald({ workers }));
  const link = cleanUp.use(await startLink(herald.server.port));
  const env = { REDIS_URL: `redis://127.0.0.1:${link.port}` };
  const forget = () => {
    link.begin('forget');
  };
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const closeTask = async () => workspace.closeTask((await workspace.createTask()).id);
  const stack = cleanUp.move();
  const dispose = async () => {
    // Before the link goes, which they would wait for.
    for (const each of [...herald.apis, ...herald.workers]) if (!each.process.hasExited()) await each.stop();
    await stack.disposeAsync();
  };
  return { herald, forget, env, workspace, receiver, id, closeTask, [Symbol.asyncDispose]: dispose };
}

test('a worker whose connections died in silence says so, connects anew, and delivers what waits', async () => {
  await using scene = await startScene(0);
  const { herald, forget, receiver } = scene;
  const worker = await herald.startWorker(scene.env);
  await scene.closeTask();
  await receiver.waitForCount(1);

  forget();
  await scene.closeTask();
  const delivered = secondsUntil('the delivery', () => webhooksAt(receiver).length === 2);
  expect(await secondsUntil('the worker to say so', () => isNotReady(worker))).toBeLessThan(TOLD_WITHIN);
  expect(await delivered).toBeLessThan(DELIVERED_WITHIN);
  expect(await secondsUntil('the worker to be ready again', () => isReady(worker))).toBeLessThan(TOLD_WITHIN);
}, 90_000);

test('an idle worker finds out by itself that its connections are dead', async () => {
  await using scene = await startScene(0);
  const worker = await scene.herald.startWorker(scene.env);
  scene.forget();
  const reconnections = () => worker.process.output().split('"redis.reconnected"').length - 1;
  expect(await secondsUntil('both connections to be made again', () => reconnections() >= 2)).toBeLessThan(30);
}, 90_000);

test('an API whose connections died in silence says so, refuses at once, and goes on', async () => {
  await using scene = await startScene(1);
  const { herald, forget, workspace } = scene;
  const api = await herald.startApi(scene.env);
  const list = () => herald.request('GET', '/api/public/webhooks', { via: api, key: workspace.key });
  const sendTest = () =>
    herald.request('POST', `/api/public/webhooks/${scene.id}/test`, { via: api, key: workspace.key });
  expect([(await list()).status, (await sendTest()).status]).toEqual([200, 200]);

  forget();
  const diedAt = performance.now();
  const inFlight = list();
  expect(await secondsUntil('the API to say so', () => isNotReady(api))).toBeLessThan(TOLD_WITHIN);
  const refusedAt = performance.now();
  const refused = await list();
  // At once: what waits for a command waits for five seconds.
  expect(performance.now() - refusedAt).toBeLessThan(4_000);
  // What was under way may still be answered well, over the connection that is made anew.
  const underWay = await inFlight;
  for (const answer of underWay.status === 200 ? [refused] : [refused, underWay]) {
    expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  }
  await waitFor('the API to be ready again', () => isReady(api), DEADLINE_MS);
  expect((performance.now() - diedAt) / 1_000).toBeLessThan(10);
  expect((await list()).status).toBe(200);
  // The connections that ask a worker, and that listen for its answer, were dead as well.
  await waitFor('a test event', async () => (await sendTest()).status === 200, DEADLINE_MS);
  expect((performance.now() - diedAt) / 1_000).toBeLessThan(DELIVERED_WITHIN);
}, 90_000);

test.each(['api', 'worker'] as const)(
  'the %s that is told to stop when its connections have just died ends in order',
  async (role) => {
    await using scene = await startScene(0);
    const started = await (role === 'api' ? scene.herald.startApi(scene.env) : scene.herald.startWorker(scene.env));
    scene.forget();
    const from = performance.now();
    expect(await started.stop()).toEqual({ code: 0, signal: null });
    // As long as it takes to find out; an orderly stop may take 15 s.
    expect(performance.now() - from).toBeLessThan(10_000);
  },
  60_000,
);
