import { toDeliveryId, toIdBytes } from '@herald/history/reading/delivery-row';
import { createHistoryEraser } from '@herald/history/writing/create-history-eraser';
import { judgeHistoryError } from '@herald/history/errors/history-errors';
import { createPartitions, dayOf, DAY_MS, partitionName } from '@herald/history/partitions/partitions';
import fc from 'fast-check';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { readSettledBacklog, createHistoryMark, findHistoryNotSet } from '@herald/store/lists/history-mark';
import { moveSettled, type MoveSettledDeps } from '../../../apps/worker/src/move-to-history.ts';
import { startHistory, type History } from '../../support/start-history.ts';
import { range, RETENTION_MS, startEngine, type Engine, type Receiver } from '../engine/start-engine.ts';

const HOUR_MS = 3_600_000;
const START = Date.now() - 2 * HOUR_MS;
const silent = { moved: () => undefined, setAside: () => undefined };

let engine: Engine;
let history: History;
beforeAll(async () => {
  [engine, history] = await Promise.all([startEngine({ hasHistory: true }), startHistory()]);
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await history[Symbol.asyncDispose]();
});
afterEach(async () => {
  await engine.redis.flushall();
  await history.pool.query('TRUNCATE herald.deliveries, herald.transitions');
});

const move = (more: Partial<MoveSettledDeps> = {}) =>
  moveSettled({
    moves: engine.worker.moves,
    history: history.writer,
    judge: judgeHistoryError,
    mover: 'first',
    retentionMs: HOUR_MS,
    isStopping: () => false,
    report: silent,
    now: () => START + 2 * HOUR_MS,
    ...more,
  });

async function stored() {
  const rows = await history.rows('SELECT id, status, attempts FROM herald.deliveries ORDER BY id');
  return rows.map(({ id, status, attempts }) => ({
    id: toDeliveryId(id as Buffer),
    status,
    attempts: (JSON.parse(attempts as string) as unknown[]).length,
  }));
}
const keysOf = (pattern: string) => engine.redis.keys(`*}:${pattern}`);

async function settleMany(count: number) {
  const receivers = await Promise.all(range(count).map(() => engine.register({ workspaceId: 'ws_move' })));
  const ids = await engine.accept(receivers, START);
  for (const id of ids) await engine.settle(id, START + 1_000, 'delivered');
  return { receivers, ids };
}

test('a settled delivery has no expiry, moves when it is old enough, and leaves nothing in Redis', async () => {
  const { ids, receivers } = await settleMany(3);
  const [failing] = await engine.accept([receivers[0] ?? (await engine.register())], START);
  await engine.settle(failing ?? '', START + 2_000, 'failed');
  await expect(engine.redis.pttl(engine.keys.delivery(ids[0] ?? ''))).resolves.toBe(-1);
  await expect(move({ retentionMs: 3 * HOUR_MS })).resolves.toBe(0);
  await expect(stored()).resolves.toEqual([]);
  await expect(move()).resolves.toBe(4);
  const all = [...ids.map((id) => ({ id, status: 'delivered' })), { id: failing, status: 'failed' }];
  await expect(stored()).resolves.toEqual(
    all.map((each) => ({ ...each, attempts: 1 })).sort((a, b) => ((a.id ?? '') < (b.id ?? '') ? -1 : 1)),
  );
  for (const pattern of ['dlv_*', 'trn_*', 'e:*:log*', 'failed*', 'settled']) {
    await expect(keysOf(pattern)).resolves.toEqual([]);
  }
});

