/** Subjects that are counted at a time, each by itself. */
const SUBJECT_LIMIT = 10_000;

/**
 * Lets the first lines about each subject through in a window of time, and counts the rest: an endpoint that refuses
 * everything must not bury the log lines about all others. Of very many subjects at a time, those that come last are
 * counted as the one subject `others`.
 * @param onSuppressed called at the end of a window that had more lines
 * @returns whether to write a line about this subject
 */
export function createLogLimit(
  lines: number,
  windowMs: number,
  onSuppressed: (subject: string, lines: number) => void,
): (subject: string) => boolean {
  const counts = new Map<string, number>();
  return (given) => {
    const subject = counts.has(given) || counts.size < SUBJECT_LIMIT ? given : 'others';
    const count = (counts.get(subject) ?? 0) + 1;
    counts.set(subject, count);
    if (count === 1) {
      setTimeout(() => {
        const suppressed = (counts.get(subject) ?? 0) - lines;
        counts.delete(subject);
        if (suppressed > 0) onSuppressed(subject, suppressed);
      }, windowMs).unref();
    }
    return count <= lines;
  };
}
