import { EVENT_NAMES } from '@herald/core';
import { bodyOf } from '../support/http-request.ts';
import { problemOf } from '../support/problems.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';

const URL = 'https://hooks.example.com/in?tenant=7';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ workers: 0 });
});
afterAll(() => herald[Symbol.asyncDispose]());

test('a registration answers 201 with the receiver, its secret and where to find it', async () => {
  const workspace = await herald.createWorkspace();
  const answer = await workspace.request('POST', '/api/public/webhooks', { body: { url: URL, events: ['task.done'] } });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^wh/) as string,
    url: URL,
    events: ['task.done'],
    description: '',
    enabled: true,
    ordering: 'none',
    orderingTimeoutSeconds: 86_400,
    orderingTimeout: '24h',
    rateLimit: null,
    maxRetryHours: null,
    createdAt: expect.stringMatching(/Z$/) as string,
    health: {
      state: 'healthy',
      since: expect.stringMatching(/^\d{4}-/) as string,
      consecutiveFailures: 0,
      backlog: 0,
      lastSuccessAt: null,
    },
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
  });
  const { secret: _once, ...receiver } = answer.body as Record<string, unknown>;
  expect(answer.headers.location).toBe(`/api/public/webhooks/${String(receiver.id)}`);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect((await workspace.request('GET', answer.headers.location ?? '')).body).toEqual(receiver);
  expect(await workspace.listReceivers()).toEqual({ webhooks: [receiver], events: EVENT_NAMES });
});

test('a url that another receiver of the workspace has is taken, with a warning in that answer alone', async () => {
  const [workspace, stranger] = [await herald.createWorkspace(), await herald.createWorkspace()];
  await stranger.registerReceiver({ url: URL });
  const register = async (url: string) =>
    bodyOf(await workspace.request('POST', '/api/public/webhooks', { body: { url } }), 201) as { id: string };
  const first = await register(URL);
  expect(first).not.toHaveProperty('warnings');
  const detail = `${first.id} has the same URL: an event that both want is delivered twice, under two delivery ids`;
  const warnings = [{ code: 'same_url', detail }];
  const { id } = await register(URL);
  expect((await workspace.listReceivers()).webhooks[1]).not.toHaveProperty('warnings');
  const patch = async (body: object) =>
    bodyOf(await workspace.request('PATCH', `/api/public/webhooks/${id}`, { body }), 200);
  expect(await patch({ url: `${URL}&other` })).not.toHaveProperty('warnings');
  expect(await patch({ description: 'mine' })).not.toHaveProperty('warnings');
  expect(await patch({ url: URL })).toMatchObject({ warnings });
  expect(await register(URL)).toMatchObject({
    warnings: [{ code: 'same_url', detail: expect.stringContaining(`${first.id}, ${id} have`) as string }],
  });
});

test('a change keeps what it does not name, and is what is read afterwards', async () => {
  const workspace = await herald.createWorkspace();
  const { id, secret: _once, ...created } = await workspace.registerReceiver({ url: URL, description: 'billing' });
  const path = `/api/public/webhooks/${id}`;
  const patched = bodyOf(await workspace.request('PATCH', path, { body: { events: ['task.done', 'task.done'] } }), 200);
  expect(patched).toEqual({ ...created, id, events: ['task.done'] });
  const disabled = bodyOf(await workspace.request('PATCH', path, { body: { enabled: false } }), 200);
  expect(disabled).toMatchObject({ enabled: false, disabledReason: 'by_request', events: ['task.done'] });
  const enabled = bodyOf(await workspace.request('PATCH', path, { body: { enabled: true, events: [] } }), 200);
  // Enabling forgets what was: the receiver is healthy from now on.
  const health = { ...(created as unknown as { health: object }).health, since: expect.any(String) as string };
  expect(enabled).toEqual({ ...created, id, health });
  expect(bodyOf(await workspace.request('GET', path), 200)).toEqual(enabled);
});

