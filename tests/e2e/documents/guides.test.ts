import { findExecutable, freePort, startProcess, type RunningProcess } from '@herald/test-kit';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  FOLLOWED_ALONE,
  FOLLOWED_BESIDE_START,
  FOLLOWED_WITH_PYTHON,
} from '../../../scripts/documents/followed-pages.ts';
import { followGuide, isPrinted } from './follow-guide.ts';
import { startShell } from './start-shell.ts';

jest.setTimeout(180_000);

const ROOT = join(import.meta.dirname, '../../..');
const PORTS_OF_PAGES = ['8080', '8081', '8082', '3000', '3001', '3443', '3444', '6390'];

/** `describe` where these programs are, as they are in CI. */
const describeWith = (...programs: string[]) =>
  programs.every((name) => findExecutable(name) !== undefined) ? describe : describe.skip;
const describeWithTools = describeWith('bash', 'curl', 'openssl');
const describeWithRedis = describeWith('bash', 'curl', 'openssl', 'redis-server', 'redis-cli');

/** Whether Python has what a page needs. */
const hasModules = ([, modules]: [page: string, modules: string]) =>
  spawnSync('python3', ['-c', `import ${modules}`], { stdio: 'ignore' }).status === 0;

let folder: string;
let ports: readonly [page: string, here: string][];
beforeAll(async () => {
  // What a reader has after `npm ci && npm run build`, so that nothing is written to this repository.
  folder = await mkdtemp(join(tmpdir(), 'herald-guides-'));
  const entries = (await readdir(ROOT)).filter((name) => name !== '.herald' && name !== '.git');
  await Promise.all(entries.map((name) => symlink(join(ROOT, name), join(folder, name))));
  await mkdir(join(folder, '.herald'), { mode: 0o700 });
  ports = await Promise.all(PORTS_OF_PAGES.map(async (page) => [page, String(await freePort())] as const));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A page with the ports that are free here. */
const adapt = (text: string) =>
  ports.reduce((changed, [page, here]) => changed.replaceAll(new RegExp(`\\b${page}\\b`, 'g'), here), text);
const env = () => ({ HERALD_DIR: join(folder, '.herald') });

describeWithTools('beside the service of npm start', () => {
  let service: RunningProcess;
  beforeAll(async () => {
    service = await startProcess({
      name: 'start',
      command: process.execPath,
      args: ['--conditions=source', join(ROOT, 'scripts/start.ts')],
      env: { ...env(), PORT: adapt('8080'), WORKER_PORT: adapt('8081') },
      readyWhen: (line) => line.startsWith('Ctrl-C stops'),
      readyDeadlineMs: 60_000,
    });
  });
  afterAll(() => service.stop());

  const here = Object.entries(FOLLOWED_WITH_PYTHON).filter(hasModules);
  const pages = [...FOLLOWED_BESIDE_START, ...here.map(([page]) => page)];
  test.each(pages)('every command of %s succeeds, and prints what the page says', async (page) => {
    await using shell = startShell(folder, env());
    expect(await followGuide(page, shell, adapt)).toEqual([]);
  });
});

for (const [page, modules] of Object.entries(FOLLOWED_WITH_PYTHON).filter((each) => !hasModules(each))) {
  test.todo(`the commands of ${page}, which are not typed: python3 with ${modules} is not on the PATH`);
}

describeWithRedis('on a machine of its own', () => {
  test.each(FOLLOWED_ALONE)('every command of %s succeeds, and prints what the page says', async (page) => {
    await using shell = startShell(folder, { HERALD_DIR: join(folder, 'nowhere') });
    expect(await followGuide(page, shell, adapt)).toEqual([]);
  });
});

test.each([
  ['{"a":"…"}', 'note\n{"a":"b"}\n', true],
  ['{"a":"…"}', '{"a":1}\n', false],
  ['one\n…two', 'one\nand two\n', true],
  ['one\ntwo', 'two\none\n', false],
])('%j is printed by %j: %s', (expected, printed, isThere) => {
  expect(isPrinted(expected, printed)).toBe(isThere);
});
