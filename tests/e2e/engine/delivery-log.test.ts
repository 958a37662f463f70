import { createHash } from 'node:crypto';
import { deliveryIdOf } from '@herald/core';
import { waitFor, type Receiver } from '@herald/test-kit';
import { shardKeys } from '../../support/delivery-state.ts';
import { createDeliveryClient, type DeliveryListItem } from '../../support/delivery-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { problemOf } from '../../support/problems.ts';
import { checkpoint, DONE, START } from '../../support/reports.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';

jest.setTimeout(60_000);

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ env: { RETRY_SCHEDULE: '50ms' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

async function startWorkspace(receiver: Receiver) {
  const workspace = await herald.createWorkspace();
  const registered = await workspace.registerReceiver({ url: receiver.url });
  return { workspace, registered, deliveries: createDeliveryClient(workspace) };
}

const idsOf = (deliveries: readonly DeliveryListItem[]) => deliveries.map(({ id }) => id);

describe("a receiver's deliveries", () => {
  test('are listed newest first, and by status and event', async () => {
    const receiver = await herald.startReceiver((request) => {
      return (JSON.parse(request.rawBody.toString()) as { event: string }).event === 'task.check_in' ? 500 : 200;
    });
    const { workspace, registered, deliveries } = await startWorkspace(receiver);
    const facts = [];
    for (let count = 0; count < 3; count++) {
      const { id } = await workspace.createTask();
      facts.push(await herald.executor.report(id, START, checkpoint('c1')), await herald.executor.report(id, DONE));
    }
    await herald.settled();
    const { deliveries: all, nextCursor } = await deliveries.list(registered);
    expect(nextCursor).toBeNull();
    expect(all.map(({ transitionId }) => transitionId)).toEqual(
      facts.map(({ transitionId }) => transitionId).reverse(),
    );
    expect(new Set(idsOf(all))).toEqual(new Set(webhooksAt(receiver).map(({ deliveryId }) => deliveryId)));

    const [failed, delivered] = ['task.check_in', 'task.done'].map((event) => all.filter((one) => one.event === event));
    expect([failed?.length, delivered?.length]).toEqual([3, 3]);
    expect((await deliveries.list(registered, { status: 'failed' })).deliveries).toEqual(failed);
    expect((await deliveries.list(registered, { event: 'task.check_in' })).deliveries).toEqual(failed);
    expect((await deliveries.list(registered, { status: 'delivered' })).deliveries).toEqual(delivered);
    const none = { status: 'delivered', event: 'task.check_in' };
    expect(await deliveries.list(registered, none)).toMatchObject({ deliveries: [], nextCursor: null });
    expect(failed?.[0]).toMatchObject({ tries: 2, reason: 'schedule_exhausted', nextAttemptAt: null });
    expect(delivered?.[0]).not.toHaveProperty('reason');
  });

  test('are listed by time of acceptance: since is included, until is not', async () => {
    const { registered, deliveries } = await startWorkspace(await herald.startReceiver());
    const items: DeliveryListItem[] = [];
    for (let count = 0; count < 5; count++) {
      const emitted = await deliveries.emit();
      items.unshift(await deliveries.read(emitted.to(registered)));
      const last = items[0]?.createdAt ?? '';
      await waitFor('the next millisecond', () => Date.now() > Date.parse(last));
    }
    const list = async (query: Record<string, string>) => idsOf((await deliveries.list(registered, query)).deliveries);
    const [newest, , middle, , oldest] = items;
    expect(await list({ since: middle?.createdAt ?? '' })).toEqual(idsOf(items.slice(0, 3)));
    expect(await list({ until: middle?.createdAt ?? '' })).toEqual(idsOf(items.slice(3)));
    expect(await list({ since: oldest?.createdAt ?? '', until: newest?.createdAt ?? '' })).toEqual(
      idsOf(items.slice(1)),
    );
    const zoned = new Date(Date.parse(middle?.createdAt ?? '') + 3_600_000).toISOString().replace('Z', '+01:00');
    expect(await list({ since: zoned })).toEqual(idsOf(items.slice(0, 3)));
  });

  test('are walked by cursor, in pages of the wanted size, with the filter of each page', async () => {
    const { registered, deliveries } = await startWorkspace(await herald.startReceiver());
    const emitted = await Promise.all(Array.from({ length: 11 }, () => deliveries.emit()));
    await herald.settled();
    const { deliveries: all } = await deliveries.list(registered);
    expect(idsOf(all).sort()).toEqual(emitted.map(({ to }) => to(registered)).sort());
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: Record<string, string> = { limit: '4', status: 'delivered', ...(cursor !== '' && { cursor }) };
      const page = await deliveries.list(registered, query);
      pages.push(idsOf(page.deliveries));
      cursor = page.nextCursor;
    }
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 3]);
    expect(pages.flat()).toEqual(idsOf(all));
  });

  test.each([
    { status: 'lost' },
    { event: 'task.exploded' },
    { since: 'yesterday' },
    { until: '2030-01-31' },
    { limit: '0' },
    { limit: '101' },
    { limit: 'many' },
    { cursor: 'not-a-cursor' },
    { page: '2' },
  ])('are not listed for %j: that is a mistake', async (query) => {
    const { workspace, registered } = await startWorkspace(await herald.startReceiver());
    const path = `/api/public/webhooks/${registered.id}/deliveries?${new URLSearchParams(query as never).toString()}`;
    const problem = problemOf(await workspace.request('GET', path));
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
    expect(problem.errors?.[0]?.message).not.toBe('');
  });

  test('include its test events, which nothing retries', async () => {
    const receiver = await herald.startReceiver([500]);
    const { workspace, registered, deliveries } = await startWorkspace(receiver);
    expect((await workspace.sendTest(registered.id)).body).toMatchObject({ delivered: false, receiverStatus: 500 });
    const { deliveries: list } = await deliveries.list(registered, { event: 'webhook.test' });
    expect(list).toMatchObject([{ event: 'webhook.test', status: 'failed', taskId: null }]);
    const read = await deliveries.waitForAttempts(list[0]?.id ?? '', 1);
    expect(read.attempts).toMatchObject([{ status: 500 }]);
    await herald.settled();
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('a delivery shows what was sent and what was answered', () => {
  /** What a receiver got, without what Node adds to a connection. */
  const sentTo = (receiver: Receiver) => {
    const [request] = receiver.requests.slice(-1);
    if (!request) throw new Error('nothing came');
    const { connection: _connection, ...headers } = request.headers;
    return { ...request, headers };
  };

  test.each(['a receiver', 'a callback'])('to %s: byte by byte, without the signatures', async (to) => {
    const answer = {
      status: 500,
      body: '<h1>Down</h1>\r\n\u0007',
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'retry-after': '3600',
        location: '/status?a=%20b',
        server: 'nginx/1.2',
        'www-authenticate': 'Basic realm="x"',
        'set-cookie': 'session=canary',
      },
    };
    const [receiver, callback] = [await herald.startReceiver([answer]), await herald.startReceiver([answer])];
    const { registered, deliveries } = await startWorkspace(receiver);
    const url = `${callback.url}?token=a%20b`;
    const emitted = await deliveries.emit({ input: { text: 'Grüße' }, callback: { url } });
    const id = to === 'a receiver' ? emitted.to(registered) : emitted.toCallback;
    const { request, attempts, lastAttempt } = await deliveries.waitForStatus(id, 'failed');
    const sent = sentTo(to === 'a receiver' ? receiver : callback);
    const { 'x-service-signature': service, 'webhook-signature': standard, ...shown } = sent.headers;
    expect([service, standard]).toEqual([expect.stringMatching(/^sha256=/), expect.stringMatching(/^v1,/)]);
    expect(request).toEqual({
      method: sent.method,
      url: to === 'a receiver' ? registered.url : url,
      headers: shown,
      omittedHeaders: ['x-service-signature', 'webhook-signature'],
      body: sent.rawBody.toString(),
    });
    const { 'set-cookie': _cookie, ...explaining } = answer.headers;
    const [at, durationMs] = [expect.any(String) as string, expect.any(Number) as number];
    const answerDigest = createHash('sha256').update(answer.body).digest('hex').slice(0, 32);
    const proof = { address: '127.0.0.1', keyIds: [expect.stringMatching(/^[0-9a-f]{6}$/)], answerDigest };
    const attempt = { at, durationMs, status: 500, headers: explaining, answer: answer.body, ...proof };
    expect(attempts).toEqual([attempt, attempt]);
    expect(lastAttempt).toEqual({ at: attempts[1]?.at, durationMs: attempts[1]?.durationMs, status: 500 });
  });

  test('before its first attempt, and after its url was changed or its receiver removed', async () => {
    await using idle = await startHerald({ workers: 0 });
    const workspace = await idle.createWorkspace();
    const deliveries = createDeliveryClient(workspace);
    const receiver = await idle.startReceiver([500]);
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const { to, transitionId } = await deliveries.emit();
    const id = to(registered);
    const untried = await deliveries.read(id);
    expect(untried).toMatchObject({ lastAttempt: null, attempts: [], request: { url: receiver.url } });
    expect(JSON.parse(untried.request.body ?? '')).toMatchObject({ id: transitionId, event: 'task.done' });

    const worker = await idle.startWorker({ RETRY_SCHEDULE: '1h' });
    await deliveries.waitForAttempts(id, 1);
    await worker.stop();
    const url = `${receiver.origin}/elsewhere`;
    await deliveries.patchReceiver(registered, { url });
    const { request, lastAttempt } = await deliveries.read(id);
    expect(request.url).toBe(url);
    expect(Date.parse(request.urlChangedAt ?? '')).toBeGreaterThan(Date.parse(lastAttempt?.at ?? ''));

    await workspace.request('DELETE', `/api/public/webhooks/${registered.id}`);
    const { request: last } = await deliveries.read(id);
    expect(last).toMatchObject({ url: null, body: untried.request.body });
    expect((await deliveries.listAll()).deliveries.map((each) => each.id)).toEqual([id]);
  });
});

describe("a workspace's deliveries", () => {
  test('are listed newest first, to receivers and callbacks, each with its last attempt, and by every filter', async () => {
    const receiver = await herald.startReceiver();
    const callback = await herald.startReceiver(['reset']);
    const { workspace, registered, deliveries } = await startWorkspace(receiver);
    await deliveries.emit();
    const both = await deliveries.emit({ callback: { url: callback.url } });
    const last = await deliveries.emit();
    await deliveries.waitForStatus(both.toCallback, 'failed');
    await herald.settled();
    const { deliveries: all, nextCursor } = await deliveries.listAll();
    expect(nextCursor).toBeNull();
    expect(all).toHaveLength(4);
    const order = all.map(({ createdAt, id }) => `${createdAt}${id}`);
    expect(order).toEqual(order.toSorted().reverse());
    const failed = all.filter(({ id }) => id === both.toCallback);
    expect(failed).toMatchObject([{ status: 'failed', lastAttempt: { error: 'connection_reset' } }]);
    for (const { lastAttempt } of all.filter(({ id }) => id !== both.toCallback)) {
      expect(lastAttempt).toMatchObject({ status: 200, durationMs: expect.any(Number) as number });
    }
    const idsBy = async (query: Record<string, string>) => idsOf((await deliveries.listAll(query)).deliveries);
    expect(await idsBy({ status: 'failed' })).toEqual([both.toCallback]);
    expect(await idsBy({ receiver: registered.id })).toHaveLength(3);
    expect(await idsBy({ receiver: failed[0]?.endpointId ?? '' })).toEqual([both.toCallback]);
    expect(await idsBy({ receiverId: registered.id })).toHaveLength(3);
    expect(await idsBy({ callbackId: failed[0]?.callbackId ?? '' })).toEqual([both.toCallback]);
    expect(failed).toMatchObject([{ receiverId: null, taskId: both.taskId }]);
    expect((await idsBy({ taskId: both.taskId })).sort()).toEqual([both.toCallback, both.to(registered)].sort());
    expect(await idsBy({ task: both.taskId, status: 'failed' })).toEqual([both.toCallback]);
    expect(await idsBy({ task: both.taskId, receiver: registered.id })).toEqual([both.to(registered)]);
    expect(await idsBy({ event: 'task.canceled' })).toEqual([]);
    for (const error of ['connection_reset', 'schedule_exhausted']) {
      expect(await idsBy({ error })).toEqual([both.toCallback]);
      expect(await idsBy({ error, taskId: both.taskId })).toEqual([both.toCallback]);
    }
    expect(await idsBy({ error: 'tls_expired' })).toEqual([]);
    expect(await idsBy({ httpStatus: '2xx' })).toHaveLength(3);
    expect(await idsBy({ httpStatus: '200', taskId: both.taskId })).toEqual([both.to(registered)]);
    expect(await idsBy({ httpStatus: '2xx', error: 'connection_reset' })).toEqual([]);
    const lastAt = (await deliveries.read(last.to(registered))).createdAt;
    expect(await idsBy({ since: lastAt })).toContain(last.to(registered));
    expect(await idsBy({ until: lastAt })).not.toContain(last.to(registered));
    await workspace.request('DELETE', `/api/public/webhooks/${registered.id}`);
    expect(idsOf((await deliveries.listAll()).deliveries)).toEqual(idsOf(all));
  });

  test.each([
    { receiver: 'wh_x', path: 'receiver' },
    { receiverId: 'wh_x', path: 'receiverId' },
    { task: 'task_x', path: 'task' },
    { status: 'lost', path: 'status' },
    { endpointId: 'wh_x', path: 'endpointId' },
    { cursor: 'not-a-cursor', path: 'cursor' },
    { error: 'tls', path: 'error' },
    { httpStatus: '50x', path: 'httpStatus' },
  ])('are not listed for %j: that is a mistake', async ({ path, ...query }) => {
    const workspace = await herald.createWorkspace();
    const text = new URLSearchParams(query as never).toString();
    const problem = problemOf(await workspace.request('GET', `/api/public/deliveries?${text}`));
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ path }] });
  });
});

