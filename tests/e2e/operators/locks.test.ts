import { callbackIdOf } from '@herald/core';
import type { Receiver } from '@herald/test-kit';
import { auditTrailOf } from '../../support/audit-trail-of.ts';
import { createDeliveryClient, type ReceiverView } from '../../support/delivery-client.ts';
import { bodyOf, type HttpAnswer } from '../../support/http-request.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { problemOf } from '../../support/problems.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

jest.setTimeout(60_000);

const ENV = { ...OPERATOR_ENV, RETRY_SCHEDULE: '10m' };
const REASON = 'Its host asked us to stop.';
const UNKNOWN = 'wh_00000000000000000000000000';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ env: { ...ENV, OPERATOR_WRITE: 'true' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

async function startScene(receiver?: Receiver) {
  const hook = receiver ?? (await herald.startReceiver());
  const workspace = await herald.createWorkspace();
  const registered = await workspace.registerReceiver({ url: hook.url });
  return { hook, workspace, registered, deliveries: createDeliveryClient(workspace) };
}

/** The token of a link that an operator makes, by the API whose pages may change things unless another is given. */
async function operatorLink({ id }: WorkspaceClient, via?: Awaited<ReturnType<Herald['startApi']>>): Promise<string> {
  const { OPERATOR_USER, OPERATOR_PASSWORD } = OPERATOR_ENV;
  const headers = { ...basic(OPERATOR_USER, OPERATOR_PASSWORD), 'sec-fetch-site': 'same-origin' };
  const path = `/api/operator/workspaces/${id}/portal-links`;
  return (bodyOf(await herald.request('POST', path, { headers, ...(via && { via }) }), 201) as { token: string }).token;
}

async function customerLink(workspace: WorkspaceClient): Promise<string> {
  const made = await workspace.request('POST', '/api/public/portal-links', { body: {} });
  return (bodyOf(made, 201) as { token: string }).token;
}

const pathOf = (id: string) => `/api/public/webhooks/${id}/lock`;
const lock = (key: string | undefined, id: string, body: object = { reason: REASON }) =>
  herald.request('POST', pathOf(id), { body, ...(key !== undefined && { key }) });
const unlock = (key: string, id: string) => herald.request('DELETE', pathOf(id), { key });

function refusedAs({ status, ...answer }: HttpAnswer) {
  const { code, detail } = problemOf({ status, ...answer });
  return { status, code, detail };
}

test('what an operator locks its customer sees with the reason, and can’t bring back', async () => {
  const { hook, workspace, registered, deliveries } = await startScene();
  const { id } = registered;
  const before = await deliveries.waitForStatus((await deliveries.emit()).to(registered), 'delivered');
  const sent = hook.requests.length;
  const key = await operatorLink(workspace);
  const locked = {
    enabled: false,
    disabledReason: 'locked',
    disabledBy: 'platform',
    lockedReason: REASON,
    health: { state: 'disabled' },
  };
  expect(bodyOf(await lock(key, id), 200)).toMatchObject({ id, ...locked });
  expect(await deliveries.readReceiver(registered)).toMatchObject(locked);

  const missed = await deliveries.emit();
  expect(await deliveries.read(missed.to(registered))).toMatchObject({
    status: 'canceled',
    reason: 'receiver_disabled',
  });

  const detail = `${id} is locked by the platform; ask it to lift the lock; its reason: ${REASON}`;
  const refusal = { status: 409, code: 'receiver_locked', detail };
  const path = `/api/public/webhooks/${id}`;
  for (const caller of [workspace.key, await customerLink(workspace), key]) {
    const ask = async (method: string, asked: string, body?: object) =>
      refusedAs(await herald.request(method, asked, { key: caller, ...(body && { body }) }));
    for (const body of [{ enabled: true }, { enabled: false }, { description: 'mine' }, { url: `${hook.url}/else` }])
      expect(await ask('PATCH', path, body)).toEqual(refusal);
    expect(await ask('POST', `${path}/test`)).toEqual(refusal);
    expect(await ask('POST', `${path}/replay`, { since: '2020-01-01T00:00:00Z', status: ['canceled'] })).toEqual(
      refusal,
    );
    for (const { id: delivery } of [before, { id: missed.to(registered) }])
      expect(await ask('POST', `/api/public/deliveries/${delivery}/redeliver`)).toEqual(refusal);
  }
  const rotated = await workspace.request('POST', `${path}/secret/rotate`, { body: {} });
  expect(bodyOf(rotated, 200)).toHaveProperty('secret');
  expect(await deliveries.readReceiver(registered)).toMatchObject({ ...locked, url: registered.url });
  await herald.settled();
  expect(hook.requests).toHaveLength(sent);

  const lifted = bodyOf(await unlock(key, id), 200) as ReceiverView;
  expect(lifted).toMatchObject({ enabled: true, health: { state: 'healthy' } });
  for (const field of ['disabledAt', 'disabledReason', 'disabledBy', 'lockedReason'])
    expect(lifted).not.toHaveProperty(field);
  await deliveries.waitForStatus((await deliveries.emit()).to(registered), 'delivered');
  expect((await deliveries.patchReceiver(registered, { enabled: false })).disabledReason).toBe('by_request');
});

test('a receiver that is disabled names the key, the link, the platform or Herald that did it', async () => {
  const { workspace, registered, deliveries } = await startScene(await herald.startReceiver([410]));
  await deliveries.emit();
  await deliveries.waitForReceiver(registered, ({ enabled }) => !enabled);
  expect(await deliveries.readReceiver(registered)).toMatchObject({ disabledReason: 'gone', disabledBy: 'herald' });
  const patch = async (key: string, enabled: boolean) =>
    bodyOf(await herald.request('PATCH', `/api/public/webhooks/${registered.id}`, { key, body: { enabled } }), 200);
  for (const [key, by] of [
    [workspace.key, /^key_/],
    [await customerLink(workspace), /^plk_/],
    [await operatorLink(workspace), /^platform$/],
  ] as const) {
    expect(await patch(key, true)).not.toHaveProperty('disabledBy');
    expect(await patch(key, false)).toMatchObject({ disabledBy: expect.stringMatching(by) as string });
  }
  const off = await workspace.registerReceiver({ url: registered.url, enabled: false });
  expect(await deliveries.readReceiver(off)).toMatchObject({ disabledBy: expect.stringMatching(/^key_/) as string });
});

describe('the lock', () => {
  test('is for operators alone, by a link to that workspace that may change things', async () => {
    const { workspace, registered, deliveries } = await startScene();
    const reader = await herald.startApi({ OPERATOR_WRITE: 'false' });
    const { id } = registered;
    const forOperators = {
      status: 403,
      code: 'insufficient_scope',
      detail: 'only an operator may do this, by a link that he made on the pages of operators',
    };
    const callers = [
      { who: 'nobody', key: undefined, status: 401, code: 'unauthenticated' },
      { who: 'a key of the workspace', key: workspace.key, ...forOperators },
      { who: 'an executor', key: herald.executor.key, ...forOperators },
      { who: 'a link of the customer', key: await customerLink(workspace), ...forOperators },
      {
        who: 'an operator without OPERATOR_WRITE',
        key: await operatorLink(workspace, reader),
        status: 403,
        code: 'insufficient_scope',
      },
      {
        who: 'an operator in another workspace',
        key: await operatorLink((await startScene()).workspace),
        status: 404,
        code: 'receiver_not_found',
      },
    ];
    for (const { who, key, ...refusal } of callers) {
      for (const method of ['POST', 'DELETE']) {
        const answer = await herald.request(method, pathOf(id), key === undefined ? {} : { key });
        expect({ who, method, ...refusedAs(answer) }).toMatchObject({ who, method, ...refusal });
      }
    }
    expect(await deliveries.readReceiver(registered)).toMatchObject({ enabled: true });
    const access = async (key: string) => bodyOf(await herald.request('GET', '/api/public/access', { key }), 200);
    expect(await access(workspace.key)).toMatchObject({ operator: false });
    expect(await access(await customerLink(workspace))).toMatchObject({ operator: false });
    expect(await access(await operatorLink(workspace))).toMatchObject({ operator: true });
    await reader.stop();
  });

  test('takes a reason of one plain line of at most 200 characters, and knows no unknown receiver', async () => {
    const { workspace, registered } = await startScene();
    const key = await operatorLink(workspace);
    for (const [reason, message] of [
      ['x'.repeat(201), 'reason must have at most 200 characters'],
      ['two\nlines', 'reason must be plain text on one line, without blanks around it'],
      ['', 'reason must not be empty; leave it out to give no reason'],
    ]) {
      expect(refusedAs(await lock(key, registered.id, { reason }))).toEqual({
        status: 422,
        code: 'validation_failed',
        detail: message,
      });
    }
    expect(refusedAs(await lock(key, UNKNOWN))).toMatchObject({ status: 404, code: 'receiver_not_found' });
    expect(refusedAs(await unlock(key, UNKNOWN))).toMatchObject({ status: 404, code: 'receiver_not_found' });
    const locked = bodyOf(await lock(key, registered.id, {}), 200);
    expect(locked).toMatchObject({ disabledReason: 'locked' });
    expect(locked).not.toHaveProperty('lockedReason');
  });

  test('leaves the doer, and the removal of a locked receiver that it was locked', async () => {
    const { workspace, registered } = await startScene();
    const key = await operatorLink(workspace);
    await lock(key, registered.id);
    await unlock(key, registered.id);
    await lock(key, registered.id);
    const removed = await workspace.request('DELETE', `/api/public/webhooks/${registered.id}`);
    expect(bodyOf(removed, 200)).toEqual({ deleted: true });
    const { entries } = await auditTrailOf(herald).list({ workspaceId: workspace.id, limit: 4 });
    const target = registered.id;
    const doer = { by: expect.stringMatching(/^plk_/) as string, user: 'olga', target };
    expect(entries).toMatchObject([
      {
        action: 'removeReceiver',
        by: expect.stringMatching(/^key_/) as string,
        reason: 'it was locked by the platform',
      },
      { ...doer, action: 'lockReceiver', reason: REASON },
      { ...doer, action: 'unlockReceiver' },
      { ...doer, action: 'lockReceiver', reason: REASON },
    ]);
  });
});

describe('herald receivers', () => {
  const run = (...args: readonly string[]) => runCli(['receivers', ...args], { ...herald.topology.env, ...ENV });

  test('disable --lock locks, list shows it, and enable lifts the lock', async () => {
    const { workspace, registered, deliveries } = await startScene();
    const { id } = registered;
    const locked = await run('disable', id, '--lock', '--reason', REASON);
    expect(locked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Locked wh_\w+\. /) as string });
    expect(locked.stdout).toContain('only "herald receivers enable" lifts the lock');
    const shown = { disabledReason: 'locked', disabledBy: 'platform', lockedReason: REASON };
    expect(await deliveries.readReceiver(registered)).toMatchObject(shown);
    const patched = await workspace.request('PATCH', `/api/public/webhooks/${id}`, { body: { enabled: true } });
    expect(refusedAs(patched)).toMatchObject({ status: 409, code: 'receiver_locked' });

    const list = ['list', '--workspace', workspace.id];
    expect((await run(...list)).stdout).toContain(`disabled (locked: ${REASON})`);
    expect(JSON.parse((await run(...list, '--json')).stdout)).toMatchObject([{ id, state: 'disabled', ...shown }]);
    const already = `${id} is locked already; nothing was changed.`;
    expect(await run('disable', id)).toMatchObject({ code: 0, stdout: already });
    expect(await run('disable', id, '--lock', '--reason', REASON)).toMatchObject({ code: 0, stdout: already });
    expect(JSON.parse((await run('disable', id, '--lock', '--json')).stdout)).toEqual({
      id,
      enabled: false,
      locked: true,
      changed: true,
    });
    expect(await deliveries.readReceiver(registered)).not.toHaveProperty('lockedReason');
    expect(await run('test', id)).toMatchObject({
      code: 1,
      stderr: `error: ${id} is locked; lift the lock first: herald receivers enable ${id}`,
    });

    const enabled = await run('enable', id);
    expect(enabled.stdout).toMatch(/^Enabled wh_\w+, and lifted its lock\. .*herald replay/);
    expect(await deliveries.readReceiver(registered)).toMatchObject({ enabled: true });
  });

  test('disable without --lock leaves it to the customer, who sees that the platform did it', async () => {
    const { registered, deliveries } = await startScene();
    expect((await run('disable', registered.id)).stdout).toContain('--lock keeps him from it');
    expect(await deliveries.readReceiver(registered)).toMatchObject({
      disabledReason: 'by_request',
      disabledBy: 'platform',
    });
    expect(await deliveries.patchReceiver(registered, { enabled: true })).toMatchObject({ enabled: true });
  });

  test('a callback is locked and unlocked by its id', async () => {
    const { workspace, hook, deliveries } = await startScene();
    const task = await workspace.createTask({ callback: { url: hook.url } });
    const id = callbackIdOf(task.id);
    await run('disable', id, '--lock', '--reason', REASON);
    const locked = { enabled: false, disabledReason: 'locked', disabledBy: 'platform', lockedReason: REASON };
    expect((await workspace.readTask(task.id)).callback).toMatchObject(locked);
    const refused = await workspace.patchCallback(task.id, { enabled: true });
    const detail = `${id} is locked by the platform; ask it to lift the lock; its reason: ${REASON}`;
    expect(refusedAs(refused)).toEqual({ status: 409, code: 'receiver_locked', detail });
    await workspace.closeTask(task.id);
    const { deliveries: all } = await deliveries.listByTask(task.id);
    const missed = all.find(({ endpointId }) => endpointId === id);
    expect(refusedAs(await deliveries.tryRedeliver(missed?.id ?? ''))).toMatchObject({ code: 'receiver_locked' });
    expect((await run('enable', id)).stdout).toMatch(/^Enabled cb_\w+, and lifted its lock\. /);
    await deliveries.redeliver(missed?.id ?? '');
    await deliveries.waitForStatus(missed?.id ?? '', 'delivered');
  });

  test.each([
    { what: 'too long a reason', options: ['--lock', '--reason', 'x'.repeat(201)], message: 'at most 200 characters' },
    { what: 'a reason of two lines', options: ['--lock', '--reason', 'two\nlines'], message: 'plain text on one line' },
    { what: 'a reason without a lock', options: ['--reason', REASON], message: 'give it with --lock' },
  ])('disable with $what is refused', async ({ options, message }) => {
    const { registered, deliveries } = await startScene();
    const { code, stderr, stdout } = await run('disable', registered.id, ...options);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(await deliveries.readReceiver(registered)).toMatchObject({ enabled: true });
  });
});

