import type { components, operations } from '../api/api-types.ts';
import { repeatDelay } from '../calls/judge-repeat.ts';
import { wait } from '../calls/wait.ts';
import type { ExecutorOperations } from '../api/operations.ts';
import { ProblemError } from '../errors/problem-error.ts';
import type { PendingReport } from './pending-reports.ts';

type Body = operations['reportTransitions']['requestBody']['content']['application/json'];

/** One transition of a Task, as `reportTransitions` takes it. */
export type Transition = Body['transitions'][number];
export type Accepted = components['schemas']['AcceptedTransition'];

/** A report, and the promise that it settles. */
export type Report = PendingReport & {
  readonly json: string;
  readonly resolve: (accepted: Accepted) => void;
  readonly reject: (error: unknown) => void;
};

export type SendBatchDeps = {
  readonly reportTransitions: ExecutorOperations['reportTransitions'];
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
};

/** Reports a batch, and settles each of its reports. An item for which the service had no moment is reported again. */
export async function sendBatch(deps: SendBatchDeps, batch: readonly Report[]): Promise<void> {
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
        ...(signal && { signal }),
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
    if (!('error' in result)) {
      report.resolve(result);
      return false;
    }
    if (mayRepeat && result.error.code === 'unavailable') return true;
    report.reject(new ProblemError(result.error));
    return false;
  });
}
