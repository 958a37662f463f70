import type { components, operations } from './api/api-types.ts';
import type { ExecutorOperations } from './api/operations.ts';
import { checkMs } from './call.ts';
import { DeadlineError, ProblemError, ReporterFullError } from './errors.ts';
import { repeatDelay, wait } from './send.ts';

export type ReporterOptions = Partial<BatchLimits> & {
  /** How long a report waits for others. Default: 20 ms. */
  readonly maxWaitMs?: number;
  /** Batches under way at a time. Default: 4. Reports of one Task are never in two of them. */
  readonly maxBatches?: number;
  /** Reports without an outcome. More are refused. Default: 10,000. */
  readonly maxHeld?: number;
  /** Bytes of their JSON. More are refused. Default: 64 MB. */
  readonly maxHeldBytes?: number;
  /** How long a batch is repeated while the service is away. Default: 5 min. */
  readonly deadlineMs?: number;
  /** Gives all reports up. They reject with its reason, and some of them may have been accepted. */
  readonly signal?: AbortSignal;
};

type Body = operations['reportTransitions']['requestBody']['content']['application/json'];

/** One transition of a Task, as `reportTransitions` takes it. */
export type Transition = Body['transitions'][number];
export type Accepted = components['schemas']['AcceptedTransition'];

/** A report, and the promise that it settles. */
type Report = PendingReport & {
  readonly json: string;
  readonly resolve: (accepted: Accepted) => void;
  readonly reject: (error: unknown) => void;
};

/** What is still to be reported when `close` has come to its deadline, in its order: some of it may have been accepted. */
export type Closed = { readonly unreported: readonly Transition[] };

const encoder = new TextEncoder();
/** Places that are promised at a time, and how long: a caller that never reports must not keep one for ever. */
const MOST_PROMISED = 100;
const PROMISED_MS = 10_000;

/**
 * Gathers reports into batches. Those of one Task arrive in the order in which they were given. A report that is repeated
 * after a broken connection counts once: the same fact has the same ids, and is answered with `duplicate: true`.
 * @throws TypeError for options that can't work
 */
