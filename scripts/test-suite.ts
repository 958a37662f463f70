import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { JEST } from './suite/jest-command.ts';
import { describeBoth, filesToRunAgain, type JestReport } from './suite/second-run.ts';

/** Runs jest, and returns its exit status. With a path it writes a report there as well. */
function runJest(args: readonly string[], report?: string): number {
  const more = report === undefined ? [] : ['--json', `--outputFile=${report}`];
  return spawnSync(process.execPath, [...JEST, ...args, ...more], { stdio: 'inherit' }).status ?? 1;
}

/** Undefined when jest ended before it ran a test, and said why. */
function readReport(path: string): JestReport | undefined {
  if (!existsSync(path)) return undefined;
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as JestReport;
  return { testResults: testResults.map((file) => ({ ...file, name: relative(process.cwd(), file.name) })) };
}

/** Runs the tests. The files that failed run once more, without others beside them, and both runs are told. */
function runTwice(args: readonly string[], dir: string): number {
  const [firstPath, secondPath] = [join(dir, 'first.json'), join(dir, 'second.json')] as const;
  const status = runJest(args, firstPath);
  const first = readReport(firstPath);
  const files = first ? filesToRunAgain(first) : [];
  if (status === 0 || first === undefined || files.length === 0) return status;

  console.log(`\nOnce more, without other tests: ${files.join(', ')}`);
  const secondStatus = runJest(['-i', '--runTestsByPath', ...files], secondPath);
  const second = readReport(secondPath);
  if (second === undefined) return secondStatus || status;
  console.log(describeBoth(first, second));
  return secondStatus;
}

const args = process.argv.slice(2);
if (process.env.CI === 'true') {
  const dir = mkdtempSync(join(tmpdir(), 'herald-suite-'));
  try {
    process.exitCode = runTwice(args, dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
} else {
  process.exitCode = runJest(args);
}
