import { writeSync } from 'node:fs';

/** The part of jest's aggregated result that is counted here. */
interface Totals {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  /** Files that failed to load, or outside of any test: none of their tests may have been counted. */
  numRuntimeErrorTestSuites: number;
  success: boolean;
}

/** Ends the run with one plain line on stdout, when everything else has been said: jest's own reporter prints late. */
export default class PlainReporter {
  onRunComplete(_contexts: unknown, totals: Totals): void {
    process.once('exit', () => {
      writeSync(1, `${toPlainLine(totals)}\n`);
    });
  }
}

function toPlainLine(totals: Totals): string {
  const counted = totals.numFailedTests + totals.numRuntimeErrorTestSuites;
  const failed = totals.success ? counted : Math.max(1, counted); // a run can fail without any test, and must show it
  const skipped = totals.numPendingTests + totals.numTodoTests;
  const parts = [`${totals.numPassedTests} passed`, `${failed} failed`, ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return parts.join(', ');
}
