import { callbackIdOf, type TransitionReport, UnavailableError, type WorkspaceId } from '@herald/core';
import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { createBindingStore } from '@herald/store/access/binding-store';
import { createPortalLinkStore } from '@herald/store/access/portal-link-store';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createFindGroups, type ReceiverStore } from '@herald/store/endpoints/receiver-store';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { createPayloadEraser } from '@herald/store/tasks/payload-eraser';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTransitionStore } from '@herald/store/tasks/transition-store';
import { createEraseWorkspace, type EraseWorkspaceDeps } from '../../apps/api/src/platform/erase-workspace.ts';
import { createManageReceivers } from '../../apps/api/src/receivers/manage-receivers.ts';
import { createAcceptTransitions, createRecentTasks } from '../../apps/api/src/tasks/accept-transitions.ts';
import { createErasePayloads } from '../../apps/api/src/tasks/task-operations.ts';
import { buildReceiver, buildTask, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

const HOUR_MS = 3_600_000;
const nothing = () => undefined;

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores[Symbol.asyncDispose]());

/** What one API process erases a workspace with, and what it does beside it. */
function createProcess({ redis, receivers: store, tasks, transitions }: Stores['second']) {
  const { keyspace } = stores;
  const now = Date.now;
  const apiKeys = createApiKeyStore({ redis, now });
  const portalLinks = createPortalLinkStore({ redis, keyspace, now });
  const bindings = createBindingStore({ redis, keyspace, now });
  const manage = (receivers: ReceiverStore) =>
    createManageReceivers({
      receivers,
      findGroups: createFindGroups({ redis, keyspace, now }),
      encryptSecret: () => 'encrypted.secret',
      sealHeaders: () => ({ names: [], encrypted: '' }),
      findUrlProblem: nothing,
      metrics: { endpointDisabled: nothing },
      now,
    });
  const acceptTransitions = createAcceptTransitions({
    findTaskWorkspace: tasks.findWorkspace,
    transitions,
    subscriptions: { find: store.findSubscriptions, forget: nothing },
    recentTasks: createRecentTasks(),
    tellListeners: nothing,
    report: { accepted: nothing, differed: nothing, refused: nothing },
    requestId: nothing,
    actionUrl: () => 'https://app.example.com/',
    now,
  });
  const retention = createDeliveryRetention(HOUR_MS);
  const erasePayloads = createErasePayloads({
    eraser: createPayloadEraser({ redis, keyspace, retention }),
    report: nothing,
    now,
  });
  const receivers = manage(store);
  const logger = { error: nothing, warn: nothing, info: nothing, debug: nothing };
  const deps: EraseWorkspaceDeps = {
    ...{ apiKeys, portalLinks, bindings, receivers, tasks, acceptTransitions, erasePayloads, logger },
  };
  return {
    ...{ apiKeys, portalLinks, bindings, receivers, store, tasks, acceptTransitions, erasePayloads, manage },
    /** @param beside what happens once the step has listed what it ends */
    erase: async (workspaceId: WorkspaceId, at?: Step, beside?: () => Promise<unknown>) =>
      await createEraseWorkspace(at && beside ? withPause(deps, at, beside) : deps)(
        workspaceId,
        new AbortController().signal,
      ),
  };
}
type Process = ReturnType<typeof createProcess>;

const STEPS = ['apiKeys', 'portalLinks', 'receivers', 'bindings', 'tasks'] as const;
type Step = (typeof STEPS)[number];

