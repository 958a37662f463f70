import { VERSION } from '@herald/runtime/version';
import { freePort, startRedis, type RunningRedis } from '@herald/test-kit';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../support/run-cli.ts';

let redis: RunningRedis;
let localFolder: string;
beforeAll(async () => {
  redis = await startRedis();
  localFolder = await mkdtemp(join(tmpdir(), 'herald-cli-'));
  const service = { pid: process.pid, apiUrl: 'http://127.0.0.1:8080', env: { REDIS_URL: redis.url } };
  await writeFile(join(localFolder, 'running.json'), JSON.stringify(service));
});
afterAll(async () => {
  await redis[Symbol.asyncDispose]();
  await rm(localFolder, { recursive: true });
});

test('commands work on the service of npm start, and say so on stderr alone', async () => {
  const made = await runCli(['keys', 'create', '--workspace', 'ws_x', '--name', 'trial'], {}, { localFolder });
  expect(made).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^hrld_\w+$/) as string,
    stderr: 'Using the service of npm start, at http://127.0.0.1:8080.',
  });
  const there = await runCli(['keys', 'list', '--json'], { REDIS_URL: redis.url }, { localFolder });
  expect(there).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(there.stdout)).toMatchObject([{ workspaceId: 'ws_x', name: 'trial' }]);
});

test('an address in the environment is used instead', async () => {
  const away = `redis://127.0.0.1:${await freePort()}`;
  const { code, stderr } = await runCli(['doctor', '--json'], { REDIS_URL: away }, { localFolder });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Wrong: /);
});

test('help and the version look for no service', async () => {
  for (const option of ['--version', '--help']) {
    expect(await runCli([option], {}, { localFolder })).toMatchObject({ code: 0, stderr: '' });
  }
  expect((await runCli(['--version'], {})).stdout).toBe(VERSION);
});

test('no line of the help is broken by a terminal of 80 columns', async () => {
  const { stdout } = await runCli(['--help'], {});
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});
