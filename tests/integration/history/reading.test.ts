import { type DeliveryId, HistoryUnavailableError, type ListPlace } from '@herald/core';
import { toIdBytes } from '@herald/history/reading/delivery-row';
import { createPartitions, dayOf } from '@herald/history/partitions/partitions';
import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import { createHistoryReader } from '@herald/history/reading/create-history-reader';
import { createDeliveryLog } from '@herald/store/lists/delivery-log';
import { describeDelivery } from '@herald/store/operators/describe-delivery';
import { createOwnerLookUp, createSearch } from '@herald/store/operators/search';
import { createHistoryMark } from '@herald/store/lists/history-mark';
import { createReplaySteps } from '@herald/store/bulk/replay-steps';
import { patient, waitFor } from '@herald/test-kit';
import { newWorkspaceId } from '../../support/start-stores.ts';
import { range, type Receiver } from '../engine/start-engine.ts';
import { startHistoryEngine, type HistoryEngine } from './start-history-engine.ts';

let engine: HistoryEngine;
beforeAll(async () => {
  engine = await startHistoryEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

const START = Date.now() - 3_600_000;
const ANSWER = { durationMs: 3, status: 200, answer: 'canary', headers: { location: 'canary' } };

/** So many settled deliveries of one Task to a receiver, the oldest first. */
async function settleMany(count: number, times = range(count)) {
  const receiver = await engine.register({ workspaceId: newWorkspaceId() });
  const task = await engine.createTask(receiver.workspaceId);
  const ids: DeliveryId[] = [];
  for (const time of times) ids.push(...(await task.accept([receiver], START + time)));
  for (const [index, id] of ids.entries()) {
    await engine.record(id, { now: START + 1_000, attempt: { at: START + 1_000 + index, ...ANSWER } });
  }
  return { receiver, task, ids, workspaceId: receiver.workspaceId };
}

/** All pages of a receiver's list, or how the last one failed. */
async function walk(
  { workspaceId, id }: Receiver,
  limit: number,
  filter = {},
  log = engine.log,
): Promise<DeliveryId[]> {
  const found: DeliveryId[] = [];
  let after: ListPlace | undefined;
  do {
    const page = await log.listByEndpoint(workspaceId, id, filter, limit, after);
    found.push(...page.deliveries.map((delivery) => delivery.id));
    after = page.next;
  } while (after);
  return found;
}

const newestFirst = (ids: readonly DeliveryId[]) => [...ids].reverse();

test.each([1, 3, 7, 100])('a list goes on in history, with pages of %i', async (limit) => {
  const { receiver, ids, task } = await settleMany(7);
  await engine.move();
  const present = await task.accept([receiver], START + 50);
  expect(await walk(receiver, limit)).toEqual(newestFirst([...ids, ...present]));
});

test('the deliveries of a transition are found in Redis, and in the history when they have left', async () => {
  const { ids, workspaceId } = await settleMany(2);
  const [id = ''] = ids;
  const { transitionId } = (await engine.load(id)).delivery;
  const listed = async (of = workspaceId, more = {}) =>
    (await engine.log.listByWorkspace(of, { transitionId, ...more }, 50)).deliveries.map((each) => each.id);
  for (const place of ['Redis', 'history']) {
    expect({ place, ids: await listed() }).toEqual({ place, ids: [id] });
    expect(await listed(workspaceId, { status: 'failed' })).toEqual([]);
    expect(await listed(newWorkspaceId())).toEqual([]);
    await engine.move();
  }
});

test('many of one millisecond come each once, also where the page ends between them', async () => {
  const { receiver, ids } = await settleMany(
    9,
    range(9).map(() => 5),
  );
  await engine.move();
  const sorted = [...ids].sort().reverse();
  for (const limit of [1, 2, 4, 9]) expect(await walk(receiver, limit)).toEqual(sorted);
});

test('filters hold in history too, and a filter that matches nothing comes to an end', async () => {
  const { receiver, ids } = await settleMany(6);
  await engine.move();
  expect(await walk(receiver, 2, { since: START + 2, until: START + 5 })).toEqual(newestFirst(ids.slice(2, 5)));
  expect(await walk(receiver, 2, { status: 'delivered', event: 'task.check_in' })).toEqual(newestFirst(ids));
  expect(await walk(receiver, 2, { status: 'failed' })).toEqual([]);
  expect(await walk(receiver, 2, { event: 'task.done' })).toEqual([]);
  expect(await walk(receiver, 2, { httpStatus: '2xx' })).toEqual(newestFirst(ids));
  expect(await walk(receiver, 2, { error: 'connection_reset' })).toEqual([]);
});

test('what lies in days far apart is read in stretches of days: each once, in order, by its id, and by its Task', async () => {
  const days = [80, 44, 41, 41, 9, 2, 0];
  const { receiver, ids, task, workspaceId } = await settleMany(
    days.length,
    days.map((day, index) => index - day * 86_400_000),
  );
  await engine.move();
  for (const limit of [1, 3, 100]) {
    expect(await walk(receiver, limit)).toEqual(newestFirst(ids));
    expect(await walk(receiver, limit, { status: 'delivered' })).toEqual(newestFirst(ids));
  }
  expect(await walk(receiver, 2, { status: 'failed' })).toEqual([]);
  const range = { workspaceId, endpointId: receiver.id, since: 0, until: START + 1_000 };
  expect((await engine.reader.listOldestFirst(range, 5)).map(({ delivery }) => delivery.id)).toEqual(ids.slice(0, 5));
  await expect(engine.reader.count(range)).resolves.toBe(ids.length);
  for (const id of ids) await expect(engine.reader.find(workspaceId, id)).resolves.toMatchObject({ delivery: { id } });
  await expect(engine.reader.findOwner(ids[0] ?? '')).resolves.toBe(workspaceId);
  await expect(engine.reader.findOwnerOfTask(task.id)).resolves.toBe(workspaceId);
  const sequences = await engine.reader.listSequences(workspaceId, task.id, 3, 7);
  expect(sequences.map(({ sequence }) => sequence)).toEqual([6, 5, 4]);
  const found = await engine.reader.listOfTransitions(
    workspaceId,
    task.id,
    sequences.map(({ transitionId }) => transitionId),
  );
  expect(found.map(({ delivery }) => delivery.id).sort()).toEqual(ids.slice(3, 6).sort());
});

test('a page that has looked for long enough says how far it is, and the next one goes on there', async () => {
  const { workspaceId, ids } = await settleMany(1, [-100 * 86_400_000]);
  await settleMany(1);
  await engine.move();
  const deps = { pool: engine.history.pool, limitMs: 5_000, onUnavailable: () => undefined };
  const hasty = createHistoryReader({ ...deps, lookMs: 0 });
  const found: DeliveryId[] = [];
  let pages = 0;
  for (let after: ListPlace | undefined, isOver = false; !isOver; pages++) {
    const page = await hasty.list({ workspaceId, limit: 10, after });
    found.push(...page.found.map(({ delivery }) => delivery.id));
    after = page.next;
    isOver = after === undefined;
  }
  expect(pages).toBeGreaterThan(3);
  expect(found).toEqual(ids);
});

test('what failed is found by an index, which days that are older than it get one by one, beside readers', async () => {
  const { pool, partitions } = engine.history;
  const receiver = await engine.register({ workspaceId: newWorkspaceId() });
  const { workspaceId } = receiver;
  const failed: DeliveryId[] = [];
  for (const day of [0, 3, 40]) {
    await engine.settle(await engine.acceptOne(receiver, START - day * 86_400_000 - 1), START + 1_000, 'delivered');
    const id = await engine.acceptOne(receiver, START - day * 86_400_000);
    await engine.settle(id, START + 1_000, 'failed');
    failed.push(id);
  }
  await engine.move();
  const statements: string[] = [];
  const watched = {
    connect: async () =>
      new Proxy(await pool.connect(), {
        get: (client, name) => {
          const value: unknown = Reflect.get(client, name, client);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]): unknown => {
            if (name === 'query') statements.push(String(given[0]));
            return Reflect.apply(value, client, given);
          };
        },
      }),
  };
  const reader = createHistoryReader({ pool: watched, limitMs: patient(5_000), onUnavailable: () => undefined });
  /** Whether it looked at nothing else. Everything is found in any case. */
  const findsByIndex = async () => {
    statements.length = 0;
    const of = { workspaceId, status: 'failed', limit: 10 } as const;
    for (const each of [of, { ...of, endpointId: receiver.id }]) {
      expect((await reader.list(each)).found.map(({ delivery }) => delivery.id)).toEqual(failed);
    }
    for (const each of [
      { ...of, event: 'task.canceled' as const },
      { ...of, status: 'canceled' as const },
    ]) {
      await expect(reader.list(each)).resolves.toEqual({ found: [] });
    }
    return statements.some((text) => text.includes("status <> 'delivered'"));
  };
  await expect(findsByIndex()).resolves.toBe(true);

  // A history of an earlier release.
  await pool.query('DROP INDEX herald.deliveries_undelivered');
  await pool.query("DELETE FROM herald.migrations WHERE name > '0004'");
  await expect(findsByIndex()).resolves.toBe(false);
  const other = await pool.connect();
  await other.query('BEGIN; SELECT count(*) FROM herald.deliveries');
  await expect(prepareHistory(pool, 'write')).resolves.toMatchObject({
    ran: ['0004_index-undelivered', '0005_keep-to-owner'],
  });
  await expect(findsByIndex()).resolves.toBe(false);
  // A writer delays it, and nothing is left half done.
  await other.query('UPDATE herald.deliveries SET tries = tries');
  const impatient = createPartitions(pool, { readersLimitMs: 20 });
  await expect(impatient.indexDays()).rejects.toThrow('lock timeout');
  await other.query('COMMIT; BEGIN; SELECT count(*) FROM herald.deliveries');
  while ((await partitions.indexDays()) > 0);
  await expect(findsByIndex()).resolves.toBe(true);
  await other.query('COMMIT');
  other.release();
  // Days that are made now have it.
  await partitions.ensure([dayOf(START) - 60]);
  await expect(partitions.indexDays()).resolves.toBe(0);
  await expect(findsByIndex()).resolves.toBe(true);
});

