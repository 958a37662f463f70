import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { waitFor } from '@herald/test-kit';
import { newApiKey } from '../../../packages/store/src/access/api-key-store.ts';
import { bodyOf, type RequestOptions } from '../../support/http-request.ts';
import { problemOf } from '../../support/problems.ts';
import { dumpRedis } from '../../support/redis-dump.ts';
import { restoreSnapshot, takeSnapshot } from '../../support/redis-snapshot.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { findChanges } from './find-changes.ts';
import { CALLS } from './operation-table.ts';
import { fillPath, idsOf, OPERATIONS, type CalledOperation } from './operations.ts';
import { ID_KINDS, inhabit, type Inhabited } from './scene.ts';

/** A key that must be refused, and as what. */
interface Caller {
  name: string;
  options: RequestOptions;
  status: number;
  code: string;
}

const TENANT_SCOPES = ['webhooks', 'tasks'] as const;
const OTHER_SCOPE = { webhooks: 'tasks', tasks: 'webhooks' } as const;

const guarded = OPERATIONS.filter(({ scope }) => scope !== undefined);
const ofTenants = guarded.filter(({ scope }) => scope !== 'execute' && scope !== 'platform');

let herald: Herald;
/** The workspace whose things are reached for, and one that reaches. */
let victim: Inhabited;
let intruder: Inhabited;
/** Keys that are good for nothing. */
let dead: { unknown: string; expired: string; revoked: string };
let received: number;
let platformKey: string;

beforeAll(async () => {
  herald = await startHerald({ env: { TRUST_PROXY: '1', EGRESS_ALLOW_CIDRS: '127.0.0.0/8' } });
  victim = await inhabit(herald, 'approval-of-the-victim');
  intruder = await inhabit(herald, 'approval-of-the-intruder');
  platformKey = await herald.createKey(undefined, ['platform']);
  await herald.settled();
  // From here on nothing writes to Redis but the API.
  await Promise.all(herald.workers.map((worker) => worker.stop()));
  dead = await createDeadKeys();
  received = countReceived();
}, 60_000);
afterAll(() => herald[Symbol.asyncDispose]());

function countReceived(): number {
  return [victim, intruder].flatMap(({ receiver, callback }) => [...receiver.requests, ...callback.requests]).length;
}

async function createDeadKeys() {
  const { create, revoke } = createApiKeyStore({ redis: herald.redis, now: Date.now });
  const of = { workspaceId: victim.workspace.id, scopes: [...TENANT_SCOPES] };
  const revoked = await create(of);
  await revoke(revoked.record.id);
  const expired = await create({ ...of, expiresAt: Date.now() + 500 });
  const isRefused = async () => (await send('GET', '/api/public/webhooks', { key: expired.key })).status === 401;
  await waitFor('the key to expire', isRefused, { until: Boolean });
  return { unknown: newApiKey(`key_${'0'.repeat(16)}`), expired: expired.key, revoked: revoked.key };
}

let addresses = 0;
/** Each request comes from another address, since the failures of one are limited. */
function send(method: string, path: string, { headers, ...options }: RequestOptions = {}) {
  const count = ++addresses;
  const from = `198.51.${(count >> 8) & 255}.${count & 255}`;
  return herald.request(method, path, { ...options, headers: { 'x-forwarded-for': from, ...headers } });
}

/** The path with these ids, and the body as the victim would send it. */
function requestOf(operation: CalledOperation, ids: readonly string[]): [path: string, options: RequestOptions] {
  const { query = '', body } = operation.call;
  return [fillPath(operation, ids) + query, { ...(body && { body: body(victim.ids) }) }];
}

const own = (operation: CalledOperation) => idsOf(operation, victim);

/** Runs what must change nothing. */
async function changingNothing(run: () => Promise<void>): Promise<void> {
  expect(await findChanges(herald.redis, run)).toEqual([]);
  expect(countReceived()).toBe(received);
}