function withPause(deps: EraseWorkspaceDeps, at: Step, beside: () => Promise<unknown>): EraseWorkspaceDeps {
  const pausing =
    <Args extends readonly unknown[], List>(list: (...args: Args) => Promise<List>, step: Step) =>
    async (...args: Args) => {
      const listed = await list(...args);
      if (step === at) await beside();
      return listed;
    };
  const { apiKeys, portalLinks, receivers, bindings, tasks } = deps;
  return {
    ...deps,
    apiKeys: { ...apiKeys, listOf: pausing(apiKeys.listOf, 'apiKeys') },
    portalLinks: { ...portalLinks, list: pausing(portalLinks.list, 'portalLinks') },
    receivers: { ...receivers, list: pausing(receivers.list, 'receivers') },
    bindings: { ...bindings, list: pausing(bindings.list, 'bindings') },
    tasks: { listUnerased: pausing(tasks.listUnerased, 'tasks') },
  };
}

/** A workspace that has some of everything. */
async function inhabit({ apiKeys, portalLinks, bindings, store, tasks, acceptTransitions }: Process, size = 2) {
  const workspaceId = newWorkspaceId();
  const some = Array.from({ length: size }, (_, index) => index);
  const keyIds = await Promise.all(
    some.map(async () => (await apiKeys.create({ workspaceId, scopes: ['webhooks'] })).record.id),
  );
  const link = { workspaceId, readOnly: true, lifeMs: HOUR_MS, madeBy: { operator: 'olga' } };
  await Promise.all(some.map(() => portalLinks.create(link)));
  const receiverIds = await Promise.all(
    some.map(async () => {
      const receiver = buildReceiver(workspaceId);
      await store.register(receiver, 'encrypted.secret');
      return receiver.id;
    }),
  );
  await Promise.all(some.map((index) => bindings.bind(workspaceId, `${workspaceId}-${index}`)));
  const createTask = async () => {
    const task = buildTask(workspaceId, { input: 'canary' });
    const endpoint = buildReceiver(workspaceId, { id: callbackIdOf(task.id) });
    await tasks.create({ ...task, callback: endpoint }, { endpoint, encryptedSecret: 'encrypted.secret' });
    return task.id;
  };
  const taskIds = await Promise.all(some.map(createTask));
  const closed = await createTask();
  await acceptTransitions([{ taskId: closed, report: { type: 'done' } }]);
  return { workspaceId, keyIds, receiverIds, taskIds, closed };
}
type Inhabited = Awaited<ReturnType<typeof inhabit>>;

/** Whatever happened beside it: there is no way in or out, and nothing of what the Tasks held. */
async function expectErased(
  { apiKeys, portalLinks, bindings, store, tasks }: Process,
  { workspaceId, taskIds, closed }: Inhabited,
) {
  const lists = [apiKeys.listOf, portalLinks.list, store.list, bindings.list];
  expect(await Promise.all(lists.map((list) => list(workspaceId)))).toEqual([[], [], [], []]);
  expect((await tasks.listUnerased(workspaceId, 1_000)).tasks).toEqual([]);
  for (const id of [...taskIds, closed]) {
    const task = await tasks.find(workspaceId, id);
    expect([undefined, 'done', 'canceled']).toContain(task?.status);
    expect(task?.input).toBeUndefined();
  }
}

const report = async ({ acceptTransitions }: Process, { taskIds }: Inhabited, type: 'done' | 'canceled') => {
  const reported: TransitionReport = { type };
  return await acceptTransitions(taskIds.map((taskId) => ({ taskId, report: reported })));
};

