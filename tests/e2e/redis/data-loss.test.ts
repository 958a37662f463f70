import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { waitFor } from '@herald/test-kit';
import { scrape } from '../../support/metrics.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { problemOf } from '../../support/problems.ts';
import { DONE, START } from '../../support/reports.ts';
import { runApp, runCli } from '../../support/run-cli.ts';
import { sendRequest } from '../../support/http-request.ts';
import { startHerald } from '../../support/start-herald.ts';

jest.setTimeout(90_000);

const SIGNED_IN = basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD);
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

test('FLUSHALL under way: nobody is ready, nothing is accepted, it is logged and counted, and nothing begins anew by itself', async () => {
  await using herald = await startHerald({ topology: 'single', env: { ...OPERATOR_ENV, SECRETS_KEY } });
  const [[api], [worker]] = [herald.apis, herald.workers];
  const workspace = await herald.createWorkspace();
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START);
  const lossShownBy = async () => [
    (await scrape(api?.origin ?? '', SIGNED_IN)).sum('herald_data_lost'),
    (await scrape(worker?.origin ?? '')).sum('herald_data_lost'),
  ];
  expect(await lossShownBy()).toEqual([0, 0]);

  await herald.redis.flushall();
  // Nobody has noticed yet, and the key isn't found.
  const first = await herald.executor.tryReport(task.id, DONE);
  expect(problemOf(first)).toMatchObject({ status: 503, code: 'unavailable' });
  await waitFor('both to notice', lossShownBy, { until: ([a, b]) => a === 1 && b === 1 });
  for (const { origin } of [...herald.apis, ...herald.workers]) {
    // The last answer is remembered for a moment.
    const answer = await waitFor('readiness', () => fetch(`${origin}/readyz`), {
      until: ({ status }) => status === 503,
    });
    expect(await answer.json()).toMatchObject({
      status: 'unavailable',
      problems: [{ code: 'data_lost', sentence: expect.stringContaining('stop every API and worker') as string }],
    });
  }
  const refused = await herald.executor.tryReport(task.id, DONE);
  expect(problemOf(refused)).toMatchObject({ status: 503, code: 'unavailable' });
  expect(refused.headers['retry-after']).toBeDefined();
  expect((await herald.request('GET', '/healthz')).status).toBe(200);
  expect(herald.logs().split('"data.lost"')).toHaveLength(3); // once by each

  const env = { REDIS_URL: herald.server.url, SECRETS_KEY, WORKER_PORT: '0' };
  const another = await runApp('worker', env);
  expect({ code: another.code, lines: another.stderr.split('\n').length }).toEqual({ code: 1, lines: 1 });
  expect(another.stderr).toContain('The data in this Redis vanished while APIs or workers worked on it');
  expect((await runCli(['doctor'], env)).stdout).toContain(another.stderr);
  expect(await herald.redis.exists(GLOBAL_KEYS.shards)).toBe(0);

  await Promise.all([...herald.apis, ...herald.workers].map((each) => each.stop()));
  await herald.redis.del(GLOBAL_KEYS.dataLost); // as it leaves by itself
  const begun = await herald.startApi();
  expect((await sendRequest(begun.origin, 'GET', '/readyz')).status).toBe(200);
  expect(await herald.redis.hgetall(GLOBAL_KEYS.shards)).toMatchObject({ count: '1' });
});

test('a Redis that keeps nothing and is restarted has lost the data, too', async () => {
  await using herald = await startHerald({ topology: 'single' });
  await herald.server.kill();
  await herald.server.restart();
  await waitFor('both to notice', () => herald.logs().split('"data.lost"').length === 3, 20_000);
  expect((await herald.request('GET', '/readyz')).body).toMatchObject({ problems: [{ code: 'data_lost' }] });
});