describe("a Task's deliveries", () => {
  test('are those to receivers and to its callback, newest transition first, and of no other Task', async () => {
    const [receiver, callback] = [await herald.startReceiver(), await herald.startReceiver()];
    const { workspace, registered, deliveries } = await startWorkspace(receiver);
    const task = await workspace.createTask({ callback: { url: callback.url } });
    await deliveries.emit();
    const first = await herald.executor.report(task.id, START, checkpoint('c1'));
    const second = await herald.executor.report(task.id, DONE);
    await herald.settled();
    const { deliveries: list, nextCursor } = await deliveries.listByTask(task.id);
    expect(nextCursor).toBeNull();
    expect(list.map(({ transitionId }) => transitionId)).toEqual([
      ...[second.transitionId, second.transitionId],
      ...[first.transitionId, first.transitionId],
    ]);
    const sent = [...webhooksAt(receiver), ...webhooksAt(callback)];
    const ofTask = sent.filter(({ body }) => body.task.id === task.id);
    expect(idsOf(list).sort()).toEqual(ofTask.map(({ deliveryId }) => deliveryId).sort());
    expect(list.filter(({ endpointId }) => endpointId === registered.id)).toHaveLength(2);
    for (const delivery of list) expect(delivery).toMatchObject({ taskId: task.id, status: 'delivered' });

    const page = await deliveries.listByTask(task.id, { limit: '1' });
    const rest = await deliveries.listByTask(task.id, { limit: '1', cursor: page.nextCursor ?? '' });
    expect([...page.deliveries, ...rest.deliveries]).toEqual(list);
    expect(rest.nextCursor).toBeNull();
  });

  test("a callback's delivery is in no receiver's list, and can be read by its id", async () => {
    const callback = await herald.startReceiver([{ status: 202, body: 'taken' }]);
    const { workspace, deliveries } = await startWorkspace(await herald.startReceiver());
    const { toCallback, taskId } = await deliveries.emit({ callback: { url: callback.url } });
    const delivery = await deliveries.waitForStatus(toCallback, 'delivered');
    expect(delivery).toMatchObject({ taskId, attempts: [{ status: 202, answer: 'taken' }] });
    for (const { id } of (await workspace.listReceivers()).webhooks) {
      expect(idsOf((await deliveries.list({ id })).deliveries)).not.toContain(toCallback);
    }
    const list = await workspace.request('GET', `/api/public/webhooks/${delivery.endpointId}/deliveries`);
    expect(problemOf(list)).toMatchObject({ status: 404, code: 'receiver_not_found' });
  });
});

