import type { RedisClient } from '@herald/store/redis/connect-redis';
import { createOperatorClient, type OperatorClient } from '../../support/operator-client.ts';
import { dumpRedis } from '../../support/redis-dump.ts';
import { BODY, fill, ROUTES } from './board-routes.ts';
import { ANSWER_CANARY, CANARIES, startScene, type Scene } from './scene.ts';

let scene: Scene;
let operator: OperatorClient;
beforeAll(async () => {
  scene = await startScene();
  operator = createOperatorClient(scene.herald);
}, 60_000);
afterAll(() => scene[Symbol.asyncDispose]());

/** All that Redis holds, but for what leaves by itself when workers are gone. */
async function snapshot(redis: RedisClient): Promise<Record<string, string>> {
  const entries = [...(await dumpRedis(redis))];
  return Object.fromEntries(entries.filter(([key]) => key !== 'herald:workers'));
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
      ['deliveries', scene.failed.deliveryId],
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
        ['deliveries', scene.failed.deliveryId],
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
  test('the queue, with how much is in each state that there is', async () => {
    const [queue, ...others] = await operator.readQueues();
    expect(others).toEqual([]);
    expect(queue).toMatchObject({
      name: 'deliveries',
      type: 'bullmq',
      readOnlyMode: true,
      isPaused: false,
      hasWorkers: false,
      statuses: ['latest', 'active', 'waiting', 'delayed', 'failed'],
      // Of the receiver that doesn't answer those that were tried and those that were not.
      counts: { active: 0, waiting: 0, delayed: 8, failed: 1 },
    });
    const latest = await operator.readQueue('deliveries', 'latest');
    expect(latest.jobs).toHaveLength(9);
  });

  test('of a delayed delivery what it is for, where to, what came of it so far, and when it goes on', async () => {
    const { delayed, workspace, herald } = scene;
    const { job, status } = await operator.readJob('deliveries', delayed.deliveryId);
    expect(status).toBe('delayed');
    expect(job.name).toBe(`task.done → ${delayed.host}`);
    expect(job.data).toMatchObject({
      event: 'task.done',
      workspace: workspace.id,
      host: delayed.host,
      task: delayed.taskId,
      status: 'pending',
      tries: 2,
      attempts: 2,
      lastOutcome: '500',
    });
    expect(job).toMatchObject({ attempts: 2, failedReason: 'answered 500' });
    const read = await herald.request('GET', `/api/public/deliveries/${delayed.deliveryId}`, { key: workspace.key });
    const { nextAttemptAt } = read.body as { nextAttemptAt: string };
    expect(job.data.nextTry).toBe(nextAttemptAt);
    // The page adds the two up, and says when it runs.
    expect(job.timestamp + job.delay).toBe(Date.parse(nextAttemptAt));
    const listed = (await operator.readQueue('deliveries', 'delayed')).jobs.find(({ id }) => id === delayed.deliveryId);
    expect(listed?.data).toEqual(job.data);
  });

  test('its attempts, each with its answer, as its log', async () => {
    const lines = await operator.readLogs('deliveries', scene.delayed.deliveryId);
    expect(lines).toEqual([
      expect.stringMatching(/^\S+Z answered 500 after \d+ ms: first answer-canary$/),
      expect.stringMatching(/^\S+Z answered 500 after \d+ ms: second answer-canary$/),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(CANARIES.join('|')));
  });

  test('of a delivery whose receiver doesn’t answer until when that is left alone', async () => {
    const { deliveryId, host, nextProbeAt } = scene.paused;
    const { job, status } = await operator.readJob('deliveries', deliveryId);
    expect(status).toBe('delayed');
    expect(job.data).toMatchObject({ host, tries: 0, pausedUntil: new Date(nextProbeAt).toISOString() });
    expect(job.timestamp + job.delay).toBe(nextProbeAt);
    const listed = (await operator.readQueue('deliveries', 'delayed')).jobs.find(({ id }) => id === deliveryId);
    expect(listed?.data).toEqual(job.data);
  });

  test('a failed delivery, and why', async () => {
    const { deliveryId, taskId } = scene.failed;
    const [job] = (await operator.readQueue('deliveries', 'failed')).jobs;
    expect(job).toMatchObject({
      id: deliveryId,
      attempts: 1,
      failedReason: 'schedule_exhausted: answered 503',
      data: { event: 'task.done', task: taskId, status: 'failed', tries: 1, lastOutcome: '503' },
    });
    await expect(operator.readJob('deliveries', deliveryId)).resolves.toMatchObject({ status: 'failed' });
  });

  test('no secret, no body, and of a url nothing but its host; of an answer nothing but in a log', async () => {
    const ids = [scene.delayed, scene.failed, scene.paused].map(({ deliveryId }) => deliveryId);
    const pages = await Promise.all([
      ...['latest', 'waiting', 'delayed', 'failed'].map((status) => operator.readQueues('deliveries', status)),
      ...ids.map((id) => operator.readJob('deliveries', id)),
    ]);
    const logs = await Promise.all(ids.map((id) => operator.readLogs('deliveries', id)));
    const text = JSON.stringify(pages);
    expect(text).toContain(scene.delayed.host);
    expect(text).not.toContain(ANSWER_CANARY);
    for (const hidden of [...CANARIES, ...scene.secrets])
      expect(text + JSON.stringify(logs)).not.toContain(hidden.replace(/^(whsec|hrld)_/, ''));
  });

  test('that a job or a queue is not there', async () => {
    for (const path of ['deliveries/dlv_none', 'failed/dlv_none', `tests/${scene.delayed.deliveryId}`, 'other/x'])
      expect((await operator.request('GET', `/api/queues/${path}`)).status).toBe(404);
  });

  test('what Redis says of itself', async () => {
    const { body } = await operator.request('GET', '/api/redis/stats');
    expect(body).toMatchObject({ backend: 'redis', version: expect.stringMatching(/^\d+\./) as string });
  });
});
