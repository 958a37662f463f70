/** Subjects that are counted at a time, each by itself. */
const SUBJECT_LIMIT = 10_000;

/**
 * Lets the first lines about each subject through in a window of time, and counts the rest: an endpoint that refuses
 * everything must not bury the log lines about all others. Of very many subjects at a time, those that come last are
 * counted as the one subject `others`.
 * @param onSuppressed called at the end of a window that had more lines
 */
export function createLogLimit(
  lines: number,
  windowMs: number,
  onSuppressed: (subject: string, lines: number) => void,
) {
  const windows = new Map<string, { count: number; readonly timer: NodeJS.Timeout }>();
  const end = (subject: string): void => {
    const { count = 0, timer } = windows.get(subject) ?? {};
    clearTimeout(timer);
    windows.delete(subject);
    if (count > lines) onSuppressed(subject, count - lines);
  };
  return {
    /** Whether to write a line about this subject. */
    admits: (given: string): boolean => {
      const subject = windows.has(given) || windows.size < SUBJECT_LIMIT ? given : 'others';
      const window = windows.get(subject) ?? { count: 0, timer: setTimeout(end, windowMs, subject).unref() };
      windows.set(subject, window);
      window.count++;
      return window.count <= lines;
    },
    /** Ends all windows. */
    close: (): void => {
      for (const subject of windows.keys()) end(subject);
    },
  };
}