test('every operation of the document has a place in the table, and no other has', () => {
  expect(Object.keys(CALLS).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
  const open = OPERATIONS.filter(({ call }) => call.isOpen ?? call.isOperators ?? call.isOperatorLinks);
  expect(open.map(({ scope }) => scope)).toEqual(open.map(() => undefined));
  expect(OPERATIONS).toHaveLength(open.length + guarded.length);
  for (const { path, call } of OPERATIONS) expect(path.match(/\{\w+\}/g) ?? []).toHaveLength(call.params.length);
});

test.each(guarded)('$method $path is called by the table so that it works with the right key', async (operation) => {
  const before = await takeSnapshot(herald.redis);
  const keys: Partial<Record<string, string>> = { execute: herald.executor.key, platform: platformKey };
  const key = keys[operation.scope ?? ''] ?? victim.workspace.key;
  const [path, options] = requestOf(operation, own(operation));
  const { status } = await send(operation.method, path, { ...options, key });
  await restoreSnapshot(herald.redis, before);
  // Its worker is away.
  expect([operation.id === 'testReceiver' ? 503 : 200, 201, 202]).toContain(status);
});

test.each(guarded)(
  '$method $path lets in no key but one of its workspace and scope, and says so',
  async (operation) => {
    const callers = await createCallers(operation);
    await changingNothing(async () => {
      for (const { name, options, status, code } of callers) {
        const [path, request] = requestOf(operation, own(operation));
        const answer = await send(operation.method, path, { ...request, ...options });
        expect({ name, status: answer.status, code: problemOf(answer).code }).toEqual({ name, status, code });
      }
    });
  },
);

test.each(guarded)(
  '$method $path is for the portal links that the table names, and for no other',
  async (operation) => {
    const { portalLinks } = operation.call;
    const before = await takeSnapshot(herald.redis);
    const seen: string[] = [];
    for (const readOnly of [true, false]) {
      const { token } = await createLink(victim, readOnly);
      const [path, options] = requestOf(operation, own(operation));
      const answer = await send(operation.method, path, { ...options, key: token });
      // The worker is away, so that a test event gets no answer.
      const isDone = answer.status < 300 || (operation.id === 'testReceiver' && answer.status === 503);
      seen.push(isDone ? 'done' : problemOf(answer).code);
    }
    await restoreSnapshot(herald.redis, before);
    const ofReadOnly = portalLinks === 'read' ? 'done' : 'insufficient_scope';
    expect(seen).toEqual([ofReadOnly, portalLinks ? 'done' : 'insufficient_scope']);
  },
);

async function createLink({ workspace }: Inhabited, readOnly: boolean) {
  const made = await send('POST', '/api/public/portal-links', { key: workspace.key, body: { readOnly } });
  return bodyOf(made, 201) as { token: string };
}

async function createShortKey(scope: keyof typeof OTHER_SCOPE): Promise<[string, string]> {
  return ['the own workspace with the other scope', await herald.createKey(victim.workspace.id, [OTHER_SCOPE[scope]])];
}

async function createCallers({ scope }: CalledOperation): Promise<Caller[]> {
  const { workspace } = victim;
  const unauthenticated: readonly [string, RequestOptions][] = [
    ['no key', {}],
    ['an empty header', { headers: { authorization: '' } }],
    ['another scheme', { headers: { authorization: `Basic ${btoa(`x:${workspace.key}`)}` } }],
    ['a malformed key', { key: 'hrld_nonsense' }],
    ['a key with a wrong checksum', { key: workspace.key.replace(/.$/, (end) => (end === 'a' ? 'b' : 'a')) }],
    ['two keys', { headers: { authorization: `Bearer ${workspace.key} ${intruder.workspace.key}` } }],
    ['an unknown key with a right checksum', { key: dead.unknown }],
    ['an expired key', { key: dead.expired }],
    ['a revoked key', { key: dead.revoked }],
  ];
  const short: readonly [string, string][] =
    scope === 'execute' || scope === 'platform'
      ? [
          scope === 'execute' ? ['a platform', platformKey] : ['an executor', herald.executor.key],
          ['the own workspace with all its scopes', await herald.createKey(workspace.id, TENANT_SCOPES)],
          ['another workspace with all its scopes', intruder.workspace.key],
        ]
      : [
          ['an executor', herald.executor.key],
          ['a platform', platformKey],
          // Every scope will do for `any`.
          ...(scope === 'webhooks' || scope === 'tasks' ? [await createShortKey(scope)] : []),
        ];
  return [
    ...unauthenticated.map(([name, options]) => ({ name, options, status: 401, code: 'unauthenticated' })),
    ...short.map(([name, key]) => ({ name, options: { key }, status: 403, code: 'insufficient_scope' })),
  ];
}

const withIds = ofTenants.filter(({ call }) => call.params.length > 0);

test.each(withIds)('$method $path finds nothing under any id of another workspace', async (operation) => {
  const { key } = intruder.workspace;
  const tried: (readonly string[])[] = ID_KINDS.map((kind) => [victim.ids[kind], victim.ids.approval]);
  // With a Task of one's own, and what hangs on it of another's.
  if (operation.call.params.length > 1) {
    tried.push(...ID_KINDS.map((kind) => [intruder.ids.waitingTask, victim.ids[kind]]));
    tried.push([victim.ids.waitingTask, intruder.ids.approval]);
  }
  await changingNothing(async () => {
    for (const ids of tried) {
      const [path, options] = requestOf(operation, ids);
      const answer = await send(operation.method, path, { ...options, key });
      expect({ path, status: answer.status, code: problemOf(answer).code }).toEqual({
        path,
        status: 404,
        code: expect.stringMatching(/^\w+_not_found$/) as string,
      });
    }
  });
});

test('what has no id shows and changes nothing of another workspace', async () => {
  const ofVictim = (dump: ReadonlyMap<string, string>) => {
    const ids = [victim.workspace.id, ...Object.values(victim.ids)];
    // The audit trail is that of the shard: it has the victim's entries beside those of the intruder.
    const found = [...dump].filter(
      ([key, value]) => !key.includes(':audit') && ids.some((id) => `${key} ${value}`.includes(id)),
    );
    // So are the accounts. Of these the victim's own.
    const isAccount = /^\{[^}]+\}:(?:held|pending|leaving)$/;
    return found.map(([key, value]) => {
      if (!isAccount.test(key)) return [key, value];
      const scores = JSON.parse(value) as string[];
      return [key, scores[scores.indexOf(victim.workspace.id) + 1]];
    });
  };
  const before = ofVictim(await dumpRedis(herald.redis));
  expect(before.length).toBeGreaterThan(10);
  for (const operation of ofTenants.filter(({ call }) => call.params.length === 0)) {
    const [path, options] = requestOf(operation, []);
    const answer = await send(operation.method, path, { ...options, key: intruder.workspace.key });
    expect(answer.status).toBeLessThan(300);
    for (const id of [victim.workspace.id, ...Object.values(victim.ids)]) expect(answer.text).not.toContain(id);
  }
  expect(ofVictim(await dumpRedis(herald.redis))).toEqual(before);
});

