import type { TaskEventName } from '@herald/core';
import { setTimeout as pause } from 'node:timers/promises';
import type { Report } from '../tests/support/reports.ts';
import type { Accepted } from '../tests/support/workspace-client.ts';
import type { ChaosTask } from './create-task.ts';
import type { Ledger } from './ledger.ts';
import type { Effect, Insist } from './patient-client.ts';

/** A transition to report; without an event it emits none. */
export type Item = { readonly task: ChaosTask; readonly report: Report; readonly event?: TaskEventName };

export type FactReporter = {
  /** Reports a transition until it is accepted. `by`: uses the path of the legacy close or of the cancel. */
  report(item: Item, by?: 'cancel' | 'close'): Promise<Accepted>;
  /**
   * Reports many at once, and repeats those that an outage refused, until all are accepted. `mayBeFull`: also those of a
   * workspace that is full.
   */
  reportBatch(items: readonly Item[], options?: { readonly mayBeFull: boolean }): Promise<void>;
};

/** Less than the API asks for: whoever floods doesn't wait long. */
const FULL_PAUSE_MS = 300;

type ItemResult = Accepted | { readonly error: { readonly code: string } };

export function createFactReporter(executorKey: string, insist: Insist, ledger: Ledger): FactReporter {
  const accept = (
    { task, report, event }: Item,
    { transitionId }: Accepted,
    { from, by }: Pick<Effect, 'from' | 'by'>,
  ) => {
    ledger.counts.reports++;
    if (!event) return;
    const workspaceId = task.workspace.client.id;
    ledger.accept({ transitionId, taskId: task.id, workspaceId, event, from, by, report });
  };
  const ask = ({ task, report }: Item, by?: 'cancel' | 'close') => {
    if (by === undefined) {
      const path = `/api/internal/tasks/${task.id}/transitions`;
      return insist('POST', path, { key: executorKey, body: report });
    }
    const { key } = task.workspace.client;
    return insist('POST', `/tasks/${task.id}/${by}`, { key, ...(by === 'close' && { body: { status: report.type } }) });
  };
  return {
    async report(item, by) {
      const answer = await ask(item, by);
      if (answer.status !== 200) throw new Error(`${item.report.type} of ${item.task.id} was answered ${answer.text}`);
      const accepted = answer.body as Accepted;
      accept(item, accepted, answer.effect);
      return accepted;
    },
    async reportBatch(items, { mayBeFull } = { mayBeFull: false }) {
      const from = Date.now();
      for (let left = items; left.length > 0;) {
        const transitions = left.map(({ task, report }) => ({ taskId: task.id, ...report }));
        const answer = await insist('POST', '/api/internal/transitions', { key: executorKey, body: { transitions } });
        if (answer.status !== 200) throw new Error(`a batch was answered ${answer.text}`);
        const { results } = answer.body as { results: ItemResult[] };
        const refused: Item[] = [];
        const full: Item[] = [];
        for (const [index, item] of left.entries()) {
          const result = results[index];
          if (result && !('error' in result)) accept(item, result, { from, by: answer.effect.by });
          else if (result?.error.code === 'unavailable') refused.push(item);
          else if (mayBeFull && result?.error.code === 'workspace_full') full.push(item);
          else throw new Error(`a ${item.report.type} of ${item.task.id} in a batch: ${JSON.stringify(result)}`);
        }
        ledger.counts.refused += refused.length;
        ledger.counts.full += full.length;
        if (full.length > 0) await pause(FULL_PAUSE_MS);
        left = [...refused, ...full];
      }
    },
  };
}
