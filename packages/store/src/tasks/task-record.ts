import {
  isTerminal,
  orderingTimeoutOf,
  RESULT_FIELDS,
  TaskStatus,
  type PublicOutcome,
  type Task,
  type TaskChange,
  type TaskId,
  type TransitionReport,
} from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async';
import { readEvents } from '../endpoints/endpoint-record.ts';
import { GLOBAL_KEYS } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';

/** The newest checkpoint of a Task, from which an executor resumes after a crash. `at` is epoch ms. */
export type LastCheckpoint = Omit<Extract<TransitionReport, { type: 'checkpoint' }>, 'type'> & { readonly at: number };

export type TaskRecord = Task & {
  readonly checkpoint?: LastCheckpoint;
  /** See `TaskChange`. Records of former versions have none. */
  readonly interim?: PublicOutcome;
};

/** What a transition changes of a Task, apart from its revision. */
export type RecordChange = Partial<TaskChange> & { readonly checkpoint?: LastCheckpoint };

/** Fields of the Task hash that hold JSON. A transition can set all but the input, which is for the executor. */
const CHANGING_JSON = ['action', 'result', 'outcome', 'usage', 'checkpoint', 'interim'] as const;
export const JSON_FIELDS = ['input', ...CHANGING_JSON] as const;
/** Those of them that a list reads. */
export const LISTED_JSON = CHANGING_JSON;

/** Fields of the Task hash that a transition sets. The script sets `rev`. */
export function changeFields(change: RecordChange): string[] {
  const fields: string[] = [];
  if (change.status !== undefined) fields.push('status', change.status);
  if (change.sequence !== undefined) fields.push('seq', String(change.sequence));
  for (const name of CHANGING_JSON) {
    if (change[name] !== undefined) fields.push(name, JSON.stringify(change[name]));
  }
  return fields;
}

/** Fields of the Task hash that a transition is decided on, beside those of the result that its report says. */
export const DECIDING_FIELDS = [
  ...['ws', 'ews', 'status', 'seq', 'rev', 'at', 'upd', 'action'],
  ...['cb', 'cbUrl', 'cbEvents', 'cbOrd', 'erased'],
];

/** Fields of the Task hash that a list shows. */
export const LISTED_FIELDS = [...DECIDING_FIELDS, ...RESULT_FIELDS, 'checkpoint', 'interim'];

/** Fields of a new Task's hash. `cbOrd`: how long the events of its callback wait for their turn (ms), if they do. */
export function taskFields(task: Task): string[] {
  const cbOrd = task.callback && orderingTimeoutOf(task.callback);
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
      ...(cbOrd !== undefined && { cbOrd: String(cbOrd) }),
    }),
  }).flat();
}

export function readTask(id: TaskId, fields: Record<string, string>): TaskRecord | undefined {
  const { ws, ews, status, seq, rev, at, upd, erased } = fields;
  if (ws === undefined || status === undefined) return undefined;
  const parsed: Partial<Record<(typeof JSON_FIELDS)[number], unknown>> = {};
  for (const name of JSON_FIELDS) {
    const text = fields[name];
    if (text !== undefined) parsed[name] = JSON.parse(text);
  }
  return {
    id,
    workspaceId: ws,
    executionWorkspaceId: ews ?? ws,
    status: TaskStatus.parse(status),
    sequence: Number(seq),
    revision: rev ?? '',
    createdAt: Number(at),
    updatedAt: Number(upd),
    ...(parsed as Pick<TaskRecord, keyof typeof parsed>),
    ...(erased !== undefined && { erasedAt: Number(erased) }),
    ...readCallback(fields),
  };
}

function readCallback({ cb, cbUrl, cbEvents, cbOrd }: Record<string, string>): Pick<Task, 'callback'> {
  if (cb === undefined || cbUrl === undefined) return {};
  const ordering = cbOrd === undefined ? {} : ({ ordering: 'task', orderingTimeoutMs: Number(cbOrd) } as const);
  return { callback: { id: cb, url: cbUrl, events: readEvents(cbEvents), ...ordering } };
}

const DAY_MS = 86_400_000;

/** How long closed and idle Tasks are kept, in ms. */
export function createTaskRetention(terminalMs: number) {
  return { terminalMs, idleMs: 90 * DAY_MS };
}
export type TaskRetention = ReturnType<typeof createTaskRetention>;

/** A Task's time to live from its last change, in ms. */
export function taskTtlMs(status: TaskStatus, { terminalMs, idleMs }: TaskRetention): number {
  return isTerminal(status) ? terminalMs : idleMs;
}

/** How long the look-up of such a Task is kept, in ms: longer, since a Task may live longer by a part of its time. */
export function lookUpTtlMs(taskTtlMs: number): number {
  return Math.ceil(taskTtlMs * (1 + 1 / 16));
}

/** The least of it that a Task needs. */
export function leastLookUpTtlMs(taskTtlMs: number): number {
  return Math.ceil(taskTtlMs * (1 + 1 / 32));
}

const REMEMBERED_TASKS = 50_000;

/**
 * Lets the look-up Task → workspace live at least as long as the Task, which every transition prolongs. The look-up has
 * a slot of its own, so each extension is an extra command. It lives longer by a part, so that one extension in half of
 * this part is enough; then it leads nowhere, which does no harm.
 */
export function createLookUpRefresher(redis: RedisClient) {
  const extended = createBoundedMap<TaskId, { readonly at: number; readonly ttlMs: number }>(REMEMBERED_TASKS);
  return async function extendLookUp(id: TaskId, ttlMs: number): Promise<void> {
    const now = performance.now();
    const last = extended.get(id);
    const lookUpMs = lookUpTtlMs(ttlMs);
    if (last?.ttlMs === ttlMs && now - last.at < (lookUpMs - ttlMs) / 2) return;
    await redis.pexpire(GLOBAL_KEYS.taskWorkspace(id), lookUpMs);
    extended.set(id, { at: now, ttlMs });
  };
}