test('a row tells what the record told, with the body once', async () => {
  const { ids, receivers } = await settleMany(2);
  await move();
  await expect(history.rows('SELECT created_at, erased_at, body FROM herald.transitions')).resolves.toEqual([
    { created_at: START, erased_at: null, body: '{"a":1}' },
  ]);
  const rows =
    await history.rows(`SELECT id, endpoint_id, workspace_id, event, tries, created_at, settled_at, changed_at,
    scheduled_at, place, is_released, reason, task_id FROM herald.deliveries`);
  const first = rows.find(({ id }) => toDeliveryId(id as Buffer) === ids[0]);
  expect(first).toMatchObject({
    endpoint_id: receivers[0]?.id,
    workspace_id: 'ws_move',
    event: 'task.done',
    tries: 1,
    created_at: START,
    settled_at: START + 1_000,
    changed_at: START + 1_000,
    scheduled_at: null,
    place: null,
    is_released: false,
    reason: null,
    task_id: expect.stringMatching(/^task_/) as unknown,
  });
});

test('all attempts move, the first from the record and the others from their list, unless one is added meanwhile', async () => {
  const receiver = await engine.register({ workspaceId: 'ws_move' });
  const id = await engine.acceptOne(receiver, START);
  const first = { at: START + 5, durationMs: 3, status: 503, answer: 'later ü', headers: { server: 'nginx' } };
  const verdict = { kind: 'retry', at: START + 9 } as const;
  await engine.record(id, { now: START + 8, verdict, attempt: first });
  await engine.record(id, { now: START + 9, attempt: { at: START + 9, durationMs: 1, status: 200 } });
  const read = await engine.worker.moves.take('first', START + HOUR_MS, 10);
  if (!read) throw new Error('nobody else moves');
  await engine.redis.rpush(engine.keys.attempts(id), `{"at":${START + 10},"durationMs":2,"status":204}`);
  await expect(engine.worker.moves.forget(read)).resolves.toBe(0);
  await expect(move()).resolves.toBe(1);
  const [row] = await history.rows('SELECT attempts FROM herald.deliveries');
  expect(row).toEqual({
    attempts: `[${[
      `{"at":${START + 5},"durationMs":3,"status":503,"answer":"later ü","h":{"s":"nginx"}}`,
      `{"at":${START + 9},"durationMs":1,"status":200}`,
      `{"at":${START + 10},"durationMs":2,"status":204}`,
    ].join(',')}]`,
  });
  await expect(keysOf('dlv_*')).resolves.toEqual([]);
});

test('a transition stays until the last of its deliveries has left', async () => {
  const receivers = [await engine.register({ workspaceId: 'ws_a' }), await engine.register({ workspaceId: 'ws_a' })];
  const [first = '', second = ''] = await engine.accept(receivers, START);
  await engine.settle(first, START, 'delivered');
  await expect(move()).resolves.toBe(1);
  await expect(engine.load(second)).resolves.toMatchObject({ delivery: { status: 'pending' } });
  await engine.settle(second, START, 'delivered');
  await expect(move()).resolves.toBe(1);
  await expect(keysOf('trn_*')).resolves.toEqual([]);
});

describe('a worker dies', () => {
  const dies = () => Promise.reject(new Error('killed'));

  test.each<{ when: string; deps: () => Partial<MoveSettledDeps>; written: number }>([
    {
      when: 'after it has read the batch',
      deps: () => ({ history: { write: async (read) => (await read()) && (await dies()) } }),
      written: 0,
    },
    {
      when: 'after the commit, before the batch leaves Redis',
      deps: () => ({ moves: { ...engine.worker.moves, forget: dies } }),
      written: 3,
    },
    {
      when: 'after the batch has left Redis',
      deps: () => ({
        moves: { ...engine.worker.moves, forget: async (batch) => (await engine.worker.moves.forget(batch)) && dies() },
      }),
      written: 3,
    },
  ])('$when: nothing is lost or doubled', async ({ deps, written }) => {
    await settleMany(3);
    await expect(move(deps())).rejects.toThrow('killed');
    await expect(stored()).resolves.toHaveLength(written);
    await move();
    await expect(stored()).resolves.toHaveLength(3);
    await expect(keysOf('dlv_*')).resolves.toEqual([]);
  });
});

