import type { ExecutorClient } from '../create-client.ts';
import { createPendingReports, type BatchLimits } from './pending-reports.ts';
import { ReporterFullError } from './reporter-full-error.ts';
import { sendBatch, type Accepted, type Report, type Transition } from './send-batch.ts';

export type ReporterOptions = Partial<BatchLimits> & {
  /** How long a report waits for others. Default: 20 ms. */
  readonly maxWaitMs?: number;
  /** Batches under way at a time. Default: 4. Reports of one Task are never in two of them. */
  readonly maxBatches?: number;
  /** Reports without an outcome. More are refused. Default: 10,000. */
  readonly maxHeld?: number;
  /** How long a batch is repeated while the service is away. Default: 5 min. */
  readonly deadlineMs?: number;
  /** Gives all reports up. They reject with its reason, and some of them may have been accepted. */
  readonly signal?: AbortSignal;
};

const encoder = new TextEncoder();

/**
 * Gathers reports into batches. Those of one Task arrive in the order in which they were given. A report that is repeated
 * after a broken connection counts once: the same fact has the same ids, and is answered with `duplicate: true`.
 */
export function createReporter(
  { reportTransitions }: Pick<ExecutorClient, 'reportTransitions'>,
  {
    maxItems = 500,
    // What proxies let pass by default. The service takes four times as much.
    maxBytes = 1_000_000,
    maxWaitMs = 20,
    maxBatches = 4,
    maxHeld = 10_000,
    deadlineMs = 300_000,
    signal,
  }: ReporterOptions = {},
) {
  const pending = createPendingReports<Report>({ maxItems, maxBytes });
  let held = 0;
  let underWay = 0;
  /** What is pending has waited long enough. */
  let isDue = false;
  let isClosed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let whenReady: (() => void)[] = [];
  let whenDrained: (() => void)[] = [];

  const flush = () => {
    while (underWay < maxBatches && (isDue || pending.count() >= maxItems)) {
      const batch = pending.take();
      if (batch.length === 0) break;
      underWay++;
      void sendBatch({ reportTransitions, deadlineMs, signal }, batch).then(() => {
        end(batch);
      });
    }
    if (pending.count() > 0) return;
    isDue = false;
    clearTimeout(timer);
    timer = undefined;
  };
  const end = (batch: readonly Report[]) => {
    underWay--;
    held -= batch.length;
    pending.release(batch);
    if (hasRoom()) {
      for (const wake of whenReady) wake();
      whenReady = [];
    }
    if (held === 0) {
      for (const wake of whenDrained) wake();
      whenDrained = [];
    }
    flush();
  };
  const fallDue = () => {
    timer = undefined;
    isDue = true;
    flush();
  };
  /** Half of all places, so that several callers who are woken at once all find one. */
  const hasRoom = () => held < maxHeld / 2;

  return {
    /**
     * Reports a transition. The promise settles with the outcome of this one.
     * @throws ProblemError when it is refused; ReporterFullError when it was not taken; what the call of its batch throws
     */
    async report(transition: Transition): Promise<Accepted> {
      if (isClosed) throw new Error('the reporter is closed');
      if (held >= maxHeld) throw new ReporterFullError(maxHeld);
      // As it is now: the caller may go on with the object.
      const json = JSON.stringify(transition);
      const { taskId } = transition;
      const settled = new Promise<Accepted>((resolve, reject) => {
        pending.add({ taskId, json, bytes: encoder.encode(json).length, resolve, reject });
      });
      held++;
      timer ??= setTimeout(fallDue, maxWaitMs);
      if (pending.count() >= maxItems) flush();
      return settled;
    },
    /** Resolves when there is room. Who awaits it before each report is not refused. */
    async ready(): Promise<void> {
      if (!hasRoom()) await new Promise<void>((resolve) => whenReady.push(resolve));
    },
    /** Takes no more reports, and waits until each that was taken has its outcome. */
    async close(): Promise<void> {
      isClosed = true;
      if (held === 0) return;
      const drained = new Promise<void>((resolve) => whenDrained.push(resolve));
      isDue = true;
      flush();
      await drained;
    },
  };
}
export type Reporter = ReturnType<typeof createReporter>;