test('another workspace sees nothing of them: they are not found', async () => {
  const { workspace, registered, deliveries } = await startWorkspace(await herald.startReceiver());
  const emitted = await deliveries.emit();
  await deliveries.waitForStatus(emitted.to(registered), 'delivered');
  const stranger = await herald.createWorkspace();
  const paths = {
    delivery_not_found: `/api/public/deliveries/${emitted.to(registered)}`,
    receiver_not_found: `/api/public/webhooks/${registered.id}/deliveries`,
    task_not_found: `/tasks/${emitted.taskId}/deliveries`,
  };
  for (const [code, path] of Object.entries(paths)) {
    bodyOf(await workspace.request('GET', path), 200);
    expect(problemOf(await stranger.request('GET', path))).toMatchObject({ status: 404, code });
  }
});

describe('the health of a receiver', () => {
  test('goes from healthy to failing and back, and says since when', async () => {
    let status = 200;
    const receiver = await herald.startReceiver(() => status);
    const { workspace, registered, deliveries } = await startWorkspace(receiver);
    const fresh = await deliveries.readReceiver(registered);
    expect(fresh.health).toMatchObject({ state: 'healthy', consecutiveFailures: 0, backlog: 0, lastSuccessAt: null });

    const first = await deliveries.emit();
    const delivered = await deliveries.waitForStatus(first.to(registered), 'delivered');
    const healthy = (await deliveries.readReceiver(registered)).health;
    expect(healthy).toMatchObject({ state: 'healthy', consecutiveFailures: 0 });
    expect(healthy.lastSuccessAt).toBe(delivered.settledAt);

    status = 500;
    const second = await deliveries.emit();
    const failed = await deliveries.waitForStatus(second.to(registered), 'failed');
    const failing = (await deliveries.readReceiver(registered)).health;
    expect(failing).toMatchObject({ state: 'failing', consecutiveFailures: 2, lastSuccessAt: healthy.lastSuccessAt });
    const [attempt, retry] = failed.attempts.map(({ at }) => Date.parse(at));
    expect(Date.parse(failing.since)).toBeGreaterThanOrEqual(attempt ?? Infinity);
    expect(Date.parse(failing.since)).toBeLessThanOrEqual(retry ?? 0);

    status = 200;
    const third = await deliveries.emit();
    const recovered = await deliveries.waitForStatus(third.to(registered), 'delivered');
    const fourth = await deliveries.emit();
    const last = await deliveries.waitForStatus(fourth.to(registered), 'delivered');
    const again = (await deliveries.readReceiver(registered)).health;
    expect(again).toMatchObject({ state: 'healthy', consecutiveFailures: 0, lastSuccessAt: last.settledAt });
    expect(again.since).toBe(recovered.settledAt); // since it is healthy, not since its last success
    const { webhooks } = await workspace.listReceivers();
    expect(webhooks).toMatchObject([{ id: registered.id, health: again }]);
  });

  test('is paused with a backlog while its destination gives no answers', async () => {
    await using slow = await startHerald({ env: { RETRY_SCHEDULE: '10m', DELIVERY_TIMEOUT: '300ms' } });
    const receiver = await slow.startReceiver(['hang']);
    const workspace = await slow.createWorkspace();
    const deliveries = createDeliveryClient(workspace);
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const emitted = await Promise.all(Array.from({ length: 30 }, () => deliveries.emit()));
    // The endpoint is read before its destination: one view may show the failures of a moment before the breaker's.
    const isPaused = ({
      health: { state, consecutiveFailures },
    }: {
      health: { state: string; consecutiveFailures: number };
    }) => state === 'paused' && consecutiveFailures >= 5;
    const { health } = await deliveries.waitForReceiver(registered, isPaused);
    const all = await Promise.all(emitted.map(({ to }) => deliveries.read(to(registered))));
    const untried = all.filter(({ attempts }) => attempts.length === 0);
    expect(untried.length).toBeGreaterThanOrEqual(health.backlog - 10);
    expect(health.backlog).toBeGreaterThan(0);
    expect(Date.parse(health.nextProbeAt ?? '')).toBeGreaterThanOrEqual(Date.parse(health.since));
    expect(health).not.toHaveProperty('pausedUntil');
    const tried = all.flatMap(({ attempts }) => attempts);
    // On a busy machine the time may be over before the answer is awaited.
    expect(tried.filter(({ error }) => !error?.startsWith('timeout_'))).toEqual([]);
    expect(Date.parse(health.since)).toBeGreaterThanOrEqual(Math.min(...tried.map(({ at }) => Date.parse(at))));
  });
});