test('PostgreSQL dies in the middle of a batch: Redis keeps all of it, and it moves once it is back', async () => {
  await settleMany(3);
  const moves = engine.worker.moves;
  const killed: MoveSettledDeps['moves'] = {
    ...moves,
    take: async (...args) => {
      const batch = await moves.take(...args);
      await history.postgres.kill();
      return batch;
    },
  };
  await expect(move({ moves: killed })).rejects.toThrow(/./);
  await expect(keysOf('dlv_*')).resolves.not.toEqual([]);
  await history.postgres.restart();
  await expect(move()).resolves.toBe(3);
  await expect(stored()).resolves.toHaveLength(3);
});

test('what is redelivered while it moves stays in Redis, and moves again with its new attempt', async () => {
  const { ids } = await settleMany(2);
  const [id = ''] = ids;
  const moves = engine.worker.moves;
  const redelivered: MoveSettledDeps['moves'] = {
    ...moves,
    forget: async (batch) => {
      await engine.log.redeliver('ws_move', id, START + 3_000);
      return await moves.forget(batch);
    },
  };
  await expect(move({ moves: redelivered })).resolves.toBe(1);
  await expect(engine.statusOf(id)).resolves.toBe('delivered');
  await expect(move()).resolves.toBe(0);
  await engine.record(id, { now: START + 4_000 });
  await expect(move()).resolves.toBe(1);
  await expect(stored()).resolves.toContainEqual({ id, status: 'delivered', attempts: 2 });
  await expect(keysOf('trn_*')).resolves.toEqual([]);
});

test('a mover that was paused writes over nothing that changed later', async () => {
  const { ids } = await settleMany(1);
  const [id = ''] = ids;
  const old = await engine.worker.moves.take('first', START + HOUR_MS, 10);
  await engine.log.redeliver('ws_move', id, START + 3_000);
  await engine.record(id, { now: START + 4_000 });
  await move();
  await history.writer.write(() => Promise.resolve(old));
  await expect(stored()).resolves.toEqual([{ id, status: 'delivered', attempts: 2 }]);
});

test('two workers share a shard: the second waits for the lease of the first', async () => {
  await settleMany(1);
  await engine.worker.moves.take('first', START + HOUR_MS, 10);
  await expect(move({ mover: 'second', moves: engine.otherWorker.moves })).resolves.toBe(0);
  await expect(move()).resolves.toBe(1);
});

describe('batches', () => {
  const SETTLED_AT = START + 1_000;
  const RECEIVERS = 9;

  /** How many deliveries each batch asks for, of 270 that should have moved so long ago. */
  async function limitsOf(overdueMs: number): Promise<number[]> {
    const { receivers } = await settleMany(RECEIVERS);
    for (let round = 1; round < 30; round++) {
      for (const id of await engine.accept(receivers, START)) await engine.settle(id, SETTLED_AT, 'delivered');
    }
    const limits: number[] = [];
    const { moves } = engine.worker;
    const take: typeof moves.take = (mover, until, limit) => {
      limits.push(limit);
      return moves.take(mover, until, limit);
    };
    const now = () => SETTLED_AT + HOUR_MS + overdueMs;
    await expect(move({ moves: { ...moves, take }, now })).resolves.toBe(30 * RECEIVERS);
    return limits;
  }

  test('are small as long as deliveries move in time', async () => {
    expect(new Set(await limitsOf(29_000))).toEqual(new Set([20]));
  });

  test('grow to 100 when deliveries are late', async () => {
    expect(await limitsOf(31_000)).toEqual([20, 40, 80, 100, 100]);
  });
});

