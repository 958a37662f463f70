import { createBacklogView, createFailedView, createLineView } from '@herald/infra';
import { range, RETENTION_MS, startEngine, type Engine } from './start-engine.ts';

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
  test('are listed newest first, page by page, and found by id', async () => {
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
    const pages = [await view.list(START + 30, 0, 2), await view.list(START + 30, 3, 5)];
    expect(pages.map((page) => page.map(({ delivery }) => delivery.id))).toEqual([ids.slice(0, 3), ids.slice(3)]);
    await expect(view.find(ids[4] ?? '')).resolves.toMatchObject({ delivery: { status: 'failed' }, attempts: 1 });
    await expect(view.find(delivered)).resolves.toBeUndefined();
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
    const idsOf = async () => (await view.list(START + 30, 0, 9)).map(({ delivery }) => delivery.id);
    await expect(idsOf()).resolves.toEqual([replayed]);
    const replay = { id: 'rpl_a', endpointId: receiver.id, since: START, until: START + 5, createdAt: START + 30 };
    await engine.replays.create(receiver.workspaceId, { ...replay, statuses: ['failed'] });
    await engine.worker.steps.step(replay.id, START + 31);
    await expect(idsOf()).resolves.toEqual([]);
    await expect(view.count(START + 31)).resolves.toBe(0);
  });

  test('are kept in a list of bounded length, that leaves with the last of them', async () => {
    const { redis, keys } = engine;
    const receiver = await engine.register();
    const old = range(LIMIT + 5).flatMap((index) => [START + index, `dlv_old${index}`]);
    await redis.zadd(keys.failed, ...old);
    const id = await engine.acceptOne(receiver, START + LIMIT * 2);
    await engine.settle(id, START + LIMIT * 2, 'failed');
    await expect(redis.zcard(keys.failed)).resolves.toBe(LIMIT);
    await expect(redis.zrange(keys.failed, -1, '-1')).resolves.toEqual([id]);
    expect(await redis.pttl(keys.failed)).toBeGreaterThan(RETENTION_MS - 60_000);
    // Of those whose records left, nothing is told.
    const listed = await failedView(engine).list(START + LIMIT * 2, 0, LIMIT);
    expect(listed.map(({ delivery }) => delivery.id)).toEqual([id]);
    await expect(failedView(engine).count(START + LIMIT * 2 + RETENTION_MS + 1)).resolves.toBe(0);
  });
});

test('a backlog tells since when its first has waited, live or replayed, and nothing of what is in work', async () => {
  const { redis, keys, worker, stores } = engine;
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, START);
  const view = createBacklogView({ redis, keyspace: stores.keyspace });
  await worker.backlog.put(id, receiver.destination, START + 5, false);
  const waiting = await view.find(receiver.destination, START + 60_000);
  expect(waiting).toMatchObject({
    count: 1,
    isOpen: false,
    waitsSince: START + 5,
    next: [{ host: 'hooks.example.com' }],
  });
  await worker.backlog.take(receiver.destination, START + 60_000, START + 90_000, 1);
  await expect(view.list(START + 60_000)).resolves.toEqual([expect.not.objectContaining({ waitsSince: START + 5 })]);
  await redis.zadd(keys.backlog(receiver.destination), START + 7, id);
  await expect(view.list(START + 60_000)).resolves.toMatchObject([{ waitsSince: START + 7 }]);
});

test('who looks at a queue doesn’t write to it, and a paused one has nothing due', async () => {
  const { redis, keys, queue } = engine;
  // BullMQ has a clock of its own.
  const start = Date.now();
  const view = createLineView({ redis, keys, name: 'deliveries' });
  await view.count();
  const receiver = await engine.register();
  const [now, later] = [await engine.acceptOne(receiver, start), await engine.acceptOne(receiver, start)];
  const before = await redis.hgetall(`${keys.bullPrefix}:deliveries:meta`);
  await queue.add(
    [
      { id: now, event: 'task.done' },
      { id: later, event: 'task.done', dueAt: start + 60_000 },
    ],
    start,
  );
  const [delayed] = await view.list(['delayed'], 0, 9);
  expect(delayed).toMatchObject({ id: later, delivery: { host: 'hooks.example.com', attempts: 0 } });
  await expect(view.count()).resolves.toEqual({ active: 0, waiting: 1, delayed: 1 });
  await expect(view.find(now)).resolves.toMatchObject({ state: 'waiting', event: 'task.done' });
  await expect(redis.hgetall(`${keys.bullPrefix}:deliveries:meta`)).resolves.toEqual(before);
  await expect(queue.countDue(start)).resolves.toBe(1);
  await view.pause();
  await expect(Promise.all([view.isPaused(), queue.countDue(start)])).resolves.toEqual([true, 0]);
  await view.resume();
  await expect(Promise.all([view.isPaused(), queue.countDue(start)])).resolves.toEqual([false, 1]);
  await view.close();
});
