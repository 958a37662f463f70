import type { ApiClient } from './api-client.ts';
import { forEachOf } from './api-client.ts';

/** A transition as an executor reports it. */
export type Report = { readonly type: string } & Readonly<Record<string, unknown>>;
export type ReportedItem = { readonly taskId: string; readonly report: Report };

const OUTCOME = {
  summary: 'Read 42 of 120 invoices; three of them name a supplier that is not in the ledger.',
  progress: 0.35,
};

export const START: Report = { type: 'start' };
export const DONE: Report = {
  type: 'done',
  result: { invoices: 120, unknownSuppliers: 3 },
  outcome: OUTCOME,
  usage: { tokens: 12_345 },
};

/** Emits `task.check_in`. */
export function checkIn(id: string | number): Report {
  return { type: 'checkpoint', checkpointId: `c${id}`, canonical: true, material: true, outcome: OUTCOME };
}

/** Emits `task.requires_action`. Its version must rise with each one. */
export function actionRequired(actionVersion: number): Report {
  const approvalRequests = [{ id: 'approval', primary: true, title: 'Pay the invoice?' }];
  return { type: 'action_required', actionVersion, approvalRequests, outcome: OUTCOME };
}

/** Reports one transition. @returns its id */
export async function report(client: ApiClient, { taskId, report }: ReportedItem): Promise<string> {
  const reply = (await client.call('POST', `/api/internal/tasks/${taskId}/transitions`, report)) as Reply;
  refuseBad(reply);
  return reply.transitionId ?? '';
}

/** Reports transitions in batches. Those of one Task must be in different batches, or in order within a batch. */
export async function reportInBatches(
  client: ApiClient,
  items: readonly ReportedItem[],
  { batch, width }: { readonly batch: number; readonly width: number },
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(items.length / batch) }, (_, index) =>
    items.slice(index * batch, (index + 1) * batch),
  );
  await forEachOf(batches, width, async (items) => {
    await reportBatch(client, items);
  });
}

/** Reports transitions together. @returns their ids */
export async function reportBatch(client: ApiClient, items: readonly ReportedItem[]): Promise<string[]> {
  const transitions = items.map(({ taskId, report }) => ({ taskId, ...report }));
  const { results } = (await client.call('POST', '/api/internal/transitions', { transitions })) as {
    results: Reply[];
  };
  if (results.length !== items.length) throw new Error('a batch was not answered item by item');
  results.forEach(refuseBad);
  return results.map(({ transitionId = '' }) => transitionId);
}

type Reply = { readonly transitionId?: string; readonly duplicate?: boolean };

function refuseBad(reply: Reply): void {
  if (reply.transitionId !== undefined && reply.duplicate === false) return;
  throw new Error(`a transition was not accepted as new: ${JSON.stringify(reply)}`);
}