test('the process that settles a delivery needs not know of the history: its data does, and a worker without one lets nothing expire', async () => {
  const mark = createHistoryMark({ redis: engine.redis, keyspace: engine.stores.keyspace });
  const unaware = createDeliveryRetention(RETENTION_MS, false);
  const store = createDeliveryStore({ redis: engine.redis, keys: engine.keys, retention: unaware });
  const receiver = await engine.register({ workspaceId: 'ws_move' });
  await expect(mark.note('a history')).resolves.toBe('a history');
  await expect(mark.note('another')).resolves.toBe('a history');
  const id = await engine.acceptOne(receiver, START);
  await store.cancel(id, 'receiver_removed', START + 1_000);
  await expect(engine.redis.pttl(engine.keys.delivery(id))).resolves.toBe(-1);
  await expect(engine.worker.moves.expire(RETENTION_MS, 10)).resolves.toBeUndefined();
  await expect(findHistoryNotSet(mark)).resolves.toMatchObject({ code: 'history_not_set' });
  await expect(mark.remove()).resolves.toBe(true);
  await expect(findHistoryNotSet(mark)).resolves.toBeUndefined();
  await expect(engine.worker.moves.expire(RETENTION_MS, 10)).resolves.toBe(1);
  await expect(engine.redis.pttl(engine.keys.delivery(id))).resolves.toBeGreaterThan(0);
});

test('a damaged record is named and put aside, and holds up no other', async () => {
  const { ids } = await settleMany(2);
  const [damaged = ''] = ids;
  await engine.redis.hset(engine.keys.delivery(damaged), 's', 'eaten');
  const named: string[] = [];
  const report = { ...silent, setAside: (all: readonly string[]) => named.push(...all) };
  await expect(move({ report })).resolves.toBe(1);
  expect(named).toEqual([damaged]);
  await expect(engine.redis.exists(engine.keys.delivery(damaged))).resolves.toBe(1);
  await expect(move({ report })).resolves.toBe(0);
});

test('a row that PostgreSQL refuses is named and put aside, and holds up no other', async () => {
  const { ids, receivers } = await settleMany(9);
  // More than move together.
  for (let round = 0; round < 2; round++) {
    for (const id of await engine.accept(receivers, START)) await engine.settle(id, START + 1_000, 'delivered');
  }
  const refused = ids[3] ?? '';
  const drop = 'DROP TRIGGER refuse ON herald.deliveries; DROP FUNCTION herald.refuse';
  await history.pool.query(`CREATE FUNCTION herald.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.id = '\\x${toIdBytes(refused).toString('hex')}' THEN RAISE 'no' USING ERRCODE = '22021'; END IF;
      RETURN NEW; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON herald.deliveries FOR EACH ROW EXECUTE FUNCTION herald.refuse()`);
  const damaged: string[] = [];
  try {
    const report = { ...silent, setAside: (each: readonly string[]) => damaged.push(...each) };
    await expect(move({ report })).resolves.toBe(26);
  } finally {
    await history.pool.query(drop);
  }
  expect(damaged).toEqual([refused]);
  await expect(keysOf('dlv_*')).resolves.toHaveLength(1);
  await expect(move()).resolves.toBe(0);
  await expect(readSettledBacklog(engine.redis, engine.keys)).resolves.toEqual({ count: 1, aside: 1 });
  await expect(move({ now: () => START + 4 * HOUR_MS })).resolves.toBe(1);
  expect(await stored()).toHaveLength(27);
});

test('a mistake of ours that each delivery meets is told, and sets nothing aside but two', async () => {
  const { ids } = await settleMany(4);
  const aside: string[] = [];
  const broken = {
    write: async (read: () => Promise<unknown>) => (await read()) && Promise.reject(new TypeError('x')),
  };
  const report = { ...silent, setAside: (each: readonly string[]) => aside.push(...each) };
  await expect(move({ history: broken as unknown as MoveSettledDeps['history'], report })).rejects.toThrow('x');
  expect(aside).toHaveLength(2);
  expect(ids).toEqual(expect.arrayContaining(aside));
});

