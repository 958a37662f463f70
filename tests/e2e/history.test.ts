import { createKeyspace } from '@herald/store/keys/keys';
import { createHistoryPool, type HistoryPool } from '@herald/history/pool/create-history-pool';
import { startPostgres, waitFor, type RunningPostgres } from '@herald/test-kit';
import { randomBytes } from 'node:crypto';
import { runCli } from '../support/run-cli.ts';
import { scrape } from '../support/metrics.ts';
import type { HeraldProcess } from '../support/start-herald-process.ts';
import { shardKeys } from '../support/delivery-state.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';

jest.setTimeout(60_000);

let postgres: RunningPostgres;
let pool: HistoryPool;
let herald: Herald;
const [keys] = createKeyspace(1).shards;
const SECRETS_KEY = randomBytes(32).toString('base64');
const env = () => ({ SECRETS_KEY, HISTORY_URL: postgres.url, RETENTION: '50ms', HISTORY_BODIES: 'true' });

beforeAll(async () => {
  postgres = await startPostgres();
  const options = { url: postgres.url, name: 't', connections: 2, statementLimitMs: 5_000 };
  pool = createHistoryPool({ ...options, onError: () => undefined });
  await postgres.stop();
  // Deliveries matter more: the worker starts although the history is away.
  herald = await startHerald({ env: env() });
});
afterAll(async () => {
  await herald[Symbol.asyncDispose]();
  await pool.end();
  await postgres.close();
});

const readyz = async () => {
  const answer = await fetch(new URL('/readyz', herald.workers[0]?.origin));
  return { status: answer.status, text: await answer.text() };
};
const waiting = () => herald.redis.zcard(keys?.settled ?? '');
const countRows = async () =>
  Number((await pool.query<{ count: number }>('SELECT count(*) FROM herald.deliveries')).rows[0]?.count);

test('while PostgreSQL is away deliveries go on and Redis keeps them; it catches up by itself, also after kills, and loses and doubles nothing', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([200]);
  await workspace.registerReceiver({ url: receiver.url });
  const close = async (count: number) => {
    for (let index = 0; index < count; index++) {
      const task = await workspace.createTask({});
      await herald.executor.report(task.id, { type: 'start' }, { type: 'done' });
    }
  };
  await close(5);
  await waitFor('five to be delivered and to wait', async () => (await waiting()) === 5);
  const { status, text } = await waitFor('a warning', async () => {
    const answer = await readyz();
    return answer.text.includes('history_away') && answer;
  });
  expect({ status, text }).toEqual({
    status: 200,
    text: expect.stringContaining('settled deliveries stay') as unknown,
  });
  const metrics = await scrape(herald.workers[0]?.origin ?? '');
  expect(metrics.sum('herald_history_up')).toBe(0);
  expect(metrics.sum('herald_history_waiting_deliveries')).toBe(5);
  expect(metrics.sum('herald_history_set_aside_deliveries')).toBe(0);
  expect(metrics.sum('herald_history_overdue_day_seconds')).toBe(0);

  await postgres.restart();
  await waitFor('all five to have moved', async () => (await waiting()) === 0 && (await countRows()) === 5);
  await waitFor('no warning any more', async () => !(await readyz()).text.includes('history_away'));
  expect(herald.logs()).toContain('history.migrated');
  expect(herald.logs()).toContain('history.recovered');

  await postgres.kill();
  await close(3);
  await waitFor('three to be delivered and to wait', async () => (await waiting()) === 3);
  await herald.workers[0]?.kill();
  await herald.startWorker(env());
  await postgres.restart();
  await waitFor('all eight to have moved', async () => (await waiting()) === 0 && (await countRows()) === 8, 20_000);
  expect(receiver.requests).toHaveLength(8);
});

