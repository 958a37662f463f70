import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { startPostgres, waitFor } from '@herald/test-kit';
import { readFile } from 'node:fs/promises';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { shardKeys } from '../../support/delivery-state.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald } from '../../support/start-herald.ts';

test('worker, API and CLI work with the roles of ops/postgres/roles.sql, which have no other rights', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const postgres = cleanUp.use(await startPostgres());
  const options = { name: 'admin', connections: 1, statementLimitMs: 5_000, onError: () => undefined };
  const admin = createHistoryPool({ url: postgres.url, ...options });
  cleanUp.defer(() => admin.end());
  await admin.query(await readFile('ops/postgres/roles.sql', 'utf8'));
  await admin.query('REVOKE ALL ON DATABASE postgres FROM PUBLIC');
  await admin.query('GRANT CONNECT ON DATABASE postgres TO herald_worker, herald_api');
  const urlOf = (role: string) => postgres.url.replace('postgres@', `${role}@`);
  const env = { HISTORY_URL: urlOf('herald_api'), RETENTION: '50ms' };
  const herald = cleanUp.use(await startHerald({ workers: 0, env }));
  const worker = await herald.startWorker({ HISTORY_URL: urlOf('herald_worker') });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const client = createDeliveryClient(workspace);
  const { taskId, toCallback } = await client.emit({ callback: { url: receiver.url } });
  await waitFor(
    'it to move',
    async () => {
      const { rows } = await admin.query<{ count: number }>('SELECT count(*) FROM herald.deliveries');
      return rows[0]?.count === 2 && (await herald.redis.zcard(shardKeys().settled)) === 0;
    },
    20_000,
  );
  await expect(client.read(toCallback)).resolves.toMatchObject({ status: 'delivered' });
  const page = await client.listByTask(taskId, {});
  expect(page.deliveries).toHaveLength(2);
  expect(page).not.toHaveProperty('historyUnavailable');
  await workspace.request('DELETE', `/tasks/${taskId}/payloads`);
  const { rows } = await admin.query('SELECT body FROM herald.transitions');
  expect(rows).toEqual([{ body: null }]);

  const cli = { ...herald.topology.env, ...env };
  for (const args of [['deliveries', 'show', toCallback], ['history', 'status'], ['doctor']]) {
    const { stdout, stderr } = await runCli(args, cli);
    expect(`${stdout}${stderr}`).not.toMatch(/permission denied|lacks a right|may not|history_away/);
  }
  const asWorker = { ...cli, HISTORY_URL: urlOf('herald_worker') };
  await expect(runCli(['history', 'migrate'], cli)).resolves.toMatchObject({ code: 1 });
  await expect(runCli(['history', 'migrate'], asWorker)).resolves.toMatchObject({ code: 0, stdout: 'up to date' });
  await expect(runCli(['history', 'retention', '--yes'], asWorker)).resolves.toMatchObject({ code: 0 });
  expect(worker.process.output()).not.toMatch(/history\.unavailable|permission denied/);

  // Workers say so, too: what has moved can still be read, and nothing more moves.
  await admin.query('ALTER DATABASE postgres SET default_transaction_read_only = on');
  const examine = async (query = '') =>
    (await runCli(['doctor'], { ...cli, HISTORY_URL: `${urlOf('herald_api')}${query}` })).stdout;
  expect(await examine()).toMatch(/^warning +history +.*takes no writes, as its default_transaction_read_only says/m);
  expect(await examine('?target_session_attrs=read-only')).toMatch(/^ok +history/m);
});
