/** A report that waits for its turn. */
export type PendingReport = {
  readonly taskId: string;
  /** Of its JSON. */
  readonly bytes: number;
};

export type BatchLimits = {
  readonly maxItems: number;
  /** Of the JSON of all items. A batch of one may be larger: the service refuses it, and no other report with it. */
  readonly maxBytes: number;
};

/**
 * Reports of each Task in the order in which they were given, and never in two batches at the same time. The cost of a
 * report doesn't grow with how many wait, of its Task or of others.
 */
export function createPendingReports<Report extends PendingReport>({ maxItems, maxBytes }: BatchLimits) {
  /** What waits, by Task: of those of which nothing is under way, who waits longest first; and of the others. */
  const free = new Map<string, Report[]>();
  const busy = new Map<string, Report[]>();
  let count = 0;

  return {
    count: () => count,
    add(report: Report): void {
      count++;
      const reports = busy.get(report.taskId) ?? free.get(report.taskId);
      if (reports) reports.push(report);
      else free.set(report.taskId, [report]);
    },
    /** The next batch. Empty: nothing waits but for a batch that is under way. */
    take(): Report[] {
      const batch: Report[] = [];
      let bytes = 0;
      for (const [taskId, reports] of free) {
        let taken = 0;
        for (const report of reports) {
          if (batch.length === maxItems || (batch.length > 0 && bytes + report.bytes > maxBytes)) break;
          bytes += report.bytes;
          batch.push(report);
          taken++;
        }
        if (taken === 0) break;
        free.delete(taskId);
        busy.set(taskId, reports.slice(taken));
      }
      count -= batch.length;
      return batch;
    },
    /** The batch has come to its end: more of its Tasks may be reported. */
    release(batch: readonly Report[]): void {
      for (const { taskId } of batch) {
        const reports = busy.get(taskId);
        busy.delete(taskId);
        if (reports && reports.length > 0) free.set(taskId, reports);
      }
    },
  };
}
