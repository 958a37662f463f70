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

/** Reports in the order in which they were given. Those of one Task are never in two batches at the same time. */
export function createPendingReports<Report extends PendingReport>({ maxItems, maxBytes }: BatchLimits) {
  let waiting: Report[] = [];
  const busyTasks = new Set<string>();

  return {
    count: () => waiting.length,
    add(report: Report): void {
      waiting.push(report);
    },
    /** The next batch. Empty: nothing waits but for a batch that is under way. */
    take(): Report[] {
      const batch: Report[] = [];
      const left: Report[] = [];
      let bytes = 0;
      let end = 0;
      for (const report of waiting) {
        if (busyTasks.has(report.taskId)) {
          left.push(report);
        } else {
          bytes += report.bytes;
          if (batch.length === maxItems || (batch.length > 0 && bytes > maxBytes)) break;
          batch.push(report);
        }
        end++;
      }
      for (const { taskId } of batch) busyTasks.add(taskId);
      waiting = left.concat(waiting.slice(end));
      return batch;
    },
    /** The batch has come to its end: more of its Tasks may be reported. */
    release(batch: readonly Report[]): void {
      for (const { taskId } of batch) busyTasks.delete(taskId);
    },
  };
}
