import { createShardRecordStore } from '@herald/store/data/shard-record';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { waitFor } from '@herald/test-kit';
import { randomBytes } from 'node:crypto';
import { unpackPreviousRelease } from '../../support/previous-release.ts';
import { problemOf } from '../../support/problems.ts';
import { dumpRedis } from '../../support/redis-dump.ts';
import { runApp, runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { createWorkspaces, reshardTo, shellEnv } from './reshard-command.ts';

jest.setTimeout(90_000);

const SECRETS_KEY = randomBytes(32).toString('base64');
const envOf = (herald: Herald, SHARDS: number) => ({
  ...shellEnv(herald, SHARDS),
  SECRETS_KEY,
  PORT: '0',
  WORKER_PORT: '0',
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
});
const REFUSAL =
  'SHARDS is 4, but the data in this Redis is laid out for 1; set SHARDS=1 everywhere, ' +
  'or stop every API and worker and reshard the data with "herald shards reshard --to 4".';

test('the first process decides; API, worker and CLI with another SHARDS refuse with one sentence, and change nothing', async () => {
  await using herald = await startHerald({ workers: 0, env: { SECRETS_KEY } });
  expect(await createShardRecordStore(herald.redis).read()).toEqual({ count: 1, layout: 4 });
  const before = await dumpRedis(herald.redis);
  for (const app of ['api', 'worker'] as const) {
    expect(await runApp(app, envOf(herald, 4))).toEqual({ code: 1, stdout: '', stderr: REFUSAL });
  }
  for (const command of [
    ['receivers', 'list'],
    ['secrets', 'reencrypt'],
  ]) {
    expect(await runCli(command, envOf(herald, 4))).toEqual({ code: 1, stdout: '', stderr: REFUSAL });
  }
  expect(await dumpRedis(herald.redis)).toEqual(before);
  expect((await runCli(['doctor'], envOf(herald, 4))).stdout).toContain(REFUSAL);
  // `move` is its former name.
  for (const name of ['reshard', 'move']) {
    expect((await runCli(['shards', name, '--to', '0'], envOf(herald, 1))).stderr).toContain('from 1 to 64');
  }
});

test('nothing is resharded while a process lives; one that finds resharding under way answers 503, or ends', async () => {
  await using herald = await startHerald({ workers: 0, env: { SECRETS_KEY } });
  const workspace = await herald.createWorkspace();
  const running = await reshardTo(herald, 4, 1);
  expect(running).toMatchObject({ code: 1, stdout: '' });
  expect(running.stderr).toMatch(
    /^Something works on this Redis: herald-api.* at .*\. Nothing was changed; stop every/,
  );
  expect(await createShardRecordStore(herald.redis).read()).toEqual({ count: 1, layout: 4 });

  const worker = runApp('worker', envOf(herald, 1));
  await waitFor('the worker to have started', () => herald.redis.zcard(GLOBAL_KEYS.workers), {
    until: (count) => count === 1,
  });
  await createShardRecordStore(herald.redis).beginResharding(4);
  const { code, stdout } = await worker;
  expect(code).toBe(1);
  expect(stdout).toContain('"shards.resharded"');
  const answer = await waitFor('the API to notice', () => workspace.request('GET', '/api/public/webhooks'), {
    until: ({ status }) => status !== 200,
  });
  expect({ status: answer.status, code: problemOf(answer).code }).toEqual({ status: 503, code: 'unavailable' });
  expect(answer.headers['retry-after']).toBeDefined();
  expect((await herald.request('GET', '/healthz')).status).toBe(200);
  const ready = await herald.request('GET', '/readyz');
  expect({ status: ready.status, body: ready.body }).toMatchObject({
    status: 503,
    body: { problems: [{ code: 'shards_moving' }] },
  });
  await createShardRecordStore(herald.redis).dropResharding();
  await waitFor('the API to go on', () => workspace.request('GET', '/api/public/webhooks'), {
    until: ({ status }) => status === 200,
  });
});

test('data of a release that recorded no number is judged by what lies where, and then has one', async () => {
  await using previous = await unpackPreviousRelease();
  await using herald = await startHerald({
    topology: 'single', // all that this release knows
    workers: 0,
    env: { SECRETS_KEY },
    installation: previous,
  });
  for (const workspace of await createWorkspaces(herald, 4)) {
    await workspace.registerReceiver({ url: 'https://hooks.example.com/in' });
  }
  await herald.apis[0]?.stop();
  await herald.redis.del(GLOBAL_KEYS.shards);
  expect(await runApp('api', envOf(herald, 4))).toEqual({ code: 1, stdout: '', stderr: REFUSAL });
  // Its data is taken over first.
  expect((await reshardTo(herald, 4, 1)).stderr).toContain('start one of this: it takes the data over');
  await (await herald.startApi({ SHARDS: '1' }, {})).stop();
  expect((await reshardTo(herald, 4, 1)).code).toBe(0);
  expect(await createShardRecordStore(herald.redis).read()).toEqual({ count: 4, layout: 4 });
  expect((await reshardTo(herald, 4, 4)).stdout).toBe('Nothing to reshard: the data is laid out for SHARDS=4.');
});
