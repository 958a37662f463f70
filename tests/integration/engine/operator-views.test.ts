import { deliveryIdOf, newTestTransitionId } from '@herald/core';
import { createFailedView, createGroupView } from '@herald/store/operators/describe-delivery';
import { createSearch } from '@herald/store/operators/search';
import { range, RETENTION_MS, startEngine, type Engine, type Receiver } from './start-engine.ts';

const START = 1_900_000_000_000;
const LIMIT = 1_000;

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

function failedView({ redis, stores: { keyspace } }: Engine) {
  return createFailedView({ redis, keyspace, keepMs: RETENTION_MS });
}

describe('failed deliveries', () => {
  test('are listed newest first, page by page', async () => {
    const receiver = await engine.register();
    const ids: string[] = [];
    for (const index of range(5)) {
      const id = await engine.acceptOne(receiver, START + index);
      await engine.settle(id, START + 10 + index, 'failed');
      ids.unshift(id);
    }
    const delivered = await engine.acceptOne(receiver, START);
    await engine.settle(delivered, START + 20, 'delivered');
    const view = failedView(engine);
    await expect(view.count(START + 30)).resolves.toBe(5);
    const first = await view.list(START + 30, 3);
    const pages = [first, await view.list(START + 30, 3, first.next)];
    expect(pages.map((page) => page.deliveries.map(({ delivery }) => delivery.id))).toEqual([
      ids.slice(0, 3),
      ids.slice(3),
    ]);
    expect(pages.map(({ next }) => next?.id)).toEqual([ids[2], undefined]);
    expect(first.deliveries[0]).toMatchObject({
      delivery: { status: 'failed' },
      attempts: 1,
      group: receiver.group,
    });
    await expect(view.listIds(START + 30, 1, 3)).resolves.toEqual(ids.slice(1, 4));
  });

  test.each([
    ['at different times', (index: number) => START + 10 + index],
    ['in one millisecond', () => START + 10],
  ])('are all listed page by page while those of earlier pages leave (%s)', async (_when, failedAt) => {
    const receiver = await engine.register();
    const ids: string[] = [];
    for (const index of range(7)) {
      ids.push(await engine.acceptOne(receiver, START + index));
      await engine.settle(ids[index] ?? '', failedAt(index), 'failed');
    }
    const view = failedView(engine);
    const seen: string[] = [];
    let page = await view.list(START + 30, 2);
    for (let pages = 1; ; pages++) {
      seen.push(...page.deliveries.map(({ delivery }) => delivery.id));
      if (!page.next) break;
      for (const { delivery } of page.deliveries) await engine.redis.zrem(engine.keys.failed, delivery.id);
      // Whatever fails meanwhile is newer.
      await engine.settle(await engine.acceptOne(receiver, START + 20), START + 20 + pages, 'failed');
      page = await view.list(START + 30, 2, page.next);
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('leave the list when a redelivery arrives, or a replay sets them pending', async () => {
    const receiver = await engine.register();
    const [redelivered, replayed] = [
      await engine.acceptOne(receiver, START),
      await engine.acceptOne(receiver, START + 1),
    ];
    for (const id of [redelivered, replayed]) await engine.settle(id, START + 10, 'failed');
    await engine.log.redeliver(receiver.workspaceId, redelivered, START + 20);
    await engine.settle(redelivered, START + 21, 'delivered');
    const view = failedView(engine);
    const idsOf = async () => (await view.list(START + 30, 10)).deliveries.map(({ delivery }) => delivery.id);
    await expect(idsOf()).resolves.toEqual([replayed]);
    const replay = { id: 'rpl_a', endpointId: receiver.id, since: START, until: START + 5, createdAt: START + 30 };
    await engine.replays.create(receiver.workspaceId, { ...replay, statuses: ['failed'] });
    await engine.worker.steps.step(replay.id, START + 31);
    await expect(idsOf()).resolves.toEqual([]);
    await expect(view.count(START + 31)).resolves.toBe(0);
  });

  test('are without test events, unless these are asked for', async () => {
    const { redis, stores, worker } = engine;
    const { workspaceId, id: endpointId } = await engine.register();
    const transitionId = newTestTransitionId();
    const id = deliveryIdOf(transitionId, endpointId);
    await stores.testEvents.create({
      transitionId,
      deliveryId: id,
      endpointId,
      workspaceId,
      body: '{}',
      createdAt: START,
    });
    await worker.deliveries.giveUp(id, START + 1);
    const view = failedView(engine);
    await expect(Promise.all([view.count(START + 2), view.list(START + 2, 10)])).resolves.toEqual([
      0,
      { deliveries: [] },
    ]);
    const withTests = createFailedView({ redis, keyspace: stores.keyspace, keepMs: RETENTION_MS, withTests: true });
    await expect(withTests.list(START + 2, 10)).resolves.toMatchObject({
      deliveries: [{ delivery: { id, event: 'webhook.test', status: 'failed' } }],
    });
  });

  test('are kept in a list of bounded length, that leaves with the last of them', async () => {
    const { redis, keys } = engine;
    const receiver = await engine.register();
    const old = range(LIMIT + 5).flatMap((index) => [START + index, `dlv_old${index}`]);
    await redis.zadd(keys.failed, ...old);
    const id = await engine.acceptOne(receiver, START + LIMIT * 2);
    await engine.settle(id, START + LIMIT * 2, 'failed');
    // What is gone makes room first.
    await expect(redis.zrange(keys.failed, 0, '-1')).resolves.toEqual([id]);
    expect(await redis.pttl(keys.failed)).toBeGreaterThan(RETENTION_MS - 60_000);
    await expect(failedView(engine).count(START + LIMIT * 2 + RETENTION_MS + 1)).resolves.toBe(0);
  });

  test.each([1, 3])('of a quiet workspace stay in the list while others fail very often (%i)', async (count) => {
    const { redis, keys } = engine;
    const failOneOf = async (receiver: Receiver, at: number) => {
      const id = await engine.acceptOne(receiver, at);
      await engine.settle(id, at, 'failed');
      return id;
    };
    const quiet = await engine.register();
    const ofQuiet: string[] = [];
    for (const index of range(3)) ofQuiet.push(await failOneOf(quiet, START + index));
    const busy = await Promise.all(range(count).map(() => engine.register()));
    const firsts: string[] = [];
    // Each has failed once, and as often again as fills the list.
    for (const [which, receiver] of busy.entries()) {
      const first = await failOneOf(receiver, START + 100);
      firsts.push(first);
      const copies = range(Math.ceil(LIMIT / count)).map((index) => `${first}-${index}`);
      for (const id of copies) await redis.copy(keys.delivery(first), keys.delivery(id));
      await redis.zadd(keys.failed, ...copies.flatMap((id, index) => [START + 200 + index * count + which, id]));
    }
    const newest = await failOneOf(quiet, START + 100_000);
    const left = await redis.zrange(keys.failed, 0, '-1', 'REV');
    expect(left[0]).toBe(newest);
    expect(left.filter((id) => !firsts.some((first) => id.startsWith(first)))).toEqual([
      newest,
      ...ofQuiet.toReversed(),
    ]);
    expect(left.length).toBeGreaterThanOrEqual(0.9 * LIMIT);
    expect(left.length).toBeLessThanOrEqual(LIMIT);
    // The others have as many each, their newest.
    const share = Math.floor((left.length - ofQuiet.length - 1) / count);
    for (const first of firsts) {
      const own = left.filter((id) => id.startsWith(first));
      expect(own.length).toBeGreaterThanOrEqual(share);
      const last = Math.ceil(LIMIT / count) - 1;
      expect(own).toEqual(own.map((_, index) => `${first}-${last - index}`));
    }
  });
});

test('a group tells what is due and since when, until when nothing goes there, and nothing of what is in work', async () => {
  const { stores, worker, redis } = engine;
  const receiver = await engine.register();
  let now = START;
  const view = createGroupView({ redis, keyspace: stores.keyspace, now: () => now });
  const [first, second] = [await engine.acceptOne(receiver, START), await engine.acceptOne(receiver, START + 5)];
  now = START + 60_000;
  await expect(view.list()).resolves.toMatchObject([
    {
      group: receiver.group,
      waiting: 2,
      due: 2,
      inWork: 0,
      isOpen: false,
      first: { id: first, dueAt: START },
      delivery: { delivery: { id: first }, host: 'hooks.example.com' },
    },
  ]);
  await worker.reserve(now, 1);
  await expect(view.list()).resolves.toMatchObject([
    { waiting: 1, inWork: 1, first: { dueAt: START + 5 }, delivery: { delivery: { id: second } } },
  ]);
  await engine.record(first, { now, holdUntil: now + 9_000 });
  await expect(view.list()).resolves.toMatchObject([{ waiting: 1, inWork: 0, heldUntil: now + 9_000 }]);
});

test('a group tells its limit while that is below the configured one', async () => {
  const { stores, redis } = engine;
  const receiver = await engine.register();
  const view = createGroupView({ redis, keyspace: stores.keyspace, now: () => START });
  const id = await engine.acceptOne(receiver, START);
  expect((await view.list())[0]).not.toHaveProperty('limit');
  await engine.record(id, { now: START, verdict: { kind: 'retry', at: START + 5_000 }, answered: false });
  await expect(view.list()).resolves.toMatchObject([{ waiting: 1, limit: 5 }]);
});

describe('the search', () => {
  const searchFor = (hostLookMs?: number) => {
    const { redis, stores } = engine;
    return createSearch({ redis, keyspace: stores.keyspace, ...(hostLookMs !== undefined && { hostLookMs }) });
  };

  test('finds the workspaces that have a host, and says that those are all', async () => {
    const receiver = await engine.register({ url: 'https://hooks.acme.example/in' });
    await engine.register({ url: 'https://elsewhere.example/acme' });
    const { workspaceId } = receiver;
    const host = 'hooks.acme.example';
    expect(await searchFor().find('ACME')).toEqual({
      found: [{ kind: 'host', id: host, workspaceId, label: `${host}, ${workspaceId}` }],
      isComplete: true,
    });
    expect(await searchFor().find('nowhere')).toEqual({ found: [], isComplete: true });
  });

  test('finds workspaces by a part of their name, also those that have only Tasks, the whole name first', async () => {
    const [first, second, third] = ['ws_Globex', 'ws_globex_two', 'ws_other_globex'];
    await engine.register({ workspaceId: second, url: 'https://a.example/in' });
    await (await engine.createTask(third)).accept([], START);
    await engine.register({ workspaceId: first, url: 'https://globex.example/in' });
    const idsOf = async (text: string) => (await searchFor().find(text)).found.map(({ kind, id }) => `${kind} ${id}`);
    const workspaces = [first, second, third].map((id) => `workspace ${id}`);
    expect((await idsOf('GLOBEX')).sort()).toEqual(['host globex.example', ...workspaces].sort());
    expect((await idsOf(second))[0]).toBe(`workspace ${second}`);
    expect(await idsOf('ws_globex_t')).toEqual([`workspace ${second}`]);
  });

  test('finds what an id names, and knows that there is no other', async () => {
    const { id, workspaceId } = await engine.register();
    await expect(searchFor().find(id)).resolves.toMatchObject({
      found: [{ kind: 'receiver', id, workspaceId }],
      isComplete: true,
    });
  });

  test('finds the Task of a transition, whose id is in every body', async () => {
    const receiver = await engine.register();
    const task = await engine.createTask(receiver.workspaceId);
    const [delivery = ''] = await task.accept([receiver], START);
    const { transitionId } = (await engine.load(delivery)).delivery;
    expect(await searchFor().find(transitionId)).toEqual({
      found: [{ kind: 'task', id: task.id, workspaceId: receiver.workspaceId, label: task.id }],
      isComplete: true,
    });
    expect(await searchFor().find(`trn_${'a'.repeat(32)}`)).toEqual({ found: [], isComplete: true });
  });

  test('says that there may be more when its time is up, and when it has found enough', async () => {
    await engine.register({ url: 'https://hooks.acme.example/in' });
    expect(await searchFor(0).find('nowhere')).toEqual({ found: [], isComplete: false });
    await Promise.all(range(25).map((index) => engine.register({ url: `https://r${index}.many.example/` })));
    const many = await searchFor().find('many.example');
    expect(many.found).toHaveLength(20);
    expect(many.isComplete).toBe(false);
  });
});