test('nobody reads what is of another workspace', async () => {
  const { receiver, ids, task } = await settleMany(1);
  await engine.move();
  const other = newWorkspaceId();
  expect(await engine.log.find(other, ids[0] ?? '')).toBeUndefined();
  expect(await engine.log.listByTask(other, task.id, 10)).toBeUndefined();
  expect((await engine.log.listByWorkspace(other, { receiver: receiver.id }, 10)).deliveries).toEqual([]);
  expect((await engine.log.listByWorkspace(other, { task: task.id }, 10)).deliveries).toEqual([]);
  expect(await engine.log.redeliver(other, ids[0] ?? '', START)).toEqual({ kind: 'missing' });
  expect(await engine.eraser.erase(other, task.id, START)).toEqual({ kind: 'missing' });
});

/** What a reader gets of PostgreSQL, as text. */
function readWith() {
  const rows: unknown[] = [];
  const connect = async () => {
    const client = await engine.history.pool.connect();
    const query = async (text: string, values?: unknown[]) => {
      const reply = await client.query(text, values);
      rows.push(reply.rows);
      return reply;
    };
    return { query, release: client.release.bind(client) };
  };
  const pool = { connect: connect as unknown as (typeof engine.history.pool)['connect'] };
  const reader = createHistoryReader({ pool, limitMs: 5_000, onUnavailable: () => undefined });
  return { ...reader, log: createDeliveryLog({ ...engine.stores, history: reader }), got: () => JSON.stringify(rows) };
}

