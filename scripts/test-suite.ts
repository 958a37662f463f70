import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { findPace } from '../tests/runner/pace.ts';
import { JEST } from './suite/jest-command.ts';
import { describeRuns, filesToRunAgain, type JestReport } from './suite/more-runs.ts';

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

/** Runs the tests. The files that failed run again, without others beside them, and all runs are told. */
function runAgain(args: readonly string[], dir: string): number {
  const { isSlow, files: atOnce } = findPace();
  if (isSlow) console.log(`This machine stands still for much of the time: ${atOnce} test files at a time.`);
  const runs: JestReport[] = [];
  const run = (given: readonly string[]) => {
    const path = join(dir, `${runs.length}.json`);
    const status = runJest(given, path);
    const report = readReport(path);
    if (!report) return { status: status || 1, files: [] };
    runs.push(report);
    return { status, files: status === 0 ? [] : filesToRunAgain(runs, isSlow) };
  };
  let last = run(args);
  delete process.env.HERALD_TEST_UNTIL; // what failed must not be left out
  while (last.files.length > 0) {
    console.log(`\nOnce more, without other tests: ${last.files.join(', ')}`);
    last = run(['-i', '--runTestsByPath', ...last.files]);
  }
  if (runs.length > 1) console.log(describeRuns(runs));
  return last.status;
}

const args = process.argv.slice(2);
if (process.env.CI === 'true') {
  const dir = mkdtempSync(join(tmpdir(), 'herald-suite-'));
  try {
    process.exitCode = runAgain(args, dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
} else {
  process.exitCode = runJest(args);
}