test('a day that is gone, as after a restore of PostgreSQL, is made again', async () => {
  await settleMany(1);
  await move();
  await settleMany(2);
  const day = dayOf(START);
  await history.pool.query(
    `DROP TABLE herald.${partitionName('deliveries', day)}, herald.${partitionName('transitions', day)}`,
  );
  await expect(move()).resolves.toBe(2);
});

test('an erased transition has neither body nor answers in the history, and what is there is erased when it moves again', async () => {
  const { ids } = await settleMany(1);
  const [id = ''] = ids;
  const read = await engine.worker.moves.take('first', START + HOUR_MS, 10);
  if (!read) throw new Error('nobody else moves');
  await history.writer.write(() => Promise.resolve(read));
  const transition = engine.keys.transition(read.transitions[0]?.id ?? '');
  await engine.redis.hset(transition, 'erased', START + 5_000);
  await engine.redis.hdel(transition, 'body');
  await engine.redis.hset(engine.keys.delivery(id), { a: '0 1 200', b: 'canary', hs: 'canary' });
  await expect(engine.worker.moves.forget(read)).resolves.toBe(0);
  await move();
  const [row] = await history.rows(
    'SELECT body, erased_at, attempts FROM herald.transitions JOIN herald.deliveries USING (created_at)',
  );
  expect(row).toMatchObject({
    body: null,
    erased_at: START + 5_000,
    attempts: `[{"at":${START},"durationMs":1,"status":200}]`,
  });
});

test('with HISTORY_BODIES=false neither bodies nor answers go there', async () => {
  await using bare = await startHistory({ keepsBodies: false });
  const receiver = await engine.register({ workspaceId: 'ws_move' });
  const id = await engine.acceptOne(receiver, START);
  await engine.record(id, { now: START, attempt: { at: START, durationMs: 3, status: 200, answer: 'canary' } });
  await move({ history: bare.writer });
  await expect(bare.rows('SELECT body FROM herald.transitions')).resolves.toEqual([{ body: null }]);
  const attempts = `[{"at":${START},"durationMs":3,"status":200}]`;
  await expect(bare.rows('SELECT attempts FROM herald.deliveries')).resolves.toEqual([{ attempts }]);
});

test('without a history again, what waits for one expires', async () => {
  const { ids } = await settleMany(2);
  await expect(engine.worker.moves.expire(RETENTION_MS, 10)).resolves.toBe(2);
  for (const key of [...ids.map(engine.keys.delivery), ...(await keysOf('trn_*'))]) {
    const name = key.slice(key.indexOf('{'));
    await expect(engine.redis.pttl(name)).resolves.toBeGreaterThan(RETENTION_MS - HOUR_MS);
  }
});