test('lists read the last attempt of each alone; a single one, and what a replay brings back, has all', async () => {
  const { receiver, ids, task, workspaceId } = await settleMany(2);
  const [id = ''] = ids;
  const answers = ['once "\\u0000" [', 'twice ]', 'last, } [é\n'];
  for (const [index, answer] of answers.entries()) {
    await engine.log.redeliver(workspaceId, id, START + 2_000 + index);
    await engine.record(id, { now: START + 3_000 + index, attempt: { at: START + index, ...ANSWER, answer } });
  }
  await engine.move();
  const last = { status: 200, answer: answers.at(-1) };
  const before = readWith();
  const pages = [
    await before.log.listByEndpoint(workspaceId, receiver.id, {}, 10),
    await before.log.listByEndpoint(workspaceId, receiver.id, { status: 'delivered' }, 10),
    await before.log.listByWorkspace(workspaceId, { task: task.id }, 10),
  ];
  for (const { deliveries } of pages) {
    expect(deliveries).toHaveLength(2);
    expect(deliveries.find((each) => each.id === id)?.lastAttempt).toMatchObject(last);
  }
  const sequences = await engine.reader.listSequences(workspaceId, task.id, 10);
  const listed = await before.listOfTransitions(
    workspaceId,
    task.id,
    sequences.map(({ transitionId }) => transitionId),
  );
  expect(listed.map((each) => JSON.parse(each.last ?? '') as object)).toContainEqual(expect.objectContaining(last));
  expect(before.got()).toContain('last, }');
  for (const former of ['once', 'twice']) expect(before.got()).not.toContain(former);

  expect((await engine.log.find(workspaceId, id))?.attempts).toHaveLength(4);
  const range = { workspaceId, endpointId: receiver.id, since: 0, until: START + 1_000 };
  const all = await engine.reader.listOldestFirst(range, 5);
  expect(all.map(({ attempts }) => attempts.length)).toEqual([4, 1]);
});

