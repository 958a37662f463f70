/** The last line of a run of tests, such as `42 passed, 0 failed, 3 skipped`. `.ci/run` reads it. */
export function toPlainLine(passed: number, failed: number, skipped: number): string {
  const line = `${String(passed)} passed, ${String(failed)} failed`;
  return skipped > 0 ? `${line}, ${String(skipped)} skipped` : line;
}
