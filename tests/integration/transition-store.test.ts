import {
  callbackIdOf,
  deliveryIdOf,
  newTestTransitionId,
  transitionIdOfFact,
  WorkspaceFullError,
  type ResultField,
  type Task,
} from '@herald/core';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import type { FindRefusal } from '@herald/store/stats/memory-guard';
import { createLookUpRefresher, createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { createDeliveryLog } from '@herald/store/lists/delivery-log';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import {
  createTransitionStore,
  FACT_LIMIT,
  type Emission,
  type TransitionStore,
} from '@herald/store/tasks/transition-store';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { mastersOf } from '@herald/store/redis/connect-redis';
import { isRedisUnavailable } from '@herald/store/redis/refusal';
import { newRevision } from '@herald/store/redis/random-token';
import { findAccountFaults } from './every-script/find-harm.ts';
import { limitMemory } from '../support/limit-memory.ts';
import { buildReceiver, buildTask, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';
import { listKeys } from '../support/start-topology.ts';

type Commit = Parameters<TransitionStore['commit']>[0];

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores[Symbol.asyncDispose]());

async function createTask(workspaceId = newWorkspaceId()): Promise<Task> {
  const task = buildTask(workspaceId);
  await stores.tasks.create(task);
  return task;
}

function emissionTo(...endpointIds: readonly string[]): Emission {
  return {
    transitionId: newTestTransitionId(),
    event: 'task.check_in',
    body: '{"é":1}',
    targets: endpointIds.map((endpointId) => ({ endpointId, enabled: true })),
  };
}

function commitOf(task: Task, more: Partial<Commit> = {}): Commit {
  return {
    task,
    newRevision: newRevision(),
    subscriptionVersion: '0',
    now: Date.now(),
    change: { status: 'running', sequence: task.sequence + 1 },
    factKey: 'checkpoint:c1',
    ...more,
  };
}

test('of many commits that were decided on one revision exactly one is accepted, and only it leaves anything', async () => {
  const task = await createTask();
  const commits = Array.from({ length: 20 }, (_, index) =>
    commitOf(task, { factKey: `checkpoint:c${index}`, emission: emissionTo('wh_a') }),
  );
  const replies = await Promise.all(
    commits.map((commit, index) => (index % 2 ? stores : stores.second).transitions.commit(commit)),
  );
  expect(replies.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
  const left = await Promise.all(
    commits.map(({ emission }) => stores.deliveries.load(deliveryIdOf(emission?.transitionId ?? '', 'wh_a'))),
  );
  expect(left.map(({ kind }) => kind === 'loaded')).toEqual(replies.map(({ kind }) => kind === 'accepted'));
  const found = await stores.transitions.findTask(
    task.workspaceId,
    task.id,
    commits.map(({ factKey }) => factKey ?? ''),
    [],
  );
  expect(found?.knownFacts.size).toBe(1);
  expect(found?.task.sequence).toBe(1);
});

test('a commit that was decided before the subscriptions changed is refused', async () => {
  const task = await createTask();
  const { version } = await stores.receivers.findSubscriptions(task.workspaceId);
  await stores.receivers.register(buildReceiver(task.workspaceId), 'encrypted');
  expect(await stores.transitions.commit(commitOf(task, { subscriptionVersion: version }))).toEqual({
    kind: 'conflict',
  });
  const current = await stores.receivers.findSubscriptions(task.workspaceId);
  expect(await stores.transitions.commit(commitOf(task, { subscriptionVersion: current.version }))).toMatchObject({
    kind: 'accepted',
  });
});

test('every change to the subscriptions gives them a version that never comes back', async () => {
  const workspaceId = newWorkspaceId();
  const receiver = buildReceiver(workspaceId);
  const versions = [(await stores.receivers.findSubscriptions(workspaceId)).version];
  for (const change of [
    () => stores.receivers.register(receiver, 'encrypted'),
    () => stores.receivers.patch(workspaceId, receiver.id, { enabled: false }, 1),
    () => stores.receivers.patch(workspaceId, receiver.id, { enabled: true }, 2),
    () => stores.receivers.remove(workspaceId, receiver.id, Date.now()),
  ]) {
    await change();
    versions.push((await stores.receivers.findSubscriptions(workspaceId)).version);
  }
  expect(new Set(versions).size).toBe(5);
});

test('commits of one tick, each decided on what the one before leaves, are all accepted in order', async () => {
  const task = await createTask();
  let state: Task = task;
  const replies = [];
  for (let sequence = 1; sequence <= 5; sequence++) {
    const commit = commitOf(state, { factKey: `checkpoint:c${sequence}`, change: { status: 'running', sequence } });
    replies.push(stores.transitions.commit(commit));
    state = { ...state, sequence, revision: commit.newRevision };
  }
  expect((await Promise.all(replies)).map(({ kind }) => kind)).toEqual(Array.from(replies, () => 'accepted'));
  expect((await stores.tasks.find(task.workspaceId, task.id))?.sequence).toBe(5);
});

test('a commit of a fact that the Task knows is refused, whatever the caller believed', async () => {
  const task = await createTask();
  const first = commitOf(task);
  expect((await stores.transitions.commit(first)).kind).toBe('accepted');
  const again = commitOf({ ...task, revision: first.newRevision }, { emission: emissionTo('wh_a') });
  expect(await stores.transitions.commit(again)).toEqual({ kind: 'conflict' });
});

describe('a fact that emitted nothing', () => {
  const silent = (task: Task) => commitOf(task, { digest: '0000001', change: { status: 'running', sequence: 0 } });
  const raised = (task: Task) => commitOf(task, { digest: '0000002', isRaised: true, emission: emissionTo('wh_a') });

  test('is raised by exactly one of many processes that try, and has the deliveries of that one', async () => {
    const task = await createTask();
    const first = silent(task);
    expect(await stores.transitions.commit(first)).toMatchObject({ kind: 'accepted' });
    const state = { ...task, revision: first.newRevision };
    const commits = Array.from({ length: 20 }, () => raised(state));
    const replies = await Promise.all(
      commits.map((commit, index) => (index % 2 ? stores : stores.second).transitions.commit(commit)),
    );
    expect(replies.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    const left = await Promise.all(
      commits.map(({ emission }) => stores.deliveries.load(deliveryIdOf(emission?.transitionId ?? '', 'wh_a'))),
    );
    expect(left.map(({ kind }) => kind === 'loaded')).toEqual(replies.map(({ kind }) => kind === 'accepted'));
    const found = await stores.transitions.findTask(task.workspaceId, task.id, ['checkpoint:c1'], []);
    expect([...(found?.knownFacts ?? [])]).toEqual([['checkpoint:c1', { sequence: 1, digest: '0000002' }]]);
  });

  test('is not raised by a caller who did not know of it, and one that emitted is never raised', async () => {
    const task = await createTask();
    const first = silent(task);
    await stores.transitions.commit(first);
    const state = { ...task, revision: first.newRevision };
    const { isRaised: _, ...unaware } = raised(state);
    expect(await stores.transitions.commit(unaware)).toEqual({ kind: 'conflict' });
    const second = raised(state);
    expect(await stores.transitions.commit(second)).toMatchObject({ kind: 'accepted' });
    const third = raised({ ...state, sequence: 1, revision: second.newRevision });
    expect(await stores.transitions.commit(third)).toEqual({ kind: 'conflict' });
  });

  test('is raised also as a former version left it, and on a Task that knows as many facts as it may', async () => {
    const task = await createTask();
    const facts = stores.keys.facts(task.id);
    const others = Array.from({ length: FACT_LIMIT - 1 }, (_, n) => [`c${n}`, '0']).flat();
    await stores.redis.hset(facts, 'checkpoint:c1', '0', ...others);
    const found = await stores.transitions.findTask(task.workspaceId, task.id, ['checkpoint:c1', 'c0', 'unknown'], []);
    expect([...(found?.knownFacts ?? [])]).toEqual([
      ['checkpoint:c1', { sequence: 0 }],
      ['c0', { sequence: 0 }],
    ]);
    expect(await stores.transitions.commit(raised(task))).toMatchObject({ kind: 'accepted' });
    expect(await stores.redis.hget(facts, 'checkpoint:c1')).toBe('1.0000002');
    expect(await stores.redis.hlen(facts)).toBe(FACT_LIMIT);
  });

  test("is in the list of the Task's deliveries once it is raised, and not before", async () => {
    const task = await createTask();
    const log = createDeliveryLog(stores);
    const transitionId = transitionIdOfFact(task.id, 'checkpoint:c1') ?? '';
    const list = async () => (await log.listByTask(task.workspaceId, task.id, 10))?.deliveries;
    const first = silent(task);
    await stores.transitions.commit(first);
    expect(await list()).toEqual([]);
    const next = { ...task, revision: first.newRevision };
    await stores.transitions.commit({ ...raised(next), emission: { ...emissionTo('wh_a'), transitionId } });
    expect(await list()).toMatchObject([{ transitionId, endpointId: 'wh_a', status: 'pending' }]);
  });
});

test('a difference is noted once per Task, whichever process notes it, and leaves the Task as it was', async () => {
  const task = await createTask();
  const note = (by: Pick<Stores, 'transitions'>) => by.transitions.noteDifference(task.workspaceId, task.id);
  const noted = await Promise.all([note(stores), note(stores.second), note(stores)]);
  expect([...noted].sort()).toEqual([false, false, true]);
  expect(await stores.tasks.find(task.workspaceId, task.id)).toEqual(task);
});

test('a difference in a report about a Task that is gone leaves nothing', async () => {
  const task = buildTask(newWorkspaceId());
  expect(await stores.transitions.noteDifference(task.workspaceId, task.id)).toBe(false);
  expect(await stores.redis.exists(stores.keys.task(task.id))).toBe(0);
});

test('what a Task came to so far stays when a later transition brings nothing of the kind', async () => {
  const task = await createTask();
  const first = commitOf(task, { change: { status: 'running', sequence: 1, interim: { summary: 'half' } } });
  await stores.transitions.commit(first);
  const next = { ...task, sequence: 1, revision: first.newRevision };
  await stores.transitions.commit(commitOf(next, { factKey: 'checkpoint:c2' }));
  expect(await stores.tasks.find(task.workspaceId, task.id)).toMatchObject({
    sequence: 2,
    interim: { summary: 'half' },
  });
});

test('a commit about a Task that is gone is refused and leaves nothing', async () => {
  const task = buildTask(newWorkspaceId());
  const emission = emissionTo('wh_a');
  const before = (await listKeys(stores.redis)).length;
  expect(await stores.transitions.commit(commitOf(task, { emission }))).toEqual({ kind: 'conflict' });
  expect((await listKeys(stores.redis)).length).toBe(before);
});

test('an accepted transition leaves one record and one place in the queue per endpoint, and its frozen body', async () => {
  const task = await createTask();
  const receiver = buildReceiver(task.workspaceId);
  await stores.receivers.register(receiver, 'encrypted');
  const { version } = await stores.receivers.findSubscriptions(task.workspaceId);
  const emission = emissionTo(receiver.id, 'wh_gone');
  await stores.transitions.commit(commitOf(task, { emission, subscriptionVersion: version }));
  const loaded = await stores.deliveries.load(deliveryIdOf(emission.transitionId, receiver.id));
  expect(loaded).toMatchObject({
    kind: 'loaded',
    body: Buffer.from(emission.body),
    delivery: { status: 'pending', tries: 0, taskId: task.id, workspaceId: task.workspaceId, event: 'task.check_in' },
    endpoint: { id: receiver.id },
  });
  const gone = await stores.deliveries.load(deliveryIdOf(emission.transitionId, 'wh_gone'));
  expect(gone).toMatchObject({ kind: 'loaded', delivery: { status: 'pending' } });
  expect('endpoint' in gone).toBe(false);
  const ids = emission.targets.map(({ endpointId }) => deliveryIdOf(emission.transitionId, endpointId));
  const groups = emission.targets.map(({ endpointId }) => stores.keys.queue.waiting(endpointId));
  const waiting = await Promise.all(groups.map((key) => stores.redis.zrange(key, '0', '-1')));
  expect(waiting).toEqual(ids.map((id) => expect.arrayContaining([id]) as string[]));
});

test('what a disabled endpoint would have got is recorded as canceled, and is not in the queue', async () => {
  const task = await createTask();
  const emission = { ...emissionTo(), targets: [{ endpointId: 'wh_off', enabled: false }] };
  await stores.transitions.commit(commitOf(task, { emission }));
  const id = deliveryIdOf(emission.transitionId, 'wh_off');
  expect(await stores.deliveries.load(id)).toMatchObject({ delivery: { status: 'canceled' } });
  expect(await stores.redis.hget(stores.keys.delivery(id), 'why')).toBe('receiver_disabled');
  expect(await stores.leases.isQueued(id)).toBe(false);
});

test('a callback that was disabled meanwhile gets a canceled record, whatever the caller believed', async () => {
  const workspaceId = newWorkspaceId();
  const task = buildTask(workspaceId);
  const id = callbackIdOf(task.id);
  const callback = buildReceiver(workspaceId, { id, enabled: false });
  await stores.tasks.create({ ...task, callback }, { endpoint: callback, encryptedSecret: 'encrypted' });
  const emission = emissionTo(id);
  await stores.transitions.commit(commitOf(task, { emission }));
  const loaded = await stores.deliveries.load(deliveryIdOf(emission.transitionId, id));
  expect(loaded).toMatchObject({ delivery: { status: 'canceled' } });
});

test('a commit that Redis refuses, being full, fails as an outage does, and leaves nothing', async () => {
  const task = await createTask();
  const commit = commitOf(task, { emission: emissionTo('wh_a') });
  await limitMemory(stores.redis, 1);
  const refused: unknown = await stores.transitions.commit(commit).catch((error: unknown) => error);
  await limitMemory(stores.redis, 0);
  expect(refused).toMatchObject({ message: expect.stringMatching(/OOM/) as string });
  expect(isRedisUnavailable(refused)).toBe(true);
  expect(await stores.transitions.commit(commit)).toMatchObject({ kind: 'accepted' });
});

test('commits with much JSON go to Redis apart, and small ones together', async () => {
  const countCalls = async () =>
    (await Promise.all(mastersOf(stores.redis).map(async (master) => await master.info('commandstats')))).reduce(
      (sum, text) => sum + Number(/cmdstat_evalsha:calls=(\d+)/.exec(text)?.[1] ?? 0),
      0,
    );
  const commitAll = async (result: string) => {
    const tasks = await Promise.all(Array.from({ length: 12 }, () => createTask()));
    await stores.transitions.commit(commitOf(await createTask())); // the script is known
    const before = await countCalls();
    const commits = tasks.map((task) => commitOf(task, { change: { status: 'done', sequence: 1, result } }));
    const replies = await Promise.all(commits.map((commit) => stores.transitions.commit(commit)));
    expect(replies).toEqual(Array(12).fill({ kind: 'accepted', canceled: 0 }));
    return (await countCalls()) - before;
  };
  expect(await commitAll('small')).toBe(1);
  expect(await commitAll('x'.repeat(250_000))).toBe(12);
});

test('what is committed together is enqueued in its order, however many calls it takes, and a conflict adds nothing', async () => {
  const tasks = await Promise.all(Array.from({ length: 100 }, () => createTask()));
  const endpoints = Array.from({ length: 10 }, (_, index) => `wh_${index}`);
  await stores.redis.del(endpoints.map(stores.keys.queue.waiting));
  const emissions = tasks.map(() => emissionTo(...endpoints));
  const replies = await Promise.all(
    tasks.map((task, index) => {
      const known = index === 50 ? { ...task, revision: 'another' } : task;
      const emission = emissions[index];
      return stores.transitions.commit(commitOf(known, emission && { emission }));
    }),
  );
  expect(replies.map(({ kind }) => kind)).toEqual(tasks.map((_, index) => (index === 50 ? 'conflict' : 'accepted')));
  const expected = emissions
    .filter((_, index) => index !== 50)
    .flatMap(({ transitionId }) => endpoints.map((id) => deliveryIdOf(transitionId, id)));
  const groups = endpoints.map((id) => stores.redis.zrange(stores.keys.queue.waiting(id), '0', '-1'));
  // What one call enqueues has one time.
  expect((await Promise.all(groups)).flat().sort()).toEqual([...expected].sort());
});

test('a transition that can’t be written spoils none that is committed with it', async () => {
  const tasks = await Promise.all(Array.from({ length: 3 }, () => createTask()));
  const emissions = tasks.map(() => emissionTo('wh_a'));
  const [first, second, third] = emissions.map(({ transitionId }) => transitionId);
  await stores.redis.set(stores.keys.transition(second ?? ''), 'of another type');
  const outcomes = await Promise.allSettled(
    tasks.map((task, index) => {
      const emission = emissions[index];
      return stores.transitions.commit(commitOf(task, emission && { emission }));
    }),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toMatchObject({ reason: { message: expect.stringContaining('WRONGTYPE') as unknown } });
  for (const id of [first, third]) expect(await stores.leases.isQueued(deliveryIdOf(id ?? '', 'wh_a'))).toBe(true);
});

test('a Task of another workspace is not found', async () => {
  const task = await createTask();
  expect(await stores.transitions.findTask(newWorkspaceId(), task.id, [], [])).toBeUndefined();
});

test('a Task that knows as many facts as it may takes no further checkpoint, and can still end', async () => {
  const task = await createTask();
  const facts = stores.keys.facts(task.id);
  // As large as so many facts make it.
  await stores.redis.hincrby(stores.keys.task(task.id), 'b', 66 * (FACT_LIMIT - 1));
  await stores.redis.hset(facts, Object.fromEntries(Array.from({ length: FACT_LIMIT - 1 }, (_, n) => [`c${n}`, '0'])));
  const last = commitOf(task, { factKey: 'checkpoint:last' });
  expect((await stores.transitions.commit(last)).kind).toBe('accepted');
  const next = { ...task, revision: last.newRevision };
  const refused = commitOf(next, { factKey: 'checkpoint:more', emission: emissionTo('wh_a') });
  expect((await stores.transitions.commit(refused)).kind).toBe('full');
  expect(await stores.redis.hlen(facts)).toBe(FACT_LIMIT);
  expect((await stores.deliveries.load(deliveryIdOf(refused.emission?.transitionId ?? '', 'wh_a'))).kind).not.toBe(
    'loaded',
  );
  const end = commitOf(next, { factKey: 'done', change: { status: 'done', sequence: 2 } });
  expect((await stores.transitions.commit(end)).kind).toBe('accepted');
});

test('a transition lets all that belongs to the Task live as long as the Task', async () => {
  const built = buildTask(newWorkspaceId());
  const callback = buildReceiver(built.workspaceId, { id: callbackIdOf(built.id) });
  const bare = { ...built, callback };
  await stores.tasks.create(bare, { endpoint: callback, encryptedSecret: 'encrypted' });
  await stores.tasks.addMessage(bare.workspaceId, bare.id, { id: 'msg_1', text: 'more', createdAt: Date.now() });
  const action = { version: 1, primary: 'pay', approvals: [] };
  const asked = commitOf(bare, { factKey: 'action:1', change: { status: 'requires_action', sequence: 1, action } });
  expect(await stores.transitions.commit(asked)).toMatchObject({ kind: 'accepted' });
  const task = { ...bare, ...asked.change, revision: asked.newRevision };
  const decision = { approvalId: 'pay', actionVersion: 1, decision: 'yes', decidedAt: Date.now() };
  expect(await stores.tasks.resolve(task, decision, 'running')).toBe('resolved');
  const keys = stores.keyspace.of(task.workspaceId);
  const belongings = [keys.facts, keys.messages, keys.decisions].map((of) => of(task.id));
  const all = [keys.task(task.id), ...belongings, keys.endpoint(callback.id)];
  // Much of their life has passed.
  for (const key of all) expect(await stores.redis.pexpire(key, 60_000)).toBe(1);
  await stores.redis.hset(keys.task(task.id), 'leaves', await stores.redis.pexpiretime(keys.task(task.id)));
  const found = await stores.tasks.find(task.workspaceId, task.id);
  if (!found) throw new Error('the Task is there');
  expect(await stores.transitions.commit(commitOf(found))).toMatchObject({ kind: 'accepted' });
  const endsAt = await stores.redis.pexpiretime(keys.task(task.id));
  expect(endsAt).toBeGreaterThan(Date.now() + 89 * 86_400_000);
  const ends = await Promise.all(all.map((key) => stores.redis.pexpiretime(key)));
  expect(ends.filter((at) => at < endsAt - 1_000)).toEqual([]);
});

test('the look-up of a Task outlives the Task, whichever process prolonged that last', async () => {
  const task = await createTask();
  const lookUp = GLOBAL_KEYS.taskWorkspace(task.id);
  const key = stores.keyspace.of(task.workspaceId).task(task.id);
  const commit = async (via: Pick<Stores, 'transitions'>, from: Task, more: Partial<Commit>) => {
    const made = commitOf(from, more);
    expect(await via.transitions.commit(made)).toMatchObject({ kind: 'accepted' });
    expect(await stores.redis.pttl(lookUp)).toBeGreaterThan(await stores.redis.pttl(key));
    return { ...from, ...made.change, revision: made.newRevision };
  };
  const first = await commit(stores, task, { factKey: 'checkpoint:c1' });
  const second = await commit(stores.second, first, { factKey: 'checkpoint:c2' });
  const third = await commit(stores, second, { factKey: 'checkpoint:c3' });
  await commit(stores.second, third, { factKey: 'terminal', change: { status: 'done', sequence: 4 } });
  expect(await stores.redis.pttl(lookUp)).toBeLessThan(32 * 86_400_000);
});

test.each([
  { kept: 'a minute', ttlMs: 60_000 },
  { kept: 'a month', ttlMs: 30 * 86_400_000 },
])('the look-up of a Task kept for $kept outlives it by a sixteenth at most', async (row) => {
  const task = await createTask();
  const lookUp = GLOBAL_KEYS.taskWorkspace(task.id);
  await createLookUpRefresher(stores.redis)(task.id, row.ttlMs);
  const left = await stores.redis.pttl(lookUp);
  expect(left).toBeGreaterThan(row.ttlMs);
  expect(left).toBeLessThanOrEqual((row.ttlMs * 17) / 16);
});

test('a decision leaves the look-up of a Task as long as a transition made it', async () => {
  const task = await createTask();
  const lookUp = GLOBAL_KEYS.taskWorkspace(task.id);
  const asked = commitOf(task, { factKey: 'checkpoint:c1', change: { status: 'requires_action', sequence: 1 } });
  expect(await stores.transitions.commit(asked)).toMatchObject({ kind: 'accepted' });
  const before = await stores.redis.pexpiretime(lookUp);
  const decision = { approvalId: 'pay', actionVersion: 1, decision: 'yes', decidedAt: Date.now() };
  const decided: Task = { ...task, ...asked.change, revision: asked.newRevision };
  expect(await stores.tasks.resolve(decided, decision, 'running')).toBe('resolved');
  expect(await stores.redis.pexpiretime(lookUp)).toBe(before);
});

describe('a workspace that is full', () => {
  beforeEach(async () => {
    await stores.redis.flushall();
  });
  const limited = (pending: number, bytes = 0, findRefusal?: FindRefusal) => {
    const { redis, keyspace } = stores;
    const deps = { redis, keyspace, limits: { pending, bytes }, ...(findRefusal && { findRefusal }), now: Date.now };
    const [taskRetention, deliveryRetention] = [createTaskRetention(60_000), createDeliveryRetention(60_000)];
    return {
      tasks: createTaskStore({ ...deps, retention: taskRetention }),
      transitions: createTransitionStore({ ...deps, taskRetention, deliveryRetention }),
      testEvents: createTestEventStore({ ...deps, retention: deliveryRetention }),
      log: createDeliveryLog(deps),
    };
  };
  const reportTo = (task: Task, ...endpoints: string[]) => commitOf(task, { emission: emissionTo(...endpoints) });

  test('is refused item by item, keeps what it has, and nobody else notices', async () => {
    const [full, other] = [newWorkspaceId(), newWorkspaceId()];
    const tasks = await Promise.all([full, full, full, other, full].map((workspaceId) => createTask(workspaceId)));
    const { tasks: taskStore, transitions } = limited(3);
    const commits = tasks.map((task, index) => reportTo(task, 'wh_a', ...(index === 1 ? ['wh_b', 'wh_c'] : [])));
    const replies = await Promise.all(commits.map((commit) => transitions.commit(commit)));
    // The second has three deliveries, for which there is no room beside the first.
    expect(replies.map(({ kind }) => kind)).toEqual(['accepted', 'no_room', 'accepted', 'accepted', 'accepted']);
    const fourth = await createTask(full);
    await expect(taskStore.create(buildTask(full))).rejects.toMatchObject({ code: 'workspace_full' });
    expect(await transitions.commit(reportTo(fourth, 'wh_a'))).toMatchObject({ error: { code: 'workspace_full' } });
    // A fact that emits nothing adds no delivery.
    expect((await transitions.commit(commitOf(fourth))).kind).toBe('accepted');
    const { delivery } = await stores.deliveries
      .load(deliveryIdOf(commits[0]?.emission?.transitionId ?? '', 'wh_a'))
      .then((loaded) => (loaded.kind === 'loaded' ? loaded : Promise.reject(new Error('it is kept'))));
    await stores.deliveries.cancel(delivery.id, 'receiver_removed', Date.now());
    const fifth = await createTask(full);
    expect((await transitions.commit(reportTo(fifth, 'wh_a'))).kind).toBe('accepted');
    // A limit below what is pending refuses more and keeps the rest.
    const lower = limited(1).transitions;
    expect((await lower.commit(reportTo(await createTask(full), 'wh_a'))).kind).toBe('no_room');
    expect(await findAccountFaults(stores.redis, stores.keys)).toEqual([]);
  });

  test('gets neither a test event nor one more attempt', async () => {
    const receiver = buildReceiver(newWorkspaceId());
    const { workspaceId, id: endpointId } = receiver;
    const report = reportTo(await createTask(workspaceId), endpointId);
    const { testEvents, log, transitions } = limited(1);
    await transitions.commit(report);
    const ended = deliveryIdOf(report.emission?.transitionId ?? '', endpointId);
    await stores.deliveries.cancel(ended, 'receiver_removed', Date.now());
    expect((await transitions.commit(reportTo(await createTask(workspaceId), endpointId))).kind).toBe('accepted');
    await stores.receivers.register(receiver, 'encrypted');
    const transitionId = newTestTransitionId();
    const deliveryId = deliveryIdOf(transitionId, endpointId);
    const event = { transitionId, deliveryId, endpointId, workspaceId, body: '{}', createdAt: Date.now() };
    const full = { code: 'workspace_full' };
    await expect(testEvents.create(event)).rejects.toMatchObject(full);
    await expect(log.redeliver(workspaceId, ended, Date.now())).rejects.toMatchObject(full);
  });

  test('of bytes has room again when something has left by itself', async () => {
    const workspaceId = newWorkspaceId();
    const { tasks, transitions } = limited(0, 5_000);
    const create = () => tasks.create(buildTask(workspaceId, { input: { text: 'a'.repeat(2_000) } }));
    await create();
    await expect(create()).rejects.toMatchObject({ code: 'workspace_full' });
    const task = await createTask(workspaceId);
    const commit = commitOf(task, { change: { sequence: 1, result: 'b'.repeat(2_000) } });
    expect((await transitions.commit(commit)).kind).toBe('no_room');
    const message = { id: 'msg_1', text: 'c'.repeat(2_000), createdAt: Date.now() };
    await expect(tasks.addMessage(workspaceId, task.id, message)).rejects.toMatchObject({ code: 'workspace_full' });
    // As when a minute has passed.
    const leaving = stores.keys.workspaceLeaving(workspaceId);
    const [first] = Object.entries(await stores.redis.hgetall(leaving)).sort(([a], [b]) => Number(a) - Number(b));
    await stores.redis
      .multi()
      .hdel(leaving, first?.[0] ?? '')
      .hset(leaving, '1', first?.[1] ?? '')
      .exec();
    await create();
  });

  test('of those that hold the most is refused while Redis is nearly full', async () => {
    const [large, small] = [newWorkspaceId(), newWorkspaceId()];
    const { transitions } = limited(0, 0, (id) => (id === large ? new WorkspaceFullError('memory') : undefined));
    const tasks = await Promise.all([large, small].map((workspaceId) => createTask(workspaceId)));
    const replies = await Promise.all(tasks.map((task) => transitions.commit(commitOf(task))));
    expect(replies.map(({ kind }) => kind)).toEqual(['no_room', 'accepted']);
  });
});

test('a Task is read without what of its result nobody says: reports on many closed Tasks cost little', async () => {
  const RESULT_BYTES = 200_000;
  const TASKS = 40;
  const tasks = await Promise.all(Array.from({ length: TASKS }, () => createTask()));
  for (const task of tasks) {
    const change = { status: 'done', sequence: 1, result: 'x'.repeat(RESULT_BYTES), usage: 7 } as const;
    expect(await stores.transitions.commit(commitOf(task, { change, factKey: 'done' }))).toMatchObject({
      kind: 'accepted',
    });
  }
  const sent = async () => {
    const all = await Promise.all(mastersOf(stores.redis).map((master) => master.info('stats')));
    return all.reduce((sum, text) => sum + Number(/total_net_output_bytes:(\d+)/.exec(text)?.[1]), 0);
  };
  const before = await sent();
  const find = (task: Task, said: readonly ResultField[]) =>
    stores.transitions.findTask(task.workspaceId, task.id, ['done'], said);
  const found = await Promise.all(tasks.map((task) => find(task, ['usage'])));
  expect((await sent()) - before).toBeLessThan(RESULT_BYTES);
  for (const each of found) {
    expect(each?.task).toMatchObject({ status: 'done', usage: 7 });
    expect(each?.task).not.toHaveProperty('result');
  }
  const [first] = tasks;
  expect((first && (await find(first, ['result'])))?.task.result).toHaveLength(RESULT_BYTES);
});