type Beside = readonly [what: string, step: Step, other: (process: Process, scene: Inhabited) => Promise<unknown>];
const BESIDE: readonly Beside[] = [
  ...STEPS.map((step): Beside => [
    `another erasing, behind the list of ${step}`,
    step,
    ({ erase }, { workspaceId }) => erase(workspaceId),
  ]),
  ['a key is revoked', 'apiKeys', ({ apiKeys }, { keyIds }) => apiKeys.revoke(keyIds[0] ?? '')],
  [
    'a link is ended',
    'portalLinks',
    async ({ portalLinks }, { workspaceId }) => {
      const [link] = await portalLinks.list(workspaceId);
      return await portalLinks.revoke(workspaceId, link?.id ?? '');
    },
  ],
  [
    'a receiver is removed',
    'receivers',
    ({ receivers }, { workspaceId, receiverIds }) => receivers.remove(workspaceId, receiverIds[0] ?? ''),
  ],
  [
    'a binding is ended',
    'bindings',
    ({ bindings }, { workspaceId }) => bindings.unbind(workspaceId, `${workspaceId}-0`),
  ],
  ['Tasks are done', 'tasks', (process, scene) => report(process, scene, 'done')],
  ['Tasks are canceled', 'tasks', (process, scene) => report(process, scene, 'canceled')],
  [
    'the payloads of a Task are erased',
    'tasks',
    ({ erasePayloads }, { workspaceId, closed }) => erasePayloads(workspaceId, closed),
  ],
  [
    'Tasks expire',
    'tasks',
    async (_process, { taskIds, closed }) => {
      for (const id of [...taskIds, closed])
        for (const key of [stores.keys.task(id), GLOBAL_KEYS.taskWorkspace(id)]) await stores.redis.del(key);
    },
  ],
];

test('a workspace is erased although it is full, and Redis is nearly so', async () => {
  const process = createProcess(stores.second);
  const scene = await inhabit(process);
  const { redis } = stores.second;
  const transitions = createTransitionStore({
    redis,
    keyspace: stores.keyspace,
    taskRetention: createTaskRetention(HOUR_MS),
    deliveryRetention: createDeliveryRetention(HOUR_MS),
    limits: { pending: 1, bytes: 1 },
    findRefusal: () => new UnavailableError('Redis is nearly full'),
    now: Date.now,
  });
  const full = createProcess({ ...stores.second, transitions });
  const [refused] = await full.acceptTransitions([{ taskId: scene.taskIds[0] ?? '', report: { type: 'canceled' } }]);
  expect(refused).toBeInstanceOf(UnavailableError);
  expect(await full.erase(scene.workspaceId)).toMatchObject({ erased: true });
  await expectErased(process, scene);
});

test.each(BESIDE)('a workspace is erased although meanwhile: %s', async (_what, step, other) => {
  const [first, second] = [createProcess(stores), createProcess(stores.second)];
  const scene = await inhabit(first);
  let isDone = false;
  const answer = await first.erase(scene.workspaceId, step, async () => {
    await other(second, scene);
    isDone = true;
  });
  expect([answer.erased, isDone]).toEqual([true, true]);
  await expectErased(second, scene);
});

test('a workspace is erased by three requests at once, while its executor and its customer end what they have', async () => {
  const [first, second] = [createProcess(stores), createProcess(stores.second)];
  const scene = await inhabit(first, 10);
  const { workspaceId, receiverIds } = scene;
  const [answers] = await Promise.all([
    Promise.all([first, second, second].map(({ erase }) => erase(workspaceId))),
    report(second, scene, 'done'),
    Promise.allSettled(receiverIds.map((id) => first.receivers.remove(workspaceId, id))),
  ]);
  expect(answers.map(({ erased }) => erased)).toEqual([true, true, true]);
  await expectErased(second, scene);
});

test('a registration is answered as one, although the workspace is erased before it reads its receiver', async () => {
  const [first, second] = [createProcess(stores), createProcess(stores.second)];
  const workspaceId = newWorkspaceId();
  const { register } = first.manage({
    ...first.store,
    async register(...args) {
      const reply = await first.store.register(...args);
      await second.erase(workspaceId);
      return reply;
    },
  });
  const { url } = buildReceiver(workspaceId);
  const asked = { url, events: ['task.done' as const], description: 'soon gone', enabled: true };
  const { receiver, secret } = await register(workspaceId, asked, 'customer');
  expect(secret).toMatch(/^whsec_/);
  expect(receiver.receiver).toMatchObject({ ...asked, workspaceId, health: { consecutiveFailures: 0 } });
  expect(await second.store.list(workspaceId)).toEqual([]);
});
