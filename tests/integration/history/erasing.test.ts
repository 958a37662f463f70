import { HistoryUnavailableError } from '@herald/core';
import { createHistoryEraser } from '@herald/history/writing/create-history-eraser';
import { dayOf, DAY_MS } from '@herald/history/partitions/partitions';
import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { LOCK_FOR_ERASING, LOCK_FOR_MOVING } from '@herald/history/sql/history-sql';
import { waitFor } from '@herald/test-kit';
import type { PoolClient } from 'pg';
import { startHistory, type History } from '../../support/start-history.ts';
import { range } from '../engine/start-engine.ts';

const [NOW, LATER] = [1_900_000_000_000, 1_900_000_099_000];
const TODAY = dayOf(Date.now());
const DAYS = 40;
const ATTEMPT = '{"at":1,"durationMs":2,"status":200';
/** More than one transaction erases. */
const MANY = 2_600;

let history: History;
beforeAll(async () => {
  history = await startHistory();
  await history.partitions.ensure(range(DAYS).map((index) => TODAY - index));
});
afterAll(() => history[Symbol.asyncDispose]());
afterEach(() => history.pool.query('TRUNCATE herald.deliveries, herald.transitions'));

/** So many ms after the beginning of a day. */
const daysAgo = (days: number, ms = 0) => (TODAY - days) * DAY_MS + ms;

/** A transition at each time, with a delivery to each of two endpoints. */
async function insert(workspaceId: string, taskId: string, times: readonly number[]): Promise<void> {
  const id = (text: string) => `substring(sha256(convert_to(${text}, 'UTF8')) FOR 20)`;
  await history.pool.query(
    `WITH given AS (SELECT at, n, ${id('$1 || n')} AS transition_id
      FROM unnest($2::bigint[]) WITH ORDINALITY AS each (at, n)),
    bodies AS (INSERT INTO herald.transitions (created_at, id, body) SELECT at, transition_id, 'canary' FROM given)
    INSERT INTO herald.deliveries (created_at, settled_at, changed_at, tries, is_released, id, transition_id,
      endpoint_id, workspace_id, task_id, event, status, attempts)
    SELECT at, at, at, 1, false, ${id('$1 || n || endpoint')}, transition_id, endpoint, $3, $1, 'task.done',
      'delivered', $4 FROM given, unnest(ARRAY['ep_a', 'ep_b']) AS endpoint`,
    [taskId, times, workspaceId, `[${ATTEMPT},"answer":"canary"},${ATTEMPT},"h":{"s":"canary"}}]`],
  );
}

/** What there is of a Task: how many deliveries, with a body, and with what was answered; when it was erased. */
async function read(taskId: string) {
  const [row] =
    await history.rows(`SELECT count(*) AS all, count(body) AS bodies, to_json(array_agg(DISTINCT erased_at)) AS times,
    count(*) FILTER (WHERE attempts <> '[${ATTEMPT}},${ATTEMPT}}]') AS answers
    FROM herald.deliveries JOIN herald.transitions t USING (created_at)
    WHERE t.id = transition_id AND task_id = '${taskId}'`);
  return row;
}

/** The eraser with a pool whose clients do something else first. */
function eraserThat(first: (text: string, client: PoolClient) => Promise<void>, limitMs = 20_000) {
  const connect = async () => {
    const client = await history.pool.connect();
    const query = async (text: string, values?: unknown[]) => {
      await first(text, client);
      return client.query(text, values);
    };
    return { query, release: client.release.bind(client) } as unknown as PoolClient;
  };
  return createHistoryEraser({ pool: { connect }, limitMs, onUnavailable: () => undefined });
}

test('an erasure locks no days but those of the Task, and none for a Task that is not there', async () => {
  await insert('ws_a', 'task_a', [daysAgo(3), daysAgo(3, 5), daysAgo(30)]);
  const locked: string[][] = [];
  const eraser = eraserThat(async (text, client) => {
    if (text !== 'COMMIT') return;
    const { rows } = await client.query<{ day: string }>(
      `SELECT DISTINCT right(relname, 8) AS day FROM pg_locks JOIN pg_class ON pg_class.oid = relation
      WHERE pid = pg_backend_pid() AND relname ~ '^(deliveries|transitions)_[0-9]{8}$' ORDER BY day`,
    );
    locked.push(rows.map(({ day }) => day));
  });
  await expect(eraser.eraseTask('ws_a', 'task_a', NOW)).resolves.toBe(NOW);
  await expect(eraser.eraseTask('ws_a', 'task_b', NOW)).resolves.toBeUndefined();
  const days = [30, 3].map((each) => new Date(daysAgo(each)).toISOString().slice(0, 10).replaceAll('-', ''));
  expect(locked).toEqual([days, []]);
  await expect(read('task_a')).resolves.toEqual({ all: 6, bodies: 0, answers: 0, times: [NOW] });
});

test('a Task of several days is erased in all of them, and others beside it stay; a second run writes nothing', async () => {
  const times = range(MANY).map((index) => daysAgo(index % 5, Math.floor(index / 7)));
  await insert('ws_a', 'task_a', times);
  await insert('ws_a', 'task_b', [times[0] ?? 0, daysAgo(9)]);
  const eraser = eraserThat(() => Promise.resolve());
  await expect(eraser.eraseTask('ws_b', 'task_a', NOW)).resolves.toBeUndefined();
  await expect(read('task_a')).resolves.toMatchObject({ bodies: 2 * MANY, answers: 2 * MANY });
  await expect(eraser.eraseTask('ws_a', 'task_a', NOW)).resolves.toBe(NOW);
  const erased = { all: 2 * MANY, bodies: 0, answers: 0, times: [NOW] };
  await expect(read('task_a')).resolves.toEqual(erased);
  await expect(read('task_b')).resolves.toMatchObject({ bodies: 4, answers: 4, times: [null] });
  const versions = () =>
    history.rows(`SELECT max(t.xmin::text::bigint) AS t, max(d.xmin::text::bigint) AS d
      FROM herald.deliveries d, herald.transitions t WHERE t.id = transition_id AND t.created_at = d.created_at`);
  const before = await versions();
  await expect(eraser.eraseTask('ws_a', 'task_a', LATER)).resolves.toBe(NOW);
  await expect(versions()).resolves.toEqual(before);
});

