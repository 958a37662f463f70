import { createRequire } from 'node:module';
import type { RedisClient } from '@herald/infra';
import { createOperatorClient, type OperatorClient } from '../../support/operator-client.ts';
import { dumpRedis } from '../../support/redis-dump.ts';
import { CANARIES, startScene, type Scene } from './scene.ts';

interface BoardRoute {
  method: string | string[];
  route: string | string[];
}
// The routes of the version that the API uses, as the API finds it.
const requireFromApi = createRequire(new URL('../../../apps/api/package.json', import.meta.url));
const { appRoutes } = requireFromApi('@bull-board/api/dist/routes.js') as { appRoutes: { api: BoardRoute[] } };
const ROUTES = appRoutes.api.flatMap(({ method, route }) =>
  [method].flat().flatMap((each) => [route].flat().map((path) => ({ method: each.toUpperCase(), path }))),
);

let scene: Scene;
let operator: OperatorClient;
beforeAll(async () => {
  scene = await startScene();
  operator = createOperatorClient(scene.herald);
}, 60_000);
afterAll(() => scene[Symbol.asyncDispose]());

function fill(path: string, queue: string, jobId: string): string {
  return path
    .replace(':queueName', queue)
    .replace(':jobId', jobId)
    .replace(':queueStatus', 'delayed')
    .replace(':schedulerId', 'daily');
}

/** Bodies that the routes would take. */
const BODY = {
  ...{ name: 'task.done', data: { canary: 1 }, options: {}, jobData: { canary: 1 } },
  ...{ runAt: Date.now(), priority: 1, concurrency: 1, max: 1, duration: 1_000, force: true, every: 1_000 },
};

/** All that Redis holds, but for what leaves by itself when workers are gone. */
async function snapshot(redis: RedisClient): Promise<Record<string, string>> {
  const entries = [...(await dumpRedis(redis))];
  return Object.fromEntries(entries.filter(([key]) => key !== 'herald:workers' && !key.endsWith(':stalled-check')));
}

describe('on a read-only board', () => {
  const changing = ROUTES.filter(({ method }) => method !== 'GET');

  test('bull-board has routes that would change something', () => {
    expect(changing.length).toBeGreaterThan(20);
  });

  test.each(changing)('$method $path is refused and changes nothing', async ({ method, path }) => {
    const before = await snapshot(scene.herald.redis);
    for (const [queue, id] of [
      ['deliveries', scene.delayed.deliveryId],
      ['tests', scene.delayed.deliveryId],
      ['backlogs', scene.backlog.destination],
      ['failed', scene.failed.deliveryId],
      ['other', 'x'],
    ] as const) {
      const answer = await operator.act(method, fill(path, queue, id), { body: BODY });
      expect({ queue, status: answer.status }).toEqual({ queue, status: 405 });
    }
    await expect(snapshot(scene.herald.redis)).resolves.toEqual(before);
  });

  test.each(ROUTES.filter(({ method }) => method === 'GET'))(
    'GET $path answers, and changes nothing',
    async ({ path }) => {
      const before = await snapshot(scene.herald.redis);
      for (const [queue, id] of [
        ['deliveries', scene.delayed.deliveryId],
        ['backlogs', scene.backlog.destination],
        ['failed', scene.failed.deliveryId],
      ] as const) {
        const { status } = await operator.request('GET', fill(path, queue, id));
        expect({ queue, status }).toEqual({ queue, status: 200 });
      }
      await expect(snapshot(scene.herald.redis)).resolves.toEqual(before);
    },
  );

  test.each(['DELETE', 'POST', 'PUT', 'PATCH'])(
    '%s of a path that is not bull-board’s changes nothing',
    async (method) => {
      const { status } = await operator.act(method, '/api/queues/deliveries');
      expect(status).toBe(404);
    },
  );
});

