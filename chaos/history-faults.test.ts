import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { createPartitions, DAY_MS, listDayTables } from '@herald/history/partitions/partitions';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import { startPostgres, waitFor } from '@herald/test-kit';
import { readFile } from 'node:fs/promises';
import { createHistoryFaults } from './history-faults.ts';
import { startLink } from './link.ts';

/** "T": it was stopped by a signal. */
const stateOf = async (pid: number) => /^.*\) (\S)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1];

test('a PostgreSQL that stands still does so with all of its processes, and goes on; a killed one comes back; a link is cut', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const postgres = cleanUp.use(await startPostgres());
  const link = cleanUp.use(await startLink(postgres.port));
  const faults = cleanUp.use(createHistoryFaults(postgres, link));
  const open = (url: string, connections: number) => {
    const pool = createHistoryPool({ url, name: 't', connections, statementLimitMs: 5_000, onError: () => undefined });
    cleanUp.defer(() => pool.end());
    return pool;
  };
  const pool = open(`postgres://postgres@127.0.0.1:${link.port}/postgres`, 1);
  const ask = async () => (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
  const pid = await ask();

  await faults.begin('pause');
  for (const each of [pid, postgres.pid]) {
    await waitFor('it to stand still', async () => (await stateOf(each)) === 'T');
  }
  await faults.end('pause');
  expect(await ask()).toBe(pid);

  await faults.begin('kill');
  await expect(ask()).rejects.toThrow();
  await faults.end('kill');
  expect(await ask()).not.toBe(pid);

  await faults.begin('cut');
  await expect(ask()).rejects.toThrow();
  await faults.end('cut');
  expect(await ask()).toBeGreaterThan(0);

  // It ends nevertheless.
  await faults.begin('pause');
}, 30_000);

test('a detaching is cut off, and the day can be dropped afterwards; a reader holds on to his transaction, and lets go', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const postgres = cleanUp.use(await startPostgres());
  const faults = cleanUp.use(createHistoryFaults(postgres, cleanUp.use(await startLink(postgres.port))));
  const pool = createHistoryPool({
    url: postgres.url,
    name: 't',
    connections: 3,
    statementLimitMs: 5_000,
    onError: () => undefined,
  });
  cleanUp.defer(() => pool.end());
  await prepareHistory(pool, 'write');
  const states = async () => (await listDayTables(pool)).map(({ state }) => state);
  await faults.begin('cut-detach');
  expect(await states()).toContain('going');
  await faults.end('cut-detach');
  expect((await createPartitions(pool).dropBefore(Date.now() - 365 * DAY_MS)).failures).toEqual([]);
  expect(await states()).not.toContain('going');

  const held = async () =>
    (await pool.query("SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'")).rowCount;
  await faults.begin('hold');
  expect(await held()).toBe(1);
  await faults.end('hold');
  await waitFor('the reader to be gone', async () => (await held()) === 0);
}, 30_000);