test('an erasure that is cut off has erased something, and the next one goes on there', async () => {
  await insert(
    'ws_a',
    'task_a',
    range(MANY).map((index) => daysAgo(2, index)),
  );
  let locks = 0;
  const cutOff = eraserThat((text) => {
    if (text === LOCK_FOR_ERASING && ++locks === 2) throw new Error('the connection is lost');
    return Promise.resolve();
  });
  await expect(cutOff.eraseTask('ws_a', 'task_a', NOW)).rejects.toThrow(HistoryUnavailableError);
  const between = await read('task_a');
  expect(between?.bodies).toBeGreaterThan(0);
  expect(between?.bodies).toBeLessThan(2 * MANY);
  expect(between?.answers).toBe(between?.bodies);
  await expect(eraserThat(() => Promise.resolve()).eraseTask('ws_a', 'task_a', LATER)).resolves.toBe(NOW);
  await expect(read('task_a')).resolves.toMatchObject({ bodies: 0, answers: 0, times: [NOW, LATER] });
});

test('what is erased is listed no more, and each Task once, however many days it lies in', async () => {
  await insert(
    'ws_a',
    'task_a',
    [1, 9, 39].map((days) => daysAgo(days)),
  );
  await insert('ws_a', 'task_b', [daysAgo(38)]);
  const eraser = eraserThat(() => Promise.resolve());
  const list = async (limit: number) => [...(await eraser.listUnerased('ws_a', limit))].sort();
  await expect(list(5)).resolves.toEqual(['task_a', 'task_b']);
  await expect(list(1)).resolves.toHaveLength(1);
  await eraser.eraseTask('ws_a', 'task_a', NOW);
  await expect(list(5)).resolves.toEqual(['task_b']);
});

describe('While it takes too long', () => {
  const options = { name: 'erasing', connections: 2, statementLimitMs: 60_000, onError: () => undefined };
  let pool: ReturnType<typeof createHistoryPool>;
  let locking: PoolClient;
  beforeEach(async () => {
    pool = createHistoryPool({ ...options, url: history.postgres.url });
    locking = await history.pool.connect();
  });
  afterEach(async () => {
    await locking.query('ROLLBACK');
    locking.release();
    await pool.end();
  });
  const countWaiting = async () =>
    (await history.rows("SELECT FROM pg_stat_activity WHERE application_name = 'erasing' AND wait_event_type = 'Lock'"))
      .length;

  test.each([
    ['a list', 'LOCK TABLE herald.transitions IN ACCESS EXCLUSIVE MODE'],
    ['an erasure', LOCK_FOR_ERASING],
  ])('%s that nobody waits for ends in PostgreSQL, too', async (what, lock) => {
    await locking.query('BEGIN');
    await locking.query(lock);
    const eraser = createHistoryEraser({ pool, limitMs: 500, onUnavailable: () => undefined });
    const asked = what === 'a list' ? eraser.listUnerased('ws_a', 5) : eraser.eraseTask('ws_a', 'task_a', NOW);
    const ended = Promise.allSettled([asked]);
    await waitFor('it to wait for the lock', async () => (await countWaiting()) === 1);
    expect(await ended).toMatchObject([{ reason: expect.any(HistoryUnavailableError) as unknown }]);
    await waitFor('nobody to wait for the lock', async () => (await countWaiting()) === 0);
  });

  test('a workspace has one erasure under way, and keeps no other from its turn', async () => {
    await locking.query('BEGIN');
    await locking.query(LOCK_FOR_MOVING);
    const eraser = createHistoryEraser({ pool, limitMs: 60_000, onUnavailable: () => undefined });
    const done: string[] = [];
    const erase = async (workspaceId: string) => {
      await eraser.eraseTask(workspaceId, 'task_a', NOW);
      done.push(workspaceId);
    };
    const erasing = range(6).map(() => erase('ws_a'));
    await waitFor('the first to wait for the mover', async () => (await countWaiting()) > 0);
    const other = erase('ws_b');
    await waitFor('the other one to wait for the mover, too', async () => (await countWaiting()) === 2);
    await locking.query('COMMIT');
    await Promise.all([other, ...erasing]);
    expect(done).toHaveLength(7);
    expect(done.indexOf('ws_b')).toBeLessThan(2);
  });

  test('who waits in vain for the turn of his workspace is not told of as an outage of history', async () => {
    await locking.query('BEGIN');
    await locking.query(LOCK_FOR_ERASING);
    const told: string[] = [];
    const eraser = createHistoryEraser({ pool, limitMs: 300, onUnavailable: ({ message }) => told.push(message) });
    const ended = await Promise.allSettled(range(6).map(() => eraser.eraseTask('ws_a', 'task_a', NOW)));
    for (const each of ended) expect(each).toMatchObject({ reason: expect.any(HistoryUnavailableError) as unknown });
    // The first, and the one that has its turn when that gives up, if its own time isn't over.
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThan(3);
  });
});
