export type LogLimitOptions = {
  /** Lines about one thing within one window. */
  readonly lines: number;
  readonly windowMs: number;
  /** Told at the end of a window that had more. */
  readonly onSuppressed: (about: string, lines: number) => void;
};

/**
 * Lets a few lines about each thing through, and counts the rest: one endpoint that refuses all that waits for it must not
 * bury what the log says of all others.
 * @returns whether a line about this thing is to be written
 */
export function createLogLimit({ lines, windowMs, onSuppressed }: LogLimitOptions): (about: string) => boolean {
  const counts = new Map<string, number>();
  return (about) => {
    const count = (counts.get(about) ?? 0) + 1;
    counts.set(about, count);
    if (count === 1) {
      setTimeout(() => {
        const suppressed = (counts.get(about) ?? 0) - lines;
        counts.delete(about);
        if (suppressed > 0) onSuppressed(about, suppressed);
      }, windowMs).unref();
    }
    return count <= lines;
  };
}