describe('days', () => {
  const names = async () =>
    (
      await history.rows(
        "SELECT relname FROM pg_class WHERE relname ~ '^(deliveries|transitions)_[0-9]{8}$' ORDER BY 1",
      )
    ).map(({ relname }) => relname);

  test('a delivery that settles days later goes to the day of its acceptance', async () => {
    const receiver = await engine.register({ workspaceId: 'ws_move' });
    const id = await engine.acceptOne(receiver, START - 9 * DAY_MS);
    await engine.settle(id, START, 'delivered');
    await expect(move()).resolves.toBe(1);
    await expect(names()).resolves.toContain(
      `deliveries_${new Date(START - 9 * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`,
    );
  });

  test('are made ahead, and dropped by age with what they hold, also after a drop that was cut off', async () => {
    const { partitions, pool } = history;
    const today = dayOf(START);
    await partitions.ensure([today - 40, today - 41]);
    await partitions.ensureAhead(START);
    const before = (await names()).length;
    // Cut off before the second of its two steps.
    const old = `deliveries_${new Date((today - 41) * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
    await pool.query(`ALTER TABLE herald.deliveries DETACH PARTITION herald.${old} CONCURRENTLY`);
    await expect(partitions.findOverdueMs((today - 30) * DAY_MS)).resolves.toBe(10 * DAY_MS);
    await expect(partitions.dropBefore((today - 30) * DAY_MS)).resolves.toMatchObject({ failures: [] });
    await expect(names()).resolves.toHaveLength(before - 4);
    await expect(partitions.findOverdueMs((today - 30) * DAY_MS)).resolves.toBe(0);
    await partitions.ensure([today - 40]);
    await expect(names()).resolves.toHaveLength(before - 2);
  });

  /** A transaction that has read both tables, and ends when it is told to. */
  async function startReader({ isolation = 'READ COMMITTED' } = {}) {
    const client = await history.pool.connect();
    await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    await client.query('SELECT count(*) FROM herald.deliveries');
    await client.query('SELECT count(*) FROM herald.transitions');
    return {
      end: async () => {
        await client.query('COMMIT');
        client.release();
      },
    };
  }
  const today = dayOf(START);
  const keptFrom = (today - 30) * DAY_MS;
  /** It waits for nobody. */
  const impatient = () => createPartitions(history.pool, { readersLimitMs: 20 });

  test('of a day that is going a delivery is set aside, the others move, and it moves once the day is gone', async () => {
    const { ids, receivers } = await settleMany(2);
    const [late = ''] = await engine.accept([receivers[0] ?? (await engine.register())], (today - 40) * DAY_MS);
    await engine.settle(late, START + 1_000, 'delivered');
    await history.partitions.ensure([today - 40]);
    const reader = await startReader();
    const { failures } = await impatient().dropBefore(keptFrom);
    expect(failures).not.toEqual([]);
    const aside: string[] = [];
    const setAside = (each: readonly string[]) => aside.push(...each);
    await expect(move({ report: { ...silent, setAside } })).resolves.toBe(2);
    expect(aside).toEqual([late]);
    await expect(stored()).resolves.toHaveLength(ids.length);
    await reader.end();
    await history.partitions.dropBefore(keptFrom);
    await expect(move({ now: () => START + 4 * HOUR_MS })).resolves.toBe(1);
    await history.partitions.dropBefore(keptFrom);
  });

  test('are kept as long as before when that is shortened by more than half, until somebody says that it is meant', async () => {
    const { partitions } = history;
    const agree = (days: number, now = Date.now()) => partitions.agreeOnRetention(days * DAY_MS, now);
    await expect(agree(90)).resolves.toBe(90 * DAY_MS);
    await expect(agree(9)).resolves.toBe(90 * DAY_MS);
    await expect(agree(45)).resolves.toBe(45 * DAY_MS);
    await partitions.setRetention(9 * DAY_MS);
    await expect(agree(9)).resolves.toBe(9 * DAY_MS);
    await expect(agree(400)).resolves.toBe(400 * DAY_MS);
    await expect(agree(400, Date.now() + 2 * DAY_MS)).rejects.toThrow(/set their clocks/);
  });

  /** Tables in which a word is left. */
  async function findWord(word: string): Promise<unknown[]> {
    const tables = await history.rows(
      "SELECT relname FROM pg_class WHERE relnamespace = 'herald'::regnamespace AND relkind = 'r'",
    );
    const found = await Promise.all(
      tables.map(async ({ relname }) => {
        const sql = `SELECT 1 FROM herald.${String(relname)} AS each WHERE each::text LIKE '%${word}%' LIMIT 1`;
        return (await history.rows(sql)).length > 0 ? [relname] : [];
      }),
    );
    return found.flat();
  }

  test('that are being dropped are erased, too: no table has the body or the answer any more', async () => {
    const receiver = await engine.register({ workspaceId: 'ws_erase' });
    const task = await engine.createTask('ws_erase');
    const times = [today - 41, today - 40].map((day) => day * DAY_MS);
    for (const at of [...times, START]) {
      const [id = ''] = await task.accept([receiver], at);
      await engine.record(id, { now: START, attempt: { at: START, durationMs: 3, status: 200, answer: 'canary' } });
    }
    await expect(move()).resolves.toBe(3);
    await history.rows(`UPDATE herald.transitions SET body = 'the canary' WHERE body IS NOT NULL RETURNING 1`);
    // One is detached; the transitions of that day, and the deliveries of the other, are going.
    const detached = partitionName('deliveries', today - 41);
    await history.pool.query(`ALTER TABLE herald.deliveries DETACH PARTITION herald.${detached}`);
    const reader = await startReader();
    try {
      await impatient().dropBefore((today - 39) * DAY_MS);
      await cutOff(partitionName('deliveries', today - 40));
      expect(await findWord('canary')).toHaveLength(6);
      const eraser = createHistoryEraser({ pool: history.pool, limitMs: 5_000, onUnavailable: () => undefined });
      await expect(eraser.listUnerased('ws_erase', 10)).resolves.toEqual([task.id]);
      await expect(eraser.listUnerased('ws_other', 10)).resolves.toEqual([]);
      await expect(eraser.eraseTask('ws_erase', task.id, START)).resolves.toBe(START);
      await expect(eraser.listUnerased('ws_erase', 10)).resolves.toEqual([]);
      await expect(findWord('canary')).resolves.toEqual([]);
      await expect(eraser.eraseTask('ws_erase', 'task_unknown', START)).resolves.toBeUndefined();
    } finally {
      await reader.end();
    }
    await expect(history.partitions.dropBefore(keptFrom)).resolves.toMatchObject({ failures: [] });
  });

  const ages = fc.uniqueArray(fc.integer({ min: 31, max: 60 }), { minLength: 2, maxLength: 4 });
  const steps = fc.array(fc.constantFrom('reader', 'snapshot', 'end', 'drop', 'drop twice', 'cut off'), {
    maxLength: 6,
  });

  async function live(days: readonly number[], each: string, readers: { end: () => Promise<void> }[]): Promise<void> {
    if (each === 'reader') readers.push(await startReader());
    if (each === 'snapshot') readers.push(await startReader({ isolation: 'REPEATABLE READ' }));
    if (each === 'end') await readers.pop()?.end();
    if (each === 'drop') await impatient().dropBefore(keptFrom);
    if (each === 'drop twice') await Promise.all([1, 2].map(() => impatient().dropBefore(keptFrom)));
    if (each === 'cut off') await cutOff(partitionName('deliveries', days[0] ?? 0));
  }

  async function expectNobodyWaits(receiver: Receiver): Promise<void> {
    const startedAt = performance.now();
    await engine.settle(await engine.acceptOne(receiver, START), START + 1_000, 'delivered');
    await expect(move()).resolves.toBe(1);
    // Behind a reader it would wait for as long as a statement may take.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  }

  test('end, in whatever order they were made, readers come and go, and drops are cut off; nobody else waits for it', async () => {
    const receiver = await engine.register({ workspaceId: 'ws_days' });
    const property = fc.asyncProperty(ages, steps, async (given, all) => {
      const days = given.map((age) => today - age);
      for (const day of days) await history.partitions.ensure([day]);
      const readers: { end: () => Promise<void> }[] = [];
      try {
        for (const each of all) {
          await live(days, each, readers);
          await expectNobodyWaits(receiver);
        }
      } finally {
        for (const reader of readers) await reader.end();
      }
      await expect(history.partitions.dropBefore(keptFrom)).resolves.toMatchObject({ failures: [] });
      await expect(history.partitions.findOverdueMs(keptFrom)).resolves.toBe(0);
    });
    await fc.assert(property, { numRuns: 15 });
  });

  /** As when a worker is stopped in the middle. */
  async function cutOff(name: string): Promise<void> {
    const client = await history.pool.connect();
    await client.query("SET lock_timeout = '5ms'");
    await client
      .query(`ALTER TABLE herald.deliveries DETACH PARTITION herald.${name} CONCURRENTLY`)
      .catch(() => undefined);
    client.release(true);
  }
});
