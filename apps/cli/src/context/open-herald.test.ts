import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServiceEnv } from './open-herald.ts';

const API_URL = 'http://127.0.0.1:8080';
const SERVICE = { REDIS_URL: 'redis://127.0.0.1:7777', SHARDS: '3' };

let localFolder: string;
let notes: string[];
beforeEach(() => {
  localFolder = mkdtempSync(join(tmpdir(), 'herald-service-env-'));
  notes = [];
});
afterEach(() => {
  rmSync(localFolder, { recursive: true });
});

function leave(content: unknown): void {
  writeFileSync(join(localFolder, 'running.json'), typeof content === 'string' ? content : JSON.stringify(content));
}

const serviceEnv = (env: NodeJS.ProcessEnv) => createServiceEnv({ env, localFolder, note: (text) => notes.push(text) });

test('where npm start never ran the environment is taken as it is', () => {
  const find = createServiceEnv({
    env: { SHARDS: '2' },
    localFolder: `${localFolder}-none`,
    note: (text) => notes.push(text),
  });
  expect(find()).toEqual({ SHARDS: '2' });
  expect(notes).toEqual([]);
});

test('where it ran and has ended in order, that is told', () => {
  expect(serviceEnv({ SHARDS: '2' })()).toEqual({ SHARDS: '2' });
  expect(notes).toEqual(["The service of npm start doesn't run, so this takes the environment's variables."]);
});

test('the service that npm start runs is found, and told once', () => {
  leave({ pid: process.pid, apiUrl: API_URL, env: SERVICE });
  const find = serviceEnv({ REDIS_URL: '', HOME: '/home' });
  expect([find(), find()]).toEqual([
    { ...SERVICE, HOME: '/home' },
    { ...SERVICE, HOME: '/home' },
  ]);
  expect(notes).toEqual([`Using the service of npm start, at ${API_URL}.`]);
});

test('a variable that the environment has wins over that of the service', () => {
  leave({ pid: process.pid, apiUrl: API_URL, env: SERVICE });
  expect(serviceEnv({ SHARDS: '5' })()).toEqual({ ...SERVICE, SHARDS: '5' });
});

test.each(['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'])('with %s nothing is looked for', (name) => {
  leave('half a fil');
  expect(serviceEnv({ [name]: 'there' })()).toEqual({ [name]: 'there' });
  expect(notes).toEqual([]);
});

test('a service that was killed is no reason to work on another Redis', () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  leave({ pid, apiUrl: API_URL, env: SERVICE });
  expect(serviceEnv({})).toThrow(
    `The service of npm start has died: its process ${pid} is gone. Start it again, or set REDIS_URL`,
  );
});

test('a service that is not up yet says when to try again', () => {
  leave({ pid: process.pid, apiUrl: API_URL });
  expect(serviceEnv({})).toThrow('npm start is starting the service. Try again when');
});

test.each(['half a fil', '{"pid":"x"}'])('a file that holds %j is named', (content) => {
  leave(content);
  expect(serviceEnv({})).toThrow(`${join(localFolder, 'running.json')} can't be read`);
});