test('of one without an attempt, or whose attempts a later release wrote in another form, a list shows none', async () => {
  const { receiver, ids, workspaceId } = await settleMany(2);
  await engine.move();
  for (const [index, attempts] of ['[]', '{"version":2}'].entries()) {
    const values = [attempts, toIdBytes(ids[index] ?? '')];
    await engine.history.pool.query('UPDATE herald.deliveries SET attempts = $1 WHERE id = $2', values);
  }
  const { deliveries } = await engine.log.listByEndpoint(workspaceId, receiver.id, {}, 10);
  expect(deliveries.map(({ id, lastAttempt }) => [id, lastAttempt])).toEqual(
    newestFirst(ids).map((id) => [id, undefined]),
  );
});

test('a cursor that names no delivery is answered', async () => {
  const { receiver, workspaceId } = await settleMany(1);
  await engine.move();
  const page = await engine.log.listByEndpoint(workspaceId, receiver.id, {}, 5, { at: START, id: 'nonsense' });
  expect(page.deliveries).toEqual([]);
});

test('a redelivery from history has the same bytes and goes on in the same log', async () => {
  const { ids, workspaceId } = await settleMany(1);
  const [id = ''] = ids;
  const before = await engine.load(id);
  const content = await engine.redis.hgetall(engine.keys.transition(before.delivery.transitionId));
  await engine.move();
  expect(await engine.redis.exists(engine.keys.delivery(id))).toBe(0);
  expect(await engine.log.redeliver(workspaceId, id, START + 2_000)).toMatchObject({ kind: 'pending' });
  const after = await engine.load(id);
  expect(after.body).toEqual(before.body);
  expect(after.delivery).toEqual({ ...before.delivery, owedAttempts: 1 });
  const { b: bytes, ...again } = await engine.redis.hgetall(engine.keys.transition(before.delivery.transitionId));
  const { b: bytesBefore, ...contentBefore } = content;
  expect(again).toEqual(contentBefore);
  expect(Number(bytes)).toBeGreaterThan(Number(bytesBefore)); // the attempts that came back count too
  await engine.record(id, { now: START + 3_000 });
  expect((await engine.log.find(workspaceId, id))?.attempts).toHaveLength(2);
  await engine.move();
  expect((await engine.log.find(workspaceId, id))?.attempts).toHaveLength(2);
});

