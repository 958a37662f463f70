import { verify } from '@octokit/webhooks-methods';
import type { ReceivedRequest } from '@herald/test-kit';
import { waitFor } from '@herald/test-kit';
import { Webhook } from 'standardwebhooks';
import { checkpoint, START } from '../../support/reports.ts';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { problemOf } from '../../support/problems.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

jest.setTimeout(60_000);

interface Rotated {
  secret: string;
  overlapEndsAt: string | null;
}

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ env: { RETRY_SCHEDULE: '300ms,300ms,300ms' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

/** Which of some secrets each signature of a request verifies with. */
async function signersOf({ rawBody, headers }: ReceivedRequest, secrets: Readonly<Record<string, string>>) {
  const body = rawBody.toString();
  const service: string[] = [];
  const standard: string[] = [];
  for (const [name, secret] of Object.entries(secrets)) {
    if (await verify(secret, body, headers['x-service-signature'] ?? '')) service.push(name);
    try {
      new Webhook(secret).verify(body, headers);
      standard.push(name);
    } catch {
      // not signed with this one
    }
  }
  const count = (headers['webhook-signature'] ?? '').split(' ').length;
  return { service, standard, count };
}

const OLD_FIRST = { service: ['old'], standard: ['old', 'new'], count: 2 };
const ONLY_NEW = { service: ['new'], standard: ['new'], count: 1 };

/** An endpoint of each kind: how to make it get one more event, and where its secret is rotated. */
async function startEndpoint(kind: 'receiver' | 'callback') {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  let old: string;
  let path: string;
  const task = await workspace.createTask(kind === 'callback' ? { callback: { url: receiver.url } } : {});
  await herald.executor.report(task.id, START);
  if (kind === 'receiver') {
    const { id, secret } = await workspace.registerReceiver({ url: receiver.url });
    [old, path] = [secret, `/api/public/webhooks/${id}/secret/rotate`];
  } else {
    [old, path] = [task.callback?.secret ?? '', `/tasks/${task.id}/callback/secret/rotate`];
  }
  let events = 0;
  return {
    workspace,
    old,
    path,
    task,
    async sendEvent(): Promise<ReceivedRequest> {
      await herald.executor.report(task.id, checkpoint(`c${events++}`));
      return await receiver.next();
    },
    rotate: async (body?: object) =>
      bodyOf(await workspace.request('POST', path, body ? { body } : {}), 200) as Rotated,
  };
}

describe.each(['receiver', 'callback'] as const)('the secret of a %s', (kind) => {
  test('stays in force for x-service-signature during the overlap, while webhook-signature carries both', async () => {
    const endpoint = await startEndpoint(kind);
    const before = Date.now();
    const { secret, overlapEndsAt } = await endpoint.rotate();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secret).not.toBe(endpoint.old);
    const overlapMs = Date.parse(overlapEndsAt ?? '') - before;
    expect(overlapMs).toBeGreaterThanOrEqual(86_400_000);
    expect(overlapMs).toBeLessThan(86_400_000 + 60_000);
    const request = await endpoint.sendEvent();
    expect(await signersOf(request, { old: endpoint.old, new: secret })).toEqual(OLD_FIRST);
  });

  test('is out of force once the overlap ends', async () => {
    const endpoint = await startEndpoint(kind);
    const { secret, overlapEndsAt } = await endpoint.rotate({ overlapSeconds: 5 });
    const secrets = { old: endpoint.old, new: secret };
    expect(await signersOf(await endpoint.sendEvent(), secrets)).toEqual(OLD_FIRST);
    await waitFor('the overlap to end', () => Date.now() > Date.parse(overlapEndsAt ?? ''));
    expect(await signersOf(await endpoint.sendEvent(), secrets)).toEqual(ONLY_NEW);
  });

  test('is out of force at once with an overlap of 0', async () => {
    const endpoint = await startEndpoint(kind);
    const { secret, overlapEndsAt } = await endpoint.rotate({ overlapSeconds: 0 });
    expect(overlapEndsAt).toBeNull();
    expect(await signersOf(await endpoint.sendEvent(), { old: endpoint.old, new: secret })).toEqual(ONLY_NEW);
  });

  test('is out of force at once with an overlap of 0 in the middle of an overlap, as is the one between', async () => {
    const endpoint = await startEndpoint(kind);
    const between = await endpoint.rotate({ overlapSeconds: 600 });
    const { secret } = await endpoint.rotate({ overlapSeconds: 0 });
    const secrets = { old: endpoint.old, between: between.secret, new: secret };
    expect(await signersOf(await endpoint.sendEvent(), secrets)).toEqual(ONLY_NEW);
  });

  test('stays in force when it is rotated again in mid-overlap, and the secret between is dropped', async () => {
    const endpoint = await startEndpoint(kind);
    const between = await endpoint.rotate();
    const { secret } = await endpoint.rotate();
    const secrets = { old: endpoint.old, between: between.secret, new: secret };
    expect(await signersOf(await endpoint.sendEvent(), secrets)).toEqual(OLD_FIRST);
  });

  test('is shown by no other answer, nor is it cached', async () => {
    const endpoint = await startEndpoint(kind);
    const answer = await endpoint.workspace.request('POST', endpoint.path);
    const { secret } = bodyOf(answer, 200) as Rotated;
    expect(answer.headers['cache-control']).toBe('no-store');
    const others = await Promise.all([
      endpoint.workspace.request('GET', '/api/public/webhooks'),
      endpoint.workspace.request('GET', `/tasks/${endpoint.task.id}`),
      endpoint.workspace.request('GET', `/tasks/${endpoint.task.id}/deliveries`),
    ]);
    for (const { status, text } of others) {
      expect(status).toBe(200);
      expect(text).not.toContain('whsec_');
      expect(text).not.toContain(secret.slice(6));
    }
    expect(herald.logs()).not.toContain('whsec_');
  });

  test("is not rotated by another workspace's key", async () => {
    const endpoint = await startEndpoint(kind);
    const stranger = await herald.createWorkspace();
    const answer = await stranger.request('POST', endpoint.path, { body: { overlapSeconds: 0 } });
    expect(problemOf(answer).status).toBe(404);
    const { service } = await signersOf(await endpoint.sendEvent(), { old: endpoint.old });
    expect(service).toEqual(['old']);
  });
});

