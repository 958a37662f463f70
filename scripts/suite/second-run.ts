/** What is read of a report that jest writes with `--json`. */
export type JestReport = {
  readonly testResults: readonly JestFile[];
};

type JestFile = {
  /** Path. */
  readonly name: string;
  readonly status: 'passed' | 'failed';
  readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
};

/** When more files fail, Herald is broken, or the machine is. */
const MOST = 3;

/** The files that are worth a second run: none when nothing failed, or too much did. */
export function filesToRunAgain({ testResults }: JestReport): string[] {
  const failed = testResults.filter(isFailed).map(({ name }) => name);
  return failed.length <= MOST ? failed : [];
}

/**
 * What to say after both runs: the tests that failed in the first, and as the last line the counts of both, each file
 * as it ended last.
 */
export function describeBoth(first: JestReport, second: JestReport): string {
  const again = new Set(second.testResults.map(({ name }) => name));
  const files = [...first.testResults.filter(({ name }) => !again.has(name)), ...second.testResults];
  return [
    'Failed in the first run, see above. Mend what passed only in the second: it fails for somebody, some day.',
    ...first.testResults.filter(isFailed).flatMap(nameFailures),
    countFiles(files),
  ].join('\n');
}

function isFailed({ status }: { readonly status: string }): boolean {
  return status === 'failed';
}

function nameFailures({ name, assertionResults }: JestFile): string[] {
  const failed = assertionResults.filter(isFailed);
  return failed.length === 0 ? [`  ${name}`] : failed.map(({ fullName }) => `  ${name}: ${fullName}`);
}

/** A file that failed outside of its tests counts as one that failed. */
function countFiles(files: readonly JestFile[]): string {
  const all = files.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  const count = (...wanted: readonly string[]) => all.filter((status) => wanted.includes(status)).length;
  const notLoaded = files.filter((file) => isFailed(file) && !file.assertionResults.some(isFailed)).length;
  return toPlainLine(count('passed'), count('failed') + notLoaded, count('pending', 'todo'));
}

/** The last line of a run of tests, such as `42 passed, 0 failed, 3 skipped`. `.ci/run` reads it. */
export function toPlainLine(passed: number, failed: number, skipped: number): string {
  const line = `${String(passed)} passed, ${String(failed)} failed`;
  return skipped > 0 ? `${line}, ${String(skipped)} skipped` : line;
}