test('a redelivery to a disabled receiver brings nothing back', async () => {
  const { receiver, ids } = await settleMany(1);
  await engine.move();
  await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, START);
  expect(await engine.log.redeliver(receiver.workspaceId, ids[0] ?? '', START)).toMatchObject({ kind: 'disabled' });
  expect(await engine.redis.exists(engine.keys.delivery(ids[0] ?? ''))).toBe(0);
});

test('a replay goes through Redis and history in the order of acceptance, and its counts are right', async () => {
  const { receiver, ids, task, workspaceId } = await settleMany(130);
  await engine.move();
  await engine.log.redeliver(workspaceId, ids[7] ?? '', START + 2_000);
  const [present = ''] = await task.accept([receiver], START + 200);
  await engine.record(present, { now: START + 2_000 });
  const facts = { since: START, until: START + 1_000, statuses: ['delivered'] as const, createdAt: START + 2_000 };
  await engine.replays.create(workspaceId, { id: 'rpl_both', endpointId: receiver.id, ...facts });
  const order: string[] = [];
  for (const step of range(10)) {
    const { kind } = await engine.worker.steps.step('rpl_both', START + 3_000 + step);
    const waiting = await engine.waitingFor(receiver.group);
    order.push(...waiting.filter((id) => !order.includes(id)));
    if (kind === 'ended') break;
  }
  // One has an attempt coming already.
  const counts = { total: 131, seen: 131, replayed: 130 };
  expect(await engine.replays.find(workspaceId, 'rpl_both')).toMatchObject({ status: 'done', ...counts });
  expect(new Set(order)).toEqual(new Set([...ids, present]));
  expect(new Set(order.slice(0, 100))).toEqual(new Set(ids.slice(0, 100)));
});

test('a worker that is not told of the history carries no replay on: it would leave out what has moved', async () => {
  const { receiver, workspaceId } = await settleMany(1);
  const facts = { since: START, until: START + 1_000, statuses: ['failed'] as const, createdAt: START };
  await engine.replays.create(workspaceId, { id: 'rpl_waits', endpointId: receiver.id, ...facts });
  const { redis, keys } = engine;
  const unaware = createReplaySteps({ redis, keys, keepMs: 1 });
  const mark = createHistoryMark({ redis, keyspace: engine.stores.keyspace });
  await mark.note('a history');
  expect(await unaware.claim(START, START, 100)).toEqual([]);
  expect(await engine.worker.steps.claim(START, START, 100)).toContain('rpl_waits');
  await mark.remove();
  expect(await unaware.claim(START + 1, START + 1, 100)).toContain('rpl_waits');
});

test('operators find what has left Redis by its id alone', async () => {
  const { ids, task, workspaceId } = await settleMany(1);
  await engine.move();
  const [id = ''] = ids;
  const deps = { redis: engine.redis, keyspace: engine.stores.keyspace, history: engine.reader };
  expect(await createOwnerLookUp(deps).ofDelivery(id)).toBe(workspaceId);
  expect(await createSearch(deps).find(id)).toMatchObject({ found: [{ kind: 'delivery', workspaceId }] });
  await engine.redis.del(`herald:task:${task.id}`);
  expect(await createSearch(deps).find(task.id)).toMatchObject({ found: [{ kind: 'task', workspaceId }] });
  const described = await describeDelivery(engine.redis, engine.keys, id, () => engine.reader.find(workspaceId, id));
  expect(described).toMatchObject({ delivery: { id, status: 'delivered' }, attempts: 1, lastOutcome: '200' });
});