test('customers read, redeliver and erase what has moved; while PostgreSQL is away they are told', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([200]);
  const { id: receiverId } = await workspace.registerReceiver({ url: receiver.url });
  const close = async () => {
    const { id } = await workspace.createTask({});
    await herald.executor.report(id, { type: 'start' }, { type: 'done' });
    return id;
  };
  const taskIds = [await close(), await close(), await close()];
  const get = async (path: string) => {
    const { status, body } = await workspace.request('GET', path);
    return { status, body: body as Record<string, unknown> };
  };
  const list = async (query = '') => await get(`/api/public/webhooks/${receiverId}/deliveries${query}`);
  await waitFor('all to have moved', async () => receiver.requests.length === 3 && (await waiting()) === 0);

  const first = await list('?limit=2');
  const second = await list(`?limit=2&cursor=${String(first.body.nextCursor)}`);
  const shown = [first, second].flatMap(({ body }) => body.deliveries as { id: string; taskId: string }[]);
  expect(shown.map(({ taskId }) => taskId)).toEqual(taskIds.toReversed());
  const [{ id, taskId } = { id: '', taskId: '' }] = shown;
  const sent = receiver.requests.find(({ headers }) => headers['x-service-delivery'] === id);
  const details = await get(`/api/public/deliveries/${id}`);
  expect(details.body).toMatchObject({ status: 'delivered', attempts: [{ status: 200 }] });
  expect((details.body.request as { body: string }).body).toBe(sent?.rawBody.toString());
  expect((await get(`/tasks/${taskId}/deliveries`)).body).toMatchObject({ deliveries: [{ id }] });

  expect((await workspace.request('POST', `/api/public/deliveries/${id}/redeliver`)).status).toBe(202);
  await waitFor('the same bytes again', () => receiver.requests.length === 4);
  expect(receiver.requests[3]?.rawBody).toEqual(sent?.rawBody);
  expect(receiver.requests[3]?.headers['x-service-delivery']).toBe(id);
  await waitFor('it to move again', async () => (await waiting()) === 0);
  const { stdout } = await runCli(['deliveries', 'show', id, '--json'], { ...herald.topology.env, ...env() });
  expect(JSON.parse(stdout)).toMatchObject({ id, workspace: workspace.id, attemptCount: 2 });

  await postgres.stop();
  expect(await get(`/api/public/deliveries/${id}`)).toMatchObject({
    status: 503,
    body: { code: 'history_unavailable' },
  });
  expect(await list()).toMatchObject({ status: 503, body: { code: 'history_unavailable' } });
  const erase = () => workspace.request('DELETE', `/tasks/${taskId}/payloads`);
  expect(await erase()).toMatchObject({ status: 503, body: { code: 'history_unavailable' } });
  await close();
  await waitFor('the new one', async () => (await list()).status === 200);
  expect((await list()).body).toMatchObject({ deliveries: [expect.anything()], historyUnavailable: true });
  await postgres.restart();
  await waitFor('an erasure', async () => (await erase()).status === 200);
  expect((await get(`/api/public/deliveries/${id}`)).body).toMatchObject({
    request: { body: null, bodyGone: 'erased' },
  });
  expect(await workspace.request('POST', `/api/public/deliveries/${id}/redeliver`)).toMatchObject({ status: 409 });
  await waitFor('all to have moved', async () => (await waiting()) === 0);

  // The platform erases all of the workspace, of which Redis has forgotten a Task.
  await herald.redis.del(shardKeys().task(taskIds[0] ?? ''));
  expect(await herald.askAsPlatform('DELETE', workspace.id, 200)).toMatchObject({ erased: true });
  const { key } = (await herald.askAsPlatform('POST', `${workspace.id}/keys`, 201, {})) as { key: string };
  for (const each of shown) {
    const { body } = await herald.request('GET', `/api/public/deliveries/${each.id}`, { key });
    expect(body).toMatchObject({ status: 'delivered', request: { body: null, bodyGone: 'erased' } });
  }
}, 60_000);

test('the CLI tells what there is, and has nothing to migrate', async () => {
  const cli = { ...herald.topology.env, ...env() };
  await expect(runCli(['history', 'migrate'], cli)).resolves.toMatchObject({ code: 0, stdout: 'up to date' });
  await expect(runCli(['history', 'forget'], cli)).resolves.toMatchObject({
    stdout: 'this data has no history any more',
  });
  const adopted = await runCli(['history', 'adopt'], cli);
  expect(adopted.stdout).toBe(`this data has the history ${(await herald.redis.get(keys?.history ?? '')) ?? ''} now`);
  const saying = await runCli(['history', 'retention', '--yes'], cli);
  const asking = await runCli(['history', 'retention'], { ...cli, HISTORY_RETENTION: '9d' });
  expect([saying.stdout, asking.stdout]).toEqual(['days are kept for 90 days', 'days are kept for 90 days']);
  const { stdout } = await runCli(['history', 'status'], cli);
  expect(stdout).toMatch(/^PostgreSQL \S+.*, schema up to date\n\d days, .*\nnothing waits in Redis$/);
  await expect(runCli(['history', 'status'], herald.topology.env)).resolves.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('HISTORY_URL must be set') as unknown,
  });
});

test('a history that is ahead refuses no start; in the rollback that it asks for nothing expires, and all moves in the end', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([200]);
  await workspace.registerReceiver({ url: receiver.url });
  const before = await countRows();
  await pool.query("INSERT INTO herald.migrations (name, run_on) VALUES ('0099_later', now())");
  await Promise.all(herald.workers.map((worker) => worker.stop()));
  const warns = (worker: HeraldProcess, code: string) => async () =>
    (await (await fetch(new URL('/readyz', worker.origin))).text()).includes(code);

  const former = await herald.startWorker(env());
  await waitFor('a warning', warns(former, 'history_away'));
  expect(herald.logs()).toContain('the history is ahead of this release');
  await former.stop();
  const rolledBack = await herald.startWorker({ ...env(), HISTORY_URL: '' });
  await waitFor('another warning', warns(rolledBack, 'history_not_set'));
  expect(herald.logs()).toContain('history.not_set');
  const task = await workspace.createTask({});
  await herald.executor.report(task.id, { type: 'start' }, { type: 'done' });
  await waitFor('one to be delivered, and to wait', async () => (await waiting()) === 1);
  const [id = ''] = await herald.redis.zrange(keys?.settled ?? '', 0, '0');
  expect(await herald.redis.pttl(keys?.delivery(id) ?? '')).toBe(-1);
  await rolledBack.stop();

  await pool.query("DELETE FROM herald.migrations WHERE name = '0099_later'");
  await herald.startWorker(env());
  await waitFor('it to move', async () => (await waiting()) === 0 && (await countRows()) === before + 1);
});
