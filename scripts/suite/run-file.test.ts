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
    text: `test('fakes', () => { jest.useFakeTimers(); jest.spyOn(Math, 'random').mockReturnValue(7); });`,
    tests: { fakes: 'passed' },
  },
  'timers-after': {
    text: `test('runs on', async () => { await new Promise((end) => setTimeout(end, 5)); expect(Math.random()).toBeLessThan(1); });`,
    tests: { 'runs on': 'passed' },
  },
};

test('a test fails by what is expected, by time, by its hooks, and by what nobody caught, and leaves the next file alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-run-file-'));
  try {
    const runner = resolve(REPOSITORY, 'tests/runner');
    const config = {
      testRunner: `${runner}/run-file.ts`,
      testEnvironment: `${runner}/bare-environment.ts`,
      transform: {},
    };
    writeFileSync(join(folder, 'jest.config.json'), JSON.stringify({ ...config, testMatch: ['<rootDir>/*.test.js'] }));
    for (const [name, { text }] of Object.entries(FILES)) writeFileSync(join(folder, `${name}.test.js`), text);
    const args = ['--rootDir', folder, '--config', join(folder, 'jest.config.json'), '-i', '--json', '--outputFile'];
    const run = spawnSync(process.execPath, [...JEST, ...args, join(folder, 'report.json')], { cwd: REPOSITORY });
    expect(run.status).toBe(1);
    const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as {
      testResults: { name: string; message: string; assertionResults: { title: string; status: string }[] }[];
    };
    expect(report.testResults).toHaveLength(Object.keys(FILES).length);
    for (const { name, message, assertionResults } of report.testResults) {
      const { tests, message: said = /^/ } = FILES[name.slice(folder.length + 1, -'.test.js'.length)] ?? {
        tests: undefined,
      };
      expect(Object.fromEntries(assertionResults.map(({ title, status }) => [title, status]))).toEqual(tests);
      expect(message).toMatch(said);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