test('a receiver shows until when a rotation overlaps, while it does', async () => {
  const { workspace, rotate } = await startEndpoint('receiver');
  const deliveries = createDeliveryClient(workspace);
  const [receiver] = (await workspace.listReceivers()).webhooks;
  const read = () => deliveries.readReceiver(receiver ?? { id: '' });
  expect(await read()).not.toHaveProperty('secretOverlapEndsAt');
  const { overlapEndsAt } = await rotate({ overlapSeconds: 600 });
  expect(await read()).toMatchObject({ secretOverlapEndsAt: overlapEndsAt });
  // What was read can be sent back with a change.
  const { id, secretOverlapEndsAt } = await read();
  const patched = await deliveries.patchReceiver({ id }, { description: 'mine', secretOverlapEndsAt });
  expect(patched).toMatchObject({ description: 'mine', secretOverlapEndsAt });
  await rotate({ overlapSeconds: 1 });
  await waitFor('the overlap to end', async () => (await read()).secretOverlapEndsAt === undefined);
  await rotate({ overlapSeconds: 600 });
  await rotate({ overlapSeconds: 0 });
  expect(await read()).not.toHaveProperty('secretOverlapEndsAt');
});

test('the overlap of a rotation of a receiver can be ended, and the new secret stays', async () => {
  const { workspace, old, rotate, sendEvent, path } = await startEndpoint('receiver');
  const { secret } = await rotate();
  const end = async () => bodyOf(await workspace.request('DELETE', path.replace('rotate', 'previous')), 200);
  expect(await signersOf(await sendEvent(), { old, new: secret })).toEqual(OLD_FIRST);
  expect(await end()).not.toHaveProperty('secretOverlapEndsAt');
  expect(await signersOf(await sendEvent(), { old, new: secret })).toEqual(ONLY_NEW);
  await end();
  expect(await signersOf(await sendEvent(), { old, new: secret })).toEqual(ONLY_NEW);
});

test('a retry after a rotation is signed with what is in force then, and has the same body', async () => {
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  // A failure is answered once the secret has been rotated, so that the retry comes after it.
  const held = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const receiver = await herald.startReceiver((_request, index) => held[index]?.promise ?? 200);
  const { id, secret: old } = await workspace.registerReceiver({ url: receiver.url });
  const rotate = async (overlapSeconds: number) => {
    const path = `/api/public/webhooks/${id}/secret/rotate`;
    return bodyOf(await workspace.request('POST', path, { body: { overlapSeconds } }), 200) as Rotated;
  };
  const emitted = await deliveries.emit();
  const first = await receiver.next();
  const { secret: between } = await rotate(600);
  held[0]?.resolve(500);
  const second = await receiver.next();
  const { secret } = await rotate(0);
  held[1]?.resolve(500);
  const third = await receiver.next();
  await deliveries.waitForStatus(emitted.to({ id }), 'delivered');

  const secrets = { old, between, new: secret };
  expect(await signersOf(first, secrets)).toEqual({ service: ['old'], standard: ['old'], count: 1 });
  expect(await signersOf(second, secrets)).toEqual({ service: ['old'], standard: ['old', 'between'], count: 2 });
  expect(await signersOf(third, secrets)).toEqual(ONLY_NEW);
  expect([second.rawBody, third.rawBody]).toEqual([first.rawBody, first.rawBody]);
  expect(third.headers['x-service-delivery']).toBe(first.headers['x-service-delivery']);
});