test('a portal link finds nothing of another workspace', async () => {
  const { token: key } = await createLink(intruder, false);
  const operationsOfLinks = ofTenants.filter(({ call }) => call.portalLinks);
  for (const operation of operationsOfLinks.filter(({ call }) => call.params.length > 0)) {
    const [path, options] = requestOf(operation, own(operation));
    const { status } = await send(operation.method, path, { ...options, key });
    expect({ path, status }).toEqual({ path, status: 404 });
  }
  for (const operation of operationsOfLinks.filter(({ call }) => call.params.length === 0)) {
    const [path, options] = requestOf(operation, []);
    const { text } = await send(operation.method, path, { ...options, key });
    for (const id of Object.values(victim.ids)) expect(text).not.toContain(id);
  }
});

test('a cursor from the list of another workspace leads to nothing but what is in the own list', async () => {
  const first = async (path: string, key: string) => {
    const { body } = await send('GET', `${path}?limit=1`, { key });
    return body as { deliveries: { id: string }[]; nextCursor: string | null };
  };
  const listOf = ({ ids }: Inhabited) => `/api/public/webhooks/${ids.receiver}/deliveries`;
  const { nextCursor } = await first(listOf(victim), victim.workspace.key);
  expect(nextCursor).not.toBeNull();
  const query = `?cursor=${encodeURIComponent(nextCursor ?? '')}&limit=100`;
  for (const path of [listOf(intruder), `/tasks/${intruder.ids.task}/deliveries`, '/api/public/deliveries']) {
    const { status, text } = await send('GET', path + query, { key: intruder.workspace.key });
    expect(status).toBe(200);
    for (const id of Object.values(victim.ids)) expect(text).not.toContain(id);
  }
  const refused = await send('GET', listOf(victim) + query, { key: intruder.workspace.key });
  expect(problemOf(refused)).toMatchObject({ status: 404, code: 'receiver_not_found' });
});

test.each(['workspaceId', 'workspace', 'endpointId', 'taskId'])('no list can be asked for by %s', async (name) => {
  const path = `/api/public/webhooks/${intruder.ids.receiver}/deliveries?${name}=${victim.workspace.id}`;
  const answer = await send('GET', path, { key: intruder.workspace.key });
  expect(problemOf(answer)).toMatchObject({ status: 422, code: 'validation_failed' });
});

test.each(['receiver', 'callback', 'task'] as const)(
  'the list of a workspace has nothing of the %s of another, and no cursor of its deliveries',
  async (kind) => {
    const name = kind === 'task' ? 'task' : 'receiver';
    const path = `/api/public/deliveries?${name}=${victim.ids[kind]}&event=task.canceled`;
    const { status, body } = await send('GET', path, { key: intruder.workspace.key });
    const nothing = { status: 200, body: { deliveries: [], nextCursor: null } };
    const unknown = { status: 404, body: { code: 'receiver_not_found' } };
    expect({ status, body }).toMatchObject(kind === 'task' ? nothing : unknown);
  },
);

test('the same Idempotency-Key of two workspaces is two keys', async () => {
  const headers = { 'idempotency-key': 'shared-by-accident' };
  const create = (key: string, input: number) => send('POST', '/tasks', { key, headers, body: { input } });
  const mine = await create(victim.workspace.key, 1);
  const same = await create(intruder.workspace.key, 1);
  expect([mine.status, same.status]).toEqual([201, 201]);
  expect(same.headers['idempotency-replayed']).toBeUndefined();
  expect((same.body as { id: string }).id).not.toBe((mine.body as { id: string }).id);
  // It counts for one API key, another one of the same workspace has its own.
  expect((await create(await herald.createKey(victim.workspace.id, TENANT_SCOPES), 2)).status).toBe(201);
  expect((await create(intruder.workspace.key, 2)).status).toBe(409);
});

test('when a worker comes back nothing was left for it to send', async () => {
  await herald.startWorker();
  await herald.settled();
  expect(countReceived()).toBe(received);
});