describe('an operator sees', () => {
  test('every queue, the backlogs and what failed, with how much is in each', async () => {
    const queues = await operator.readQueues();
    expect(queues.map(({ name, readOnlyMode }) => ({ name, readOnlyMode }))).toEqual(
      ['deliveries', 'backlogs', 'failed', 'tests'].map((name) => ({ name, readOnlyMode: true })),
    );
    expect(Object.fromEntries(queues.map(({ name, counts }) => [name, counts]))).toMatchObject({
      deliveries: { active: 0 },
      backlogs: { waiting: 0, delayed: 1 },
      failed: { failed: 1 },
      tests: { active: 0, waiting: 0, delayed: 0 },
    });
  });

  test('of a delayed job what it is for, where to, what came of it so far, and when it goes on', async () => {
    const { delayed, workspace, herald } = scene;
    const { job, status } = await operator.readJob('deliveries', delayed.deliveryId);
    expect(status).toBe('delayed');
    expect(job.name).toBe(`task.done → ${delayed.host}`);
    expect(job.data).toMatchObject({
      ...{ event: 'task.done', workspace: workspace.id, host: delayed.host, task: delayed.taskId },
      ...{ status: 'pending', tries: 1, attempts: 1, lastOutcome: '503' },
    });
    const read = await herald.request('GET', `/api/public/deliveries/${delayed.deliveryId}`, { key: workspace.key });
    const { nextAttemptAt } = read.body as { nextAttemptAt: string };
    expect(job.data.nextTry).toBe(nextAttemptAt);
    // The page adds the two up, and says when it runs. BullMQ counts in whole ms of the worker's clock, so it may be one off.
    expect(Math.abs(job.timestamp + job.delay - Date.parse(nextAttemptAt))).toBeLessThanOrEqual(1);
    const listed = (await operator.readQueue('deliveries', 'delayed')).jobs.find(({ id }) => id === delayed.deliveryId);
    expect(listed?.data).toEqual(job.data);
  });

  test('a destination with a backlog: its host, how many wait and since when, and when the next probe goes out', async () => {
    const { destination, host, count } = scene.backlog;
    const [listed] = (await operator.readQueue('backlogs', 'delayed')).jobs;
    expect(count).toBeGreaterThan(2);
    expect(listed).toMatchObject({
      ...{ id: destination, name: `${host}: ${count} waiting` },
      data: { host, waiting: count, breaker: 'open', unansweredInARow: 5 },
    });
    expect(Date.parse(String(listed?.data.nextProbe))).toBe((listed?.timestamp ?? 0) + (listed?.delay ?? 0));
    expect(Date.parse(String(listed?.data.oldestWaitsSince))).toBeLessThanOrEqual(Date.now());
    const { job, status } = await operator.readJob('backlogs', destination);
    expect(status).toBe('delayed');
    const next = job.data.next as string[];
    expect(next).toHaveLength(count);
    expect(next[0]).toMatch(/^dlv_\w+: task\.check_in → 127\.0\.0\.1:\d+ \(wh_\w+\), tries \d, last outcome /);
  });

  test('a failed delivery, and why', async () => {
    const { deliveryId, taskId } = scene.failed;
    const [job] = (await operator.readQueue('failed', 'failed')).jobs;
    expect(job).toMatchObject({
      ...{ id: deliveryId, attempts: 1, failedReason: 'schedule_exhausted, last outcome 503' },
      data: { event: 'task.done', task: taskId, status: 'failed', tries: 1, lastOutcome: '503' },
    });
  });

  test('no secret, no body, no answer, and of a url nothing but its host', async () => {
    const pages = await Promise.all([
      ...['deliveries', 'backlogs', 'failed', 'tests'].map((name) => operator.readQueues(name)),
      operator.readJob('deliveries', scene.delayed.deliveryId),
      operator.readJob('failed', scene.failed.deliveryId),
      operator.readJob('backlogs', scene.backlog.destination),
    ]);
    const text = JSON.stringify(pages);
    expect(text).toContain(scene.delayed.host);
    for (const hidden of [...CANARIES, ...scene.secrets])
      expect(text).not.toContain(hidden.replace(/^(whsec|hrld)_/, ''));
  });

  test('that a job or a queue is not there', async () => {
    for (const path of [
      'deliveries/dlv_none',
      'failed/dlv_none',
      `failed/${scene.delayed.deliveryId}`,
      'backlogs/none',
      'other/x',
    ])
      expect((await operator.request('GET', `/api/queues/${path}`)).status).toBe(404);
  });
});