test('the headers of a receiver go with every attempt and test event, change with a PATCH, and leave with its origin', async () => {
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  // The first failure is answered once the headers have been changed, so that the retry comes after it.
  const held = Promise.withResolvers<number>();
  const receiver = await herald.startReceiver((_request, index) => [held.promise, 500][index] ?? 200);
  const other = await herald.startReceiver();
  const url = receiver.url;
  const registration = { url, headers: { Authorization: 'Bearer one', 'X-Tenant': 'a\tb' } };
  const registered = await workspace.registerReceiver(registration);
  expect(registered).toMatchObject({ headerNames: ['authorization', 'x-tenant'] });
  const emitted = await deliveries.emit();
  const first = await receiver.next();
  expect(first.headers).toMatchObject({ authorization: 'Bearer one', 'x-tenant': 'a\tb' });
  const patched = await deliveries.patchReceiver(registered, { headers: { authorization: 'Bearer two' } });
  held.resolve(500);
  expect(patched).toMatchObject({ headerNames: ['authorization'] });
  const second = await receiver.next();
  expect(second.headers.authorization).toBe('Bearer two');
  expect(second.headers).not.toHaveProperty('x-tenant');

  const path = `/api/public/webhooks/${registered.id}`;
  const refused = await workspace.request('PATCH', path, { body: { url: other.url, headers: { host: 'x' } } });
  expect(problemOf(refused)).toMatchObject({ status: 422, errors: [{ path: 'headers.host' }] });
  expect(await deliveries.readReceiver(registered)).toMatchObject({ url, headerNames: ['authorization'] });
  const delivered = await deliveries.waitForStatus(emitted.to(registered), 'delivered');
  expect(delivered.request.omittedHeaders).toEqual(['x-service-signature', 'webhook-signature', 'authorization']);
  expect(delivered.request.headers).not.toHaveProperty('authorization');
  await deliveries.redeliver(delivered.id);
  await receiver.waitForCount(4);
  await workspace.sendTest(registered.id);
  expect(receiver.requests.slice(2).map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer two'));

  const moved = await deliveries.patchReceiver(registered, { url: other.url });
  expect(moved).not.toHaveProperty('headerNames');
  const next = await deliveries.emit();
  await deliveries.waitForStatus(next.to(registered), 'delivered');
  await deliveries.patchReceiver(registered, { url: `${receiver.origin}/back`, headers: { 'x-back': '1' } });
  await workspace.sendTest(registered.id);
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  expect(receiver.requests.at(-1)).toMatchObject({ path: '/back', headers: { 'x-back': '1' } });
});

test('the headers of a callback go with every event until a PATCH removes them', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const task = await workspace.createTask({ callback: { url: receiver.url, headers: { 'X-Task': 'mine' } } });
  expect(task.callback).toMatchObject({ headerNames: ['x-task'] });
  await herald.executor.report(task.id, START, checkpoint('c1'));
  expect((await receiver.next()).headers['x-task']).toBe('mine');
  expect(await workspace.readTask(task.id)).toMatchObject({ callback: { headerNames: ['x-task'] } });
  const patched = bodyOf(await workspace.patchCallback(task.id, { headers: {} }), 200);
  expect(patched).not.toHaveProperty('headerNames');
  await herald.executor.report(task.id, checkpoint('c2'));
  expect((await receiver.next()).headers).not.toHaveProperty('x-task');
});

test.each([-1, 0.5, 604_801, '60', null])('an overlap of %p seconds is refused, and nothing changes', async (value) => {
  const endpoint = await startEndpoint('receiver');
  const answer = await endpoint.workspace.request('POST', endpoint.path, { body: { overlapSeconds: value } });
  expect(problemOf(answer)).toMatchObject({ status: 422, errors: [{ path: 'overlapSeconds' }] });
  expect(await signersOf(await endpoint.sendEvent(), { old: endpoint.old })).toMatchObject({
    service: ['old'],
    count: 1,
  });
});

test('a Task without a callback has no secret to rotate', async () => {
  const workspace = await herald.createWorkspace();
  const { id } = await workspace.createTask();
  const answer = await workspace.request('POST', `/tasks/${id}/callback/secret/rotate`);
  expect(problemOf(answer)).toMatchObject({ status: 404, code: 'callback_not_found' });
});
