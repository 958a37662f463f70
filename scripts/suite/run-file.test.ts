import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { JEST } from './jest-command.ts';

const REPOSITORY = join(import.meta.dirname, '../..');

/** Each is one file, and what jest must say of its tests: by title, or of the file as a whole. */
const FILES: Readonly<Record<string, { text: string; tests: Readonly<Record<string, string>>; message?: RegExp }>> = {
  expectations: {
    text: `test('holds', () => expect(1).toBe(1)); test('fails', () => expect(1).toBe(2));
      test('asserts nothing', () => expect.hasAssertions()); test.skip('skipped', () => {}); test.todo('to do');`,
    tests: { holds: 'passed', fails: 'failed', 'asserts nothing': 'failed', skipped: 'pending', 'to do': 'todo' },
  },
  time: {
    text: `jest.setTimeout(50); test('hangs', () => new Promise(() => {})); test('ends', async () => {});`,
    tests: { hangs: 'failed', ends: 'passed' },
  },
  hooks: { text: `beforeAll(() => { throw new Error('no') }); test('begins', () => {});`, tests: { begins: 'failed' } },
  uncaught: {
    text: `test('waits', async () => { setTimeout(() => { throw new Error('late') }, 5);
      await new Promise((end) => setTimeout(end, 50)); }); test('next', () => {});`,
    tests: { waits: 'failed', next: 'passed' },
  },
  rejected: {
    text: `test('rejects', async () => { void Promise.reject(new Error('unseen'));
      await new Promise((end) => setTimeout(end, 20)); });`,
    tests: { rejects: 'failed' },
  },
  broken: { text: `throw new Error('does not load');`, tests: {}, message: /does not load/ },
  timers: {
    text: `test('fakes', () => { jest.useFakeTimers(); jest.spyOn(Math, 'max').mockReturnValue(7); });`,
    tests: { fakes: 'passed' },
  },
  'timers-after': {
    text: `test('runs on', async () => { await new Promise((end) => setTimeout(end, 5)); expect(Math.max(1, 2)).toBe(2); });`,
    tests: { 'runs on': 'passed' },
  },
};

/** Runs these files by jest in a folder of their own. Resolves to its status and report. */
function runJest(
  files: Readonly<Record<string, string>>,
  project: object = {},
  env: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'herald-run-file-'));
  try {
    const runner = resolve(REPOSITORY, 'tests/runner');
    const config = {
      testRunner: `${runner}/run-file.ts`,
      testEnvironment: `${runner}/bare-environment.ts`,
      transform: {},
      testMatch: ['<rootDir>/*.test.js'],
      ...project,
    };
    writeFileSync(join(folder, 'jest.config.json'), JSON.stringify(config));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.js`), text);
    const args = ['--rootDir', folder, '--config', join(folder, 'jest.config.json'), '-i', '--json', '--outputFile'];
    const usual = { ...process.env, HERALD_TEST_PATIENCE: '1', ...env };
    const run = spawnSync(process.execPath, [...JEST, ...args, join(folder, 'report.json')], {
      cwd: REPOSITORY,
      env: usual,
    });
    const { testResults } = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Report;
    const nameOf = (path: string) => path.slice(folder.length + 1, -'.test.js'.length);
    return { status: run.status, files: testResults.map((file) => ({ ...file, name: nameOf(file.name) })) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
};

function statusesOf({ assertionResults }: Report['testResults'][number]) {
  return Object.fromEntries(assertionResults.map(({ title, status }) => [title, status]));
}

test('a test fails by what is expected, by time, by its hooks, and by what nobody caught, and leaves the next file alone', () => {
  const run = runJest(Object.fromEntries(Object.entries(FILES).map(([name, { text }]) => [name, text])));
  expect(run.status).toBe(1);
  expect(run.files).toHaveLength(Object.keys(FILES).length);
  for (const file of run.files) {
    const { tests, message = /^/ } = FILES[file.name] ?? {};
    expect(statusesOf(file)).toEqual(tests);
    expect(file.message).toMatch(message);
  }
});

test('limits of all, of a file, of a test and of a hook are longer where a run has found its machine slow', () => {
  const wait = 'async () => await new Promise((end) => setTimeout(end, 60))';
  const files = {
    all: `test('waits', ${wait});`,
    file: `jest.setTimeout(20); test('waits', ${wait});`,
    'test and hook': `beforeAll(${wait}, 20); describe('block', () => { test('waits', ${wait}, 20); });`,
  };
  const statuses = (patience: string) =>
    runJest(files, { testTimeout: 20 }, { HERALD_TEST_PATIENCE: patience }).files.map(({ status }) => status);
  expect(statuses('1')).toEqual(['failed', 'failed', 'failed']);
  expect(statuses('50')).toEqual(['passed', 'passed', 'passed']);
});

test('a run that has taken too long leaves out end-to-end tests, and no others', () => {
  const files = { one: "test('fails', () => expect(1).toBe(2));" };
  const run = (displayName: string, untilMs: number) =>
    runJest(files, { displayName }, { HERALD_TEST_UNTIL: String(Date.now() + untilMs) }).files.map(
      ({ status }) => status,
    );
  expect(run('e2e', -1)).toEqual(['skipped']);
  expect(run('e2e', 60_000)).toEqual(['failed']);
  expect(run('integration', -1)).toEqual(['failed']);
});