describe('a pause', () => {
  const pausing = (method: 'POST' | 'DELETE', key: string | undefined, id: string, body?: object) =>
    herald.request(method, `/api/public/webhooks/${id}/pause`, {
      ...(body && { body }),
      ...(key !== undefined && { key }),
    });

  test('holds back all but test events, says why, and only an operator lifts it', async () => {
    const { hook, workspace, registered, deliveries } = await startScene();
    const { id } = registered;
    const key = await operatorLink(workspace);
    const paused = {
      enabled: true,
      pausedAt: expect.any(String) as string,
      pausedReason: REASON,
      health: { state: 'paused' },
    };
    expect(bodyOf(await pausing('POST', key, id, { reason: REASON }), 200)).toMatchObject(paused);
    const emitted = [await deliveries.emit(), await deliveries.emit()];
    const patched = await deliveries.patchReceiver(registered, { enabled: true, pausedAt: null, description: 'mine' });
    expect(patched).toMatchObject({ ...paused, description: 'mine', health: { backlog: 2 } });
    for (const caller of [undefined, workspace.key, await customerLink(workspace)]) {
      const { status } = await pausing('DELETE', caller, id);
      expect([401, 403]).toContain(status);
    }
    const tested = await workspace.request('POST', `/api/public/webhooks/${id}/test`, { body: {} });
    expect(bodyOf(tested, 200)).toMatchObject({ delivered: true });
    expect(hook.requests).toHaveLength(1);
    const headers = basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD);
    const waiting = await herald.request('GET', `/api/operator/receivers?limit=50&find=${id}`, { headers });
    expect(bodyOf(waiting, 200)).toMatchObject({
      receivers: [
        { group: id, stopped: true, due: 2, why: expect.stringContaining('An operator has paused it') as string },
      ],
    });
    const overview = bodyOf(await herald.request('GET', '/api/operator/overview', { headers }), 200);
    expect(overview).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({ level: 'warning', code: 'receivers_paused' }),
      ]) as object[],
    });
    const { text } = await herald.request('GET', '/metrics', { headers });
    expect(text).toMatch(/^herald_receiver_due_deliveries\{[^}]*state="stopped"\} 2$/m);

    const resumed = bodyOf(await pausing('DELETE', key, id), 200);
    expect(resumed).not.toHaveProperty('pausedAt');
    for (const { to } of emitted) await deliveries.waitForStatus(to(registered), 'delivered');
    const sent = hook.requests.slice(1).map(({ headers }) => headers['x-service-delivery']);
    expect(sent.sort()).toEqual(emitted.map(({ to }) => to(registered)).sort());
    const { entries } = await auditTrailOf(herald).list({ workspaceId: workspace.id, limit: 10 });
    const doer = { by: expect.stringMatching(/^plk_/) as string, user: 'olga', target: id };
    const acts = entries.filter(({ action }) => /pause|resume/.test(action));
    expect(acts).toMatchObject([
      { ...doer, action: 'resumeReceiver' },
      { ...doer, action: 'pauseReceiver', reason: REASON },
    ]);
    expect(refusedAs(await pausing('POST', key, UNKNOWN, {}))).toMatchObject({ status: 404 });
    expect(refusedAs(await pausing('DELETE', key, UNKNOWN))).toMatchObject({ status: 404 });
  });

  test('is the same by herald receivers pause and resume, and shows in lists and queues', async () => {
    const { workspace, registered, deliveries } = await startScene();
    const run = (...args: readonly string[]) => runCli(args, { ...herald.topology.env, ...ENV });
    const { id } = registered;
    expect((await run('receivers', 'pause', id, '--reason', REASON)).stdout).toMatch(
      /^Paused wh_\w+\. Its deliveries wait/,
    );
    const again = `${id} is paused already; nothing was changed.`;
    expect((await run('receivers', 'pause', id, '--reason', REASON)).stdout).toBe(again);
    const emitted = await deliveries.emit();
    expect((await run('receivers', 'list', '--workspace', workspace.id)).stdout).toContain(
      `paused (by an operator: ${REASON})`,
    );
    const { receivers } = JSON.parse((await run('queues', '--json')).stdout) as { receivers: object[] };
    expect(receivers).toContainEqual(expect.objectContaining({ receiver: id, state: 'stopped', due: 1 }));
    expect((await run('queues')).stdout).toMatch(new RegExp(`${id}.*paused by an operator`));
    expect((await run('deliveries', 'show', emitted.to(registered))).stdout).toContain(
      'when an operator resumes its receiver',
    );
    expect((await run('receivers', 'resume', id)).stdout).toMatch(/^Resumed wh_\w+\. What waits is sent now/);
    await deliveries.waitForStatus(emitted.to(registered), 'delivered');
    expect((await run('receivers', 'resume', id)).stdout).toBe(`${id} is not paused; nothing was changed.`);
    await run('receivers', 'pause', id);
    await deliveries.patchReceiver(registered, { enabled: false });
    expect((await run('receivers', 'resume', id)).stdout).toContain('which is disabled');
    expect(await run('receivers', 'pause', UNKNOWN)).toMatchObject({ code: 1 });
  });
});

test('a 410 that comes after the lock leaves the lock as it is', async () => {
  let answer: (status: number) => void = () => undefined;
  const held = new Promise<number>((resolve) => {
    answer = resolve;
  });
  const hook = await herald.startReceiver(async () => ({ status: await held }));
  const { workspace, registered, deliveries } = await startScene(hook);
  const { to } = await deliveries.emit();
  await hook.waitForCount(1);
  await lock(await operatorLink(workspace), registered.id);
  answer(410);
  const ended = await deliveries.waitForStatus(to(registered), 'canceled');
  expect(ended).toMatchObject({ reason: 'receiver_disabled' });
  await deliveries.waitForAttempts(to(registered), 1);
  const shown = { disabledReason: 'locked', disabledBy: 'platform', lockedReason: REASON };
  expect(await deliveries.readReceiver(registered)).toMatchObject(shown);
});
