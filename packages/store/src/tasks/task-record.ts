import type { Message, OpenAction, Outcome, Task, TaskId, TaskResult, TaskState } from '@herald/core';
import { TaskStatus } from '@herald/core';
import { readEvents } from '../endpoints/endpoint-record.ts';

/** The newest checkpoint of a Task, from which an executor that crashed goes on. */
export type LastCheckpoint = {
  readonly checkpointId: string;
  readonly canonical: boolean;
  readonly material: boolean;
  readonly outcome?: Outcome;
  /** Epoch ms. */
  readonly at: number;
};

export type TaskRecord = Task & { readonly checkpoint?: LastCheckpoint };

/** Fields of the Task hash that a transition sets. `rev` is not among them: the script sets it. */
export function changeFields(
  change: Partial<Pick<TaskState, 'status' | 'sequence' | 'action'>> & TaskResult & { checkpoint?: LastCheckpoint },
): string[] {
  const fields: string[] = [];
  if (change.status !== undefined) fields.push('status', change.status);
  if (change.sequence !== undefined) fields.push('seq', String(change.sequence));
  for (const name of ['action', 'result', 'outcome', 'usage', 'checkpoint'] as const) {
    if (change[name] !== undefined) fields.push(name, JSON.stringify(change[name]));
  }
  return fields;
}

/** What of a Task's hash a transition is decided on: all but the input, which is for the executor. */
export const DECIDING_FIELDS = [
  ...['ws', 'ews', 'status', 'seq', 'rev', 'at', 'upd', 'action', 'result', 'outcome', 'usage'],
  ...['cb', 'cbUrl', 'cbEvents'],
];

/** Fields of a new Task's hash. */
export function taskFields(task: Task): string[] {
  return Object.entries({
    ws: task.workspaceId,
    ews: task.executionWorkspaceId,
    status: task.status,
    seq: String(task.sequence),
    rev: task.revision,
    at: String(task.createdAt),
    upd: String(task.updatedAt),
    ...(task.input !== undefined && { input: JSON.stringify(task.input) }),
    ...(task.callback && {
      cb: task.callback.id,
      cbUrl: task.callback.url,
      cbEvents: task.callback.events.join(','),
    }),
  }).flat();
}

export function readTask(id: TaskId, fields: Record<string, string>): TaskRecord | undefined {
  const { ws, ews, status, seq, rev, at, upd, cb, cbUrl, cbEvents } = fields;
  if (ws === undefined || status === undefined) return undefined;
  const json = (name: string): unknown => {
    const text = fields[name];
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  };
  return {
    id,
    workspaceId: ws,
    executionWorkspaceId: ews ?? ws,
    status: TaskStatus.parse(status),
    sequence: Number(seq),
    revision: rev ?? '',
    createdAt: Number(at),
    updatedAt: Number(upd),
    ...(fields.input !== undefined && { input: json('input') }),
    ...(fields.action !== undefined && { action: json('action') as OpenAction }),
    ...(fields.result !== undefined && { result: json('result') }),
    ...(fields.outcome !== undefined && { outcome: json('outcome') as Outcome }),
    ...(fields.usage !== undefined && { usage: json('usage') }),
    ...(fields.checkpoint !== undefined && { checkpoint: json('checkpoint') as LastCheckpoint }),
    ...(cb !== undefined && cbUrl !== undefined && { callback: { id: cb, url: cbUrl, events: readEvents(cbEvents) } }),
  };
}

export function readMessage(text: string): Message {
  return JSON.parse(text) as Message;
}
