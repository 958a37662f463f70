import { createHistoryPool } from '@herald/history/pool/create-history-pool';
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
  const pool = createHistoryPool({
    url: `postgres://postgres@127.0.0.1:${link.port}/postgres`,
    name: 't',
    connections: 1,
    statementLimitMs: 5_000,
    onError: () => undefined,
  });
  cleanUp.defer(() => pool.end());
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
