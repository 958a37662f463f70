import { projectOutcome, type Decision, type Message } from '@herald/core';
import type { TaskRecord } from '@herald/infra';
import { toTime } from '../http/to-time.ts';

/** A Task as its workspace sees it: the outcome in its public-safe part, the newest one while there is no final one. */
export function toTaskView(task: TaskRecord) {
  const { id, status, createdAt, updatedAt, executionWorkspaceId, callback, result, usage, checkpoint } = task;
  const outcome = task.outcome ?? checkpoint?.outcome;
  return {
    id,
    status,
    createdAt: toTime(createdAt),
    updatedAt: toTime(updatedAt),
    workspaceId: task.workspaceId,
    executionWorkspaceId,
    ...(callback && { callback: { url: callback.url, events: callback.events } }),
    ...(task.action && status === 'requires_action' && { actionVersion: task.action.version }),
    result: result ?? null,
    outcome: outcome ? projectOutcome(outcome) : null,
    usage: usage ?? null,
  };
}

export type ExecutorTask = {
  readonly task: TaskRecord;
  readonly messages: readonly Message[];
  readonly decisions: readonly Decision[];
};

/** A Task in an executor's list. Where its callback goes is none of the executor's business. */
export function toExecutorTaskItem(task: TaskRecord) {
  const { callback, ...view } = toTaskView(task);
  return view;
}

/** A Task as the executor sees it: what it works from, and where it was. */
export function toExecutorTask({ task, messages, decisions }: ExecutorTask) {
  const { checkpoint } = task;
  return {
    ...toExecutorTaskItem(task),
    input: task.input ?? null,
    messages: messages.map(({ text, createdAt }) => ({ text, createdAt: toTime(createdAt) })),
    decisions: decisions.map(({ decidedAt, ...decision }) => ({ ...decision, decidedAt: toTime(decidedAt) })),
    lastCheckpoint: checkpoint ? { ...checkpoint, at: toTime(checkpoint.at) } : null,
  };
}