test('a rate limit is shown while there is one, changed and removed, and a wrong one changes nothing', async () => {
  const workspace = await herald.createWorkspace();
  const rateLimit = { perSecond: 10 };
  const { id, secret: _once, ...created } = await workspace.registerReceiver({ url: URL, rateLimit });
  expect(created).toMatchObject({ rateLimit });
  const path = `/api/public/webhooks/${id}`;
  const patch = (body: object) => workspace.request('PATCH', path, { body });
  expect(bodyOf(await patch({ description: 'billing' }), 200)).toMatchObject({ rateLimit });
  expect(bodyOf(await patch({ rateLimit: { perSecond: 1 } }), 200)).toMatchObject({ rateLimit: { perSecond: 1 } });
  const refused = await patch({ description: 'other', rateLimit: { perSecond: 1_001 } });
  expect(problemOf(refused)).toMatchObject({
    code: 'validation_failed',
    errors: [{ path: 'rateLimit.perSecond', message: 'rateLimit.perSecond must be a whole number from 1 to 1000' }],
  });
  expect(bodyOf(await workspace.request('GET', path), 200)).toMatchObject({
    description: 'billing',
    rateLimit: { perSecond: 1 },
  });
  expect(bodyOf(await patch({ rateLimit: null }), 200)).toMatchObject({ rateLimit: null });
  const unlimited = await workspace.registerReceiver({ url: URL, rateLimit: null, maxRetryHours: null });
  expect(unlimited).toMatchObject({ rateLimit: null, maxRetryHours: null });
});

test('a removed receiver is gone for every operation', async () => {
  const workspace = await herald.createWorkspace();
  const { id } = await workspace.registerReceiver({ url: URL });
  const path = `/api/public/webhooks/${id}`;
  expect((await workspace.request('DELETE', path)).body).toEqual({ deleted: true });
  await herald.waitForLog('removeReceiver');
  const again = [
    await workspace.request('DELETE', path),
    await workspace.request('GET', path),
    await workspace.request('PATCH', path, { body: { enabled: true } }),
    await workspace.sendTest(id),
  ];
  expect(again.map((answer) => problemOf(answer).code)).toEqual(Array.from(again, () => 'receiver_not_found'));
  expect((await workspace.listReceivers()).webhooks).toEqual([]);
});

test('an operation without a body takes an empty POST, with or without a content length', async () => {
  const workspace = await herald.createWorkspace();
  const task = await workspace.createTask();
  // fetch sends `content-length: 0` here, as many clients do.
  const cancel = await workspace.request('POST', `/tasks/${task.id}/cancel`);
  expect(cancel).toMatchObject({ status: 200, body: { status: 'canceled' } });
});

test('a loop that reads, changes and reads again finds no difference, for every field that can be set', async () => {
  const workspace = await herald.createWorkspace();
  const wanted = {
    url: `HTTPS://hooks.example.com/in`,
    events: ['task.done'],
    description: 'billing',
    enabled: true,
    ordering: 'task',
    orderingTimeoutSeconds: 172_800,
    rateLimit: { perSecond: 7 },
    maxRetryHours: 24,
  };
  const { id } = await workspace.registerReceiver({ url: URL });
  const path = `/api/public/webhooks/${id}`;
  const read = async () => bodyOf(await workspace.request('GET', path), 200) as Record<string, unknown>;
  bodyOf(await workspace.request('PATCH', path, { body: wanted }), 200);
  const first = await read();
  expect(first).toMatchObject(wanted);
  // All that was read, without the former name of a field that is there.
  const { orderingTimeout, health, ...all } = first;
  expect(orderingTimeout).toBe('48h');
  bodyOf(await workspace.request('PATCH', path, { body: { ...all, health } }), 200);
  const { health: _health, ...second } = await read();
  expect(second).toEqual({ ...all, orderingTimeout });

  const former = await workspace.request('PATCH', path, { body: { orderingTimeout: '90m' } });
  expect(bodyOf(former, 200)).toMatchObject({ orderingTimeoutSeconds: 5_400 });
  const both = await workspace.request('PATCH', path, { body: { orderingTimeout: '1h', orderingTimeoutSeconds: 60 } });
  expect(problemOf(both)).toMatchObject({
    type: '/errors#problems-validation_failed',
    errors: [{ path: 'orderingTimeout', pointer: '/orderingTimeout', code: 'conflict' }],
  });
  const { text } = await workspace.request('GET', '/errors', { headers: { accept: 'text/html' } });
  expect(text).toContain('id="problems-validation_failed"');
});
