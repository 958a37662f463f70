import { messageOf } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { checkpoint, START } from '../tests/support/reports.ts';
import type { ChaosTask } from './create-task.ts';
import type { Ledger } from './ledger.ts';
import type { FactReporter } from './report-facts.ts';
import type { Load } from './start-load.ts';

/** Deliveries that a workspace may have pending in a run: the others stay far below it. */
export const PENDING_LIMIT = 3_000;

const REPORTS_OF_A_TASK = 5;
/** So large that this workspace holds the most of all. */
const SUMMARY = 'x'.repeat(4_000);
const PAUSE_MS = 100;

export type FloodDeps = {
  /** All of one workspace. */
  readonly tasks: readonly ChaosTask[];
  readonly reporter: FactReporter;
  readonly ledger: Ledger;
};

/** Keeps a workspace at its limit of pending deliveries. What is refused is reported again until it is accepted. */
export function startFlood({ tasks, reporter, ledger }: FloodDeps): Load {
  const stopping = new AbortController();
  const flood = async () => {
    await reporter.reportBatch(
      tasks.map((task) => ({ task, report: START })),
      { mayBeFull: true },
    );
    for (let batch = 0; !stopping.signal.aborted; batch++) {
      const items = Array.from({ length: REPORTS_OF_A_TASK }, (_, index) =>
        tasks.map((task) => ({
          task,
          report: checkpoint(`flood-${batch}-${index}`, { outcome: { summary: SUMMARY } }),
          event: 'task.check_in' as const,
        })),
      );
      await reporter.reportBatch(items.flat(), { mayBeFull: true });
      await pause(PAUSE_MS);
    }
  };
  const flooding = flood().catch((error: unknown) => {
    ledger.violations.push(`flood: ${messageOf(error)}`);
  });
  return {
    async stop() {
      stopping.abort();
      await flooding;
    },
  };
}