test('a list goes on from the last look: nothing is missed, and what came just before it comes again', async () => {
  const workspace = await herald.createWorkspace();
  const { url } = await herald.startReceiver();
  const { id: receiverId } = await workspace.registerReceiver({ url });
  const close = async () => (await workspace.closeTask((await workspace.createTask()).id)).transitionId;
  const list = async (path: string, query: string) =>
    bodyOf(await workspace.request('GET', `${path}?${query}`), 200) as {
      deliveries: { transitionId: string }[];
      nextCursor: string | null;
      sinceCursor?: string;
    };
  const old = [await close(), await close()];
  await herald.settled();
  // As if the first were a minute old.
  await makeOlder(receiverId, old[0] ?? '');
  for (const path of ['/api/public/deliveries', `/api/public/webhooks/${receiverId}/deliveries`]) {
    const first = await list(path, 'limit=1');
    const second = await list(path, `limit=1&cursor=${first.nextCursor ?? ''}`);
    expect(first.sinceCursor).toBeDefined();
    expect(second).not.toHaveProperty('sinceCursor');
    const fresh = await close();
    const seen: string[] = [];
    const since = `sinceCursor=${first.sinceCursor ?? ''}`;
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(path, `${since}&limit=1${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.deliveries.map(({ transitionId }) => transitionId));
      cursor = page.nextCursor;
    }
    expect(seen[0]).toBe(fresh);
    expect(seen).toContain(old[1]);
    expect(seen).not.toContain(old[0]);
  }
  const wrong = await workspace.request('GET', '/api/public/deliveries?sinceCursor=nonsense');
  expect(problemOf(wrong)).toMatchObject({ status: 422, errors: [{ path: 'sinceCursor' }] });
});

/** Lets a delivery to a receiver be accepted a minute earlier. */
async function makeOlder(receiverId: string, transitionId: string): Promise<void> {
  const { redis } = herald;
  const keys = shardKeys();
  const id = deliveryIdOf(transitionId, receiverId);
  const at = Number(await redis.hget(keys.delivery(id), 'at')) - 60_000;
  await redis.hset(keys.delivery(id), 'at', at);
  await redis.zadd(keys.endpointLog(receiverId), at, id);
}
