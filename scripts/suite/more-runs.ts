/** What is read of a report that jest writes with `--json`. */
export type JestReport = {
  readonly testResults: readonly JestFile[];
};

type JestFile = {
  /** Path. */
  readonly name: string;
  /** `skipped`: as a whole, also when it was left out. */
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
};

/** How often files that failed run again, and how many at most: when more fail, Herald is broken, or the machine is. */
const AGAIN = { times: 1, files: 3 };
/** A slow machine makes tests late that are right, now one and now another. */
const AGAIN_WHERE_SLOW = { times: 2, files: 20 };

/** The files that are worth another run after these: none when nothing failed, too much did, or enough were made. */
export function filesToRunAgain(runs: readonly JestReport[], isSlow = false): string[] {
  const failed = runs.at(-1)?.testResults.filter(isFailed) ?? [];
  const { times, files } = isSlow ? AGAIN_WHERE_SLOW : AGAIN;
  return runs.length <= times && failed.length <= files ? failed.map(({ name }) => name) : [];
}

/**
 * What to say after all runs: the tests that failed before the last, and as the last line the counts of all, each file as
 * it ended last.
 */
export function describeRuns(runs: readonly JestReport[]): string {
  const files = new Map(runs.flatMap(({ testResults }) => testResults.map((file) => [file.name, file] as const)));
  const failures = runs.slice(0, -1).flatMap(({ testResults }) => testResults.filter(isFailed).flatMap(nameFailures));
  return [
    'Failed before the last run, see above. Mend what passed only later: it fails for somebody, some day.',
    ...new Set(failures),
    countFiles([...files.values()]),
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