test('an erasure while a batch is being moved leaves nothing of it, on either side', async () => {
  const { ids, task, workspaceId } = await settleMany(3);
  await engine.redis.hset(engine.keys.task(task.id), 'status', 'done');
  const read = Promise.withResolvers<undefined>();
  const goOn = Promise.withResolvers<undefined>();
  const moving = engine.history.writer.write(async () => {
    const batch = await engine.worker.moves.take('test', Number.MAX_SAFE_INTEGER, 100);
    read.resolve(undefined);
    await goOn.promise;
    return batch;
  });
  await read.promise;
  const erasing = engine.eraser.erase(workspaceId, task.id, START + 9_000);
  // The eraser is done with Redis, and stands at the lock.
  const isWaiting = () => engine.history.rows("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
  while ((await isWaiting()).length === 0) await new Promise((resolve) => setImmediate(resolve));
  goOn.resolve(undefined);
  const batch = await moving;
  expect(await erasing).toMatchObject({ kind: 'erased', erasedAt: START + 9_000 });
  if (batch) await engine.worker.moves.forget(batch);
  await engine.move();
  const rows = await engine.history.rows(
    `SELECT attempts, body FROM herald.deliveries d JOIN herald.transitions t ON t.id = d.transition_id
      WHERE workspace_id = '${workspaceId}'`,
  );
  expect(rows).toHaveLength(3);
  expect(rows.map(({ body }) => body)).toEqual([null, null, null]);
  expect(JSON.stringify(rows)).not.toContain('canary');
  const found = await engine.log.find(workspaceId, ids[0] ?? '');
  expect(found).toMatchObject({ delivery: { erasedAt: START + 9_000 }, attempts: [{ status: 200 }] });
});

test('a body that was read from history before its erasure does not come back', async () => {
  const { ids, task, workspaceId } = await settleMany(1);
  await engine.move();
  await engine.redis.del(engine.keys.task(task.id), engine.keys.facts(task.id));
  const { reader } = engine;
  const log = createDeliveryLog({
    redis: engine.redis,
    keyspace: engine.stores.keyspace,
    history: {
      ...reader,
      async findTransition(delivery) {
        const found = await reader.findTransition(delivery);
        expect(found?.body).toBeDefined();
        expect(await engine.eraser.erase(workspaceId, task.id, START + 9_000)).toMatchObject({ kind: 'erased' });
        return found;
      },
    },
  });
  expect(await log.redeliver(workspaceId, ids[0] ?? '', START)).toEqual({ kind: 'erased' });
  expect(await engine.redis.exists(engine.keys.delivery(ids[0] ?? ''))).toBe(0);
  expect(await engine.eraser.erase(workspaceId, task.id, START + 99_000)).toMatchObject({ erasedAt: START + 9_000 });
});

test('without bodies in history, a redelivery says so, and a replay passes over it', async () => {
  await using bare = await startHistoryEngine({ keepsBodies: false });
  const receiver = await bare.register({ workspaceId: newWorkspaceId() });
  const id = await bare.acceptOne(receiver, START);
  await bare.settle(id, START + 1, 'failed');
  await bare.move();
  const { workspaceId } = receiver;
  expect(await bare.log.redeliver(workspaceId, id, START)).toEqual({ kind: 'not_kept' });
  const found = await bare.log.find(workspaceId, id);
  expect(found && (await bare.log.readContent(found.delivery))).not.toHaveProperty('body');
  const facts = { since: 0, until: START + 1_000, statuses: ['failed'] as const, createdAt: START };
  await bare.replays.create(workspaceId, { id: 'rpl_bare', endpointId: receiver.id, ...facts });
  expect(await bare.worker.steps.step('rpl_bare', START)).toEqual({ kind: 'ended', replayed: 0 });
  expect(await bare.replays.find(workspaceId, 'rpl_bare')).toMatchObject({ total: 1, seen: 1, replayed: 0 });
});

describe('while history is away or slow', () => {
  const logWith = (pool: Parameters<typeof createHistoryReader>[0]['pool'], limitMs = 50) => {
    const told: string[] = [];
    const onUnavailable = ({ message }: Error) => {
      told.push(message);
    };
    const history = createHistoryReader({ pool, limitMs, onUnavailable });
    return { told, log: createDeliveryLog({ redis: engine.redis, keyspace: engine.stores.keyspace, history }) };
  };
  type Connect = Parameters<typeof createHistoryReader>[0]['pool']['connect'];
  const away = { connect: (() => Promise.reject(new Error('connect ECONNREFUSED'))) as Connect };
  const slow = { connect: (() => new Promise(() => undefined)) as Connect };

  test.each([
    ['away', away, 'connect ECONNREFUSED'],
    ['slow', slow, 'history did not answer within 50 ms'],
  ])('%s: what Redis has is shown as a part, and what needs history is refused', async (_, pool, message) => {
    const { receiver, ids, task, workspaceId } = await settleMany(2);
    await engine.move();
    const [present = ''] = await task.accept([receiver], START + 50);
    const { log, told } = logWith(pool);
    const first = await log.listByEndpoint(workspaceId, receiver.id, {}, 10);
    expect(first).toMatchObject({ deliveries: [{ id: present }], isPartial: true, next: { id: present } });
    await expect(log.listByEndpoint(workspaceId, receiver.id, {}, 10, first.next)).rejects.toThrow(
      HistoryUnavailableError,
    );
    expect(await log.listByTask(workspaceId, task.id, 10)).toMatchObject({
      deliveries: [{ id: present }],
      isPartial: true,
    });
    expect(await log.find(workspaceId, present)).toMatchObject({ delivery: { status: 'pending' } });
    await expect(log.find(workspaceId, ids[0] ?? '')).rejects.toThrow(HistoryUnavailableError);
    await expect(log.redeliver(workspaceId, ids[0] ?? '', START)).rejects.toThrow(HistoryUnavailableError);
    expect(told).toContain(message);
  });

  test('a read that nobody waits for ends in PostgreSQL, and of one workspace two are under way', async () => {
    const limitMs = patient(400);
    const options = { url: engine.history.postgres.url, name: 'turns', connections: 3, statementLimitMs: limitMs };
    const pool = createHistoryPool({ ...options, connectLimitMs: limitMs, onError: () => undefined });
    const reader = createHistoryReader({ pool, limitMs, onUnavailable: () => undefined });
    const countActive = async () => {
      const sql = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'turns' AND wait_event_type = 'Lock'";
      return (await engine.history.rows(sql)).length;
    };
    const locking = await engine.history.pool.connect();
    try {
      await locking.query('BEGIN; LOCK TABLE herald.deliveries IN ACCESS EXCLUSIVE MODE');
      const reads = range(6).map(() => reader.list({ workspaceId: 'ws_a', limit: 10 }));
      const ended = Promise.allSettled(reads);
      await waitFor('two to wait for the lock', async () => (await countActive()) === 2);
      await expect(reader.listAudit({ workspaceId: 'ws_b', limit: 1 })).resolves.toEqual([]);
      for (const each of await ended)
        expect(each).toMatchObject({ reason: expect.any(HistoryUnavailableError) as unknown });
      await waitFor('nobody to wait for the lock', async () => (await countActive()) === 0);
    } finally {
      await locking.query('ROLLBACK');
      locking.release();
    }
    await expect(reader.list({ workspaceId: 'ws_a', limit: 10 })).resolves.toMatchObject({ found: [] });
    await pool.end();
  });

  test('a delivery with a status of a later release is left out, and named; the others are shown', async () => {
    const { ids, workspaceId } = await settleMany(3);
    await engine.move();
    await engine.history.pool.query('UPDATE herald.deliveries SET status = $1 WHERE id = $2', [
      'parked',
      toIdBytes(ids[1] ?? ''),
    ]);
    const unreadable: string[] = [];
    const onUnreadable = (id: string) => unreadable.push(id);
    const deps = { pool: engine.history.pool, limitMs: 5_000, onUnavailable: () => undefined };
    const { found, next } = await createHistoryReader({ ...deps, onUnreadable }).list({ workspaceId, limit: 2 });
    expect(found.map(({ delivery }) => delivery.id)).toEqual([ids[2]]);
    expect(next).toMatchObject({ id: ids[1] });
    expect(unreadable).toEqual([ids[1]]);
  });

  test('a bug in a statement is no outage', async () => {
    const connect = async () => {
      const client = await engine.history.pool.connect();
      const query = (text: string, values?: unknown[]) => client.query(values ? 'SELECT 1 +' : text);
      return { query, release: client.release.bind(client) };
    };
    const { log } = logWith({ connect: connect as unknown as Connect }, 10_000);
    await expect(log.find('ws_x', `dlv_${'a'.repeat(32)}`)).rejects.not.toThrow(HistoryUnavailableError);
  });
});
