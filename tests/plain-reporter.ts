import { writeSync } from 'node:fs';
import { relative } from 'node:path';
import { toPlainLine } from '../scripts/suite/more-runs.ts';
import { LEFT_OUT } from './runner/pace.ts';

/** The part of jest's aggregated result that is counted here. */
interface Totals {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  /** Files that failed to load, or outside of any test: none of their tests may have been counted. */
  numRuntimeErrorTestSuites: number;
  success: boolean;
  /** Times in epoch ms. */
  testResults: readonly {
    testFilePath: string;
    testResults: readonly { title: string }[];
    perfStats: { start: number; end: number };
  }[];
}

/** Of so many files the wall time is told. */
const SLOWEST = 10;

/** Ends the run with the slowest files and one plain line on stdout, when everything else has been said: jest's own reporter prints late. */
export default class PlainReporter {
  onRunComplete(_contexts: unknown, totals: Totals): void {
    process.once('exit', () => {
      writeSync(1, `${[...findSlowest(totals), ...nameLeftOut(totals), countTotals(totals)].join('\n')}\n`);
    });
  }
}

/** The files that took longest, each with its wall time; of a few files nobody needs it. */
function findSlowest({ testResults }: Totals): string[] {
  if (testResults.length <= SLOWEST) return [];
  const timed = testResults.map(({ testFilePath, perfStats: { start, end } }) => ({
    file: relative(process.cwd(), testFilePath),
    seconds: (end - start) / 1_000,
  }));
  const slowest = timed.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  return ['Slowest files:', ...slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`)];
}

/** Files that `run-file.ts` left out. */
function nameLeftOut({ testResults }: Totals): string[] {
  const leftOut = testResults
    .filter((file) => file.testResults.some(({ title }) => title === LEFT_OUT))
    .map(({ testFilePath }) => relative(process.cwd(), testFilePath));
  return leftOut.length === 0
    ? []
    : [
        'Left out, for want of time on a slow machine. Run them by `npm run jest --`:',
        ...leftOut.map((file) => `  ${file}`),
      ];
}

function countTotals(totals: Totals): string {
  const counted = totals.numFailedTests + totals.numRuntimeErrorTestSuites;
  const failed = totals.success ? counted : Math.max(1, counted); // a run can fail without any test, and must show it
  return toPlainLine(totals.numPassedTests, failed, totals.numPendingTests + totals.numTodoTests);
}