export function createReporter(
  { reportTransitions }: Pick<ExecutorOperations, 'reportTransitions'>,
  {
    maxItems = 500,
    // What proxies let pass by default. The service takes four times as much.
    maxBytes = 1_000_000,
    maxWaitMs = 20,
    maxBatches = 4,
    maxHeld = 10_000,
    maxHeldBytes = 64_000_000,
    deadlineMs = 300_000,
    signal,
  }: ReporterOptions = {},
) {
  for (const [name, value] of Object.entries({ maxItems, maxBytes, maxBatches, maxHeld, maxHeldBytes })) {
    if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`${name} must be a whole number above 0`);
  }
  checkMs(deadlineMs, 'deadlineMs');
  checkMs(maxWaitMs, 'maxWaitMs');
  const pending = createPendingReports<Report>({ maxItems, maxBytes });
  /** Without an outcome, in their order. */
  const held = new Set<Report>();
  let heldBytes = 0;
  let underWay = 0;
  /** What is pending has waited long enough. */
  let isDue = false;
  let isClosed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let whenDrained: (() => void)[] = [];
  const places = createPlaces((promised) => held.size + promised < maxHeld && heldBytes < maxHeldBytes);
  const givesUp = new AbortController();
  const giveUp = () => {
    givesUp.abort(signal?.reason);
  };
  if (signal?.aborted) giveUp();
  else signal?.addEventListener('abort', giveUp, { once: true });

  const flush = () => {
    while (underWay < maxBatches && (isDue || pending.count() >= maxItems)) {
      const batch = pending.take();
      if (batch.length === 0) break;
      underWay++;
      void sendBatch({ reportTransitions, deadlineMs, signal: givesUp.signal }, batch).then(() => {
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
    for (const report of batch) if (held.delete(report)) heldBytes -= report.bytes;
    pending.release(batch);
    places.offer();
    if (held.size === 0) {
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

  return {
    /**
     * Reports a transition. The promise settles with the outcome of this one. Handle its rejection: what nobody handles
     * ends a process of Node.
     * @throws ProblemError when it is refused; ReporterFullError when it was not taken; what the call of its batch throws
     */
    async report(transition: Transition): Promise<Accepted> {
      if (isClosed) throw new Error('the reporter is closed');
      // As it is now: the caller may go on with the object.
      const json = JSON.stringify(transition);
      if (!places.take()) throw new ReporterFullError(held.size, heldBytes);
      const { taskId } = transition;
      return new Promise<Accepted>((resolve, reject) => {
        const report = { taskId, json, bytes: encoder.encode(json).length, resolve, reject };
        held.add(report);
        heldBytes += report.bytes;
        pending.add(report);
        places.offer();
        timer ??= setTimeout(fallDue, maxWaitMs);
        if (pending.count() >= maxItems) flush();
      });
    },
    /** Resolves when there is a place for one report, and keeps it for the next `report`, which is then not refused. */
    async ready(): Promise<void> {
      if (isClosed) throw new Error('the reporter is closed');
      await places.reserve();
    },
    /**
     * Takes no more reports, and waits until each that was taken has its outcome, or the deadline has passed: then the
     * others reject with a DeadlineError. Default: no deadline.
     * @returns those without an outcome
     */
    async close({ deadlineMs: closeMs }: { readonly deadlineMs?: number } = {}): Promise<Closed> {
      if (closeMs !== undefined) checkMs(closeMs, 'deadlineMs');
      isClosed = true;
      places.refuse(new Error('the reporter is closed'));
      if (held.size === 0) return { unreported: [] };
      const drained = new Promise<void>((resolve) => whenDrained.push(resolve));
      isDue = true;
      flush();
      await (closeMs === undefined ? drained : endsWithin(drained, closeMs));
      signal?.removeEventListener('abort', giveUp);
      const left = [...held];
      if (closeMs !== undefined && left.length > 0) {
        const late = new DeadlineError(closeMs);
        for (const { reject } of left) reject(late);
        givesUp.abort(late);
      }
      return { unreported: left.map(({ json }) => JSON.parse(json) as Transition) };
    },
  };
}
export type Reporter = ReturnType<typeof createReporter>;

/**
 * Places of reports, promised to who waits longest. A promise is kept until the next report, or a while.
 * @param hasRoom for one more, besides those that are promised
 */
function createPlaces(hasRoom: (promised: number) => boolean) {
  /** When each promise ends, in this order. */
  let promised: number[] = [];
  const waiting = new Set<{ readonly resolve: () => void; readonly reject: (error: Error) => void }>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const forgetOld = () => {
    if ((promised[0] ?? Infinity) <= Date.now()) promised = promised.filter((endsAt) => endsAt > Date.now());
  };
  const promise = () => {
    if (promised.length >= MOST_PROMISED || !hasRoom(promised.length)) return false;
    promised.push(Date.now() + PROMISED_MS);
    return true;
  };
  const offer = () => {
    forgetOld();
    for (const waiter of waiting) {
      if (!promise()) break;
      waiting.delete(waiter);
      waiter.resolve();
    }
    clearTimeout(timer);
    const [endsAt] = promised;
    if (waiting.size > 0 && endsAt !== undefined) timer = setTimeout(offer, Math.max(1, endsAt - Date.now()));
  };
  return {
    offer,
    /** Whether there is one for a report, promised or free. */
    take: () => promised.shift() !== undefined || hasRoom(0),
    reserve: async () => {
      forgetOld();
      if (waiting.size === 0 && promise()) return;
      await new Promise<void>((resolve, reject) => {
        waiting.add({ resolve, reject });
        offer();
      });
    },
    refuse(error: Error): void {
      for (const { reject } of waiting) reject(error);
      waiting.clear();
      clearTimeout(timer);
    },
  };
}

/** Waits for it, but no longer than that. */
async function endsWithin(promise: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

type SendBatchDeps = {
  readonly reportTransitions: ExecutorOperations['reportTransitions'];
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
};

/** Reports a batch, and settles each of its reports. An item for which the service had no moment is reported again. */
async function sendBatch(deps: SendBatchDeps, batch: readonly Report[]): Promise<void> {
  const { reportTransitions, signal } = deps;
  const endsAt = Date.now() + deps.deadlineMs;
  let open = batch;
  try {
    for (let repeat = 1; ; repeat++) {
      const { results } = await reportTransitions({
        body: toBody(open),
        // Each fact is its own key. A key of the batch would keep its answer in the service's memory for a day.
        idempotencyKey: false,
        deadlineMs: endsAt - Date.now(),
        signal,
      });
      const delayMs = repeatDelay(repeat, undefined, Math.random);
      open = settle(open, results, Date.now() + delayMs < endsAt);
      if (open.length === 0) return;
      await wait(delayMs, signal);
    }
  } catch (error) {
    for (const { reject } of open) reject(error);
  }
}

/** The client sends a body that is JSON already as it is. */
function toBody(reports: readonly Report[]): Body {
  return `{"transitions":[${reports.map(({ json }) => json).join(',')}]}` as unknown as Body;
}

type Results = components['schemas']['BatchResults']['results'];

/** @returns the reports to be repeated, in their order */
function settle(reports: readonly Report[], results: Results, mayRepeat: boolean): Report[] {
  return reports.filter((report, index) => {
    const result = results[index];
    if (!result) throw new Error('the answer to a batch has too few results');
    const { error, ...accepted } = result;
    if (!error) {
      // Without an error all its fields are there.
      report.resolve(accepted as Accepted);
      return false;
    }
    if (mayRepeat && error.code === 'unavailable') return true;
    report.reject(new ProblemError(error));
    return false;
  });
}

/** A report that waits for its turn. */
type PendingReport = {
  readonly taskId: string;
  /** Of its JSON. */
  readonly bytes: number;
};

type BatchLimits = {
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
