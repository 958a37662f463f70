import {
  projectOutcome,
  PublicOutcome,
  TaskIdText,
  TaskStatus,
  type Decision,
  type Endpoint,
  type Message,
  type Outcome,
} from '@herald/core';
import type { TaskRecord } from '@herald/store/tasks/task-record';
import { z } from 'zod';
import {
  NextCursor,
  ShownOnce,
  SIGNING_SECRET_EXAMPLE,
  SigningSecret,
  TimeText,
  toTime,
} from '../http/answer-fields.ts';
import { CallbackView, toCallbackView } from './callbacks.ts';

/** The fields that customers and executors see. */
export const TaskFields = {
  id: TaskIdText,
  status: TaskStatus,
  createdAt: TimeText,
  updatedAt: TimeText,
  workspaceId: z
    .string()
    .meta({ description: 'The controller workspace. Events go to its receivers and its callback.' }),
  executionWorkspaceId: z.string().meta({ description: 'Where the Task runs.' }),
  actionVersion: z
    .int()
    .min(1)
    .meta({ description: 'The version that `resolve` must name. Only while the Task requires an action.' })
    .exactOptional(),
  result: z.unknown().meta({ description: 'Any JSON. Null while there is none.' }),
  outcome: PublicOutcome.nullable().meta({
    description: 'The final one. Until then the newest of an action or a canonical checkpoint.',
  }),
  usage: z.unknown().meta({ description: 'Any JSON. Null while there is none.' }),
  erasedAt: TimeText.meta({ description: 'When its payloads were erased.' }).exactOptional(),
};

/** A Task with what was added to it. */
export type TaskWithContents = {
  readonly task: TaskRecord;
  readonly messages: readonly Message[];
  readonly decisions: readonly Decision[];
};

/** What a Task holds. Lists leave it out: it may be large. */
export const TaskContentFields = {
  input: z.unknown().meta({ description: 'Any JSON. Null when none was given.' }),
  messages: z
    .array(z.strictObject({ text: z.string(), createdAt: TimeText }).meta({ id: 'TaskMessage' }))
    .meta({ description: 'In the order in which they were added.' }),
  decisions: z
    .array(
      z
        .strictObject({
          approvalId: z.string(),
          actionVersion: z.int().min(1),
          decision: z.string(),
          decidedAt: TimeText,
        })
        .meta({ id: 'TaskDecision' }),
    )
    .meta({ description: 'In the order in which they were taken.' }),
};

const EXAMPLE = {
  id: 'task_01kes8t4a0q3m1y5b9z7x2c6vd',
  status: 'done',
  createdAt: '2030-01-31T12:00:00.000Z',
  updatedAt: '2030-01-31T12:04:10.000Z',
  workspaceId: 'ws_acme',
  executionWorkspaceId: 'ws_acme',
  result: { invoice: 'in_42' },
  outcome: { summary: 'The invoice was sent.', progress: 1 },
  usage: { tokens: 1_234 },
  callback: {
    url: 'https://hooks.example.com/invoice-42',
    events: [],
    enabled: true,
    ordering: 'none',
    orderingTimeoutSeconds: 86_400,
    orderingTimeout: '24h',
  },
};

/** A Task as its workspace sees it, with the public-safe part of the outcome. */
export const TaskView = z
  .strictObject({ ...TaskFields, callback: CallbackView.exactOptional() })
  .meta({ id: 'Task', examples: [EXAMPLE] });
export type TaskView = z.infer<typeof TaskView>;

/** A Task with what it holds. */
export const FullTaskView = z.strictObject({ ...TaskView.shape, ...TaskContentFields }).meta({
  id: 'FullTask',
  description: 'A Task with its input, messages and decisions.',
  examples: [
    {
      ...EXAMPLE,
      input: { invoice: 'in_42' },
      messages: [{ text: 'The amount includes VAT.', createdAt: '2030-01-31T12:01:00.000Z' }],
      decisions: [{ approvalId: 'pay', actionVersion: 1, decision: 'yes', decidedAt: '2030-01-31T12:03:00.000Z' }],
    },
  ],
});

/** A page of a workspace's Tasks. */
export const TaskPage = z.strictObject({ tasks: z.array(TaskView), nextCursor: NextCursor }).meta({ id: 'TaskPage' });

/** The answer to a creation. */
const CreatedTask = z
  .strictObject({
    ...TaskFields,
    callback: CallbackView.extend({ secret: SigningSecret }).meta({ id: 'CreatedCallback' }).exactOptional(),
  })
  .meta({
    id: 'CreatedTask',
    description: "A new Task. Its callback's signing secret is shown only in this answer.",
    examples: [
      {
        ...EXAMPLE,
        status: 'queued',
        updatedAt: EXAMPLE.createdAt,
        result: null,
        outcome: null,
        usage: null,
        callback: { ...EXAMPLE.callback, secret: SIGNING_SECRET_EXAMPLE },
      },
    ],
  });
export const TaskCreation = ShownOnce('TaskCreation', CreatedTask, TaskView);
export type TaskCreation = z.infer<typeof TaskCreation>;

export const MessageAdded = z
  .strictObject({ taskId: TaskIdText, text: z.string(), createdAt: TimeText })
  .meta({ id: 'MessageAdded' });

/** The answer to a decision. */
export const ApprovalResolved = z
  .strictObject({
    taskId: TaskIdText,
    approvalId: z.string(),
    decision: z.string(),
    actionVersion: z.int().min(1),
    status: TaskStatus,
    duplicate: z.boolean().meta({ description: 'The same decision was taken before. Nothing was changed.' }),
  })
  .meta({ id: 'ApprovalResolved' });
export type ApprovalResolved = z.infer<typeof ApprovalResolved>;

/** @param endpoint the record of its callback; without one nothing is sent to it */
export function toTaskView(task: TaskRecord, endpoint: Endpoint | undefined): TaskView {
  const { callback } = task;
  return {
    ...toTaskFields(task),
    ...(callback && { callback: toCallbackView(endpoint ?? { ...callback, enabled: false }) }),
  };
}

/** A Task without its callback. The executor does not see where that goes. */
export function toTaskFields(task: TaskRecord): Omit<TaskView, 'callback'> {
  const { id, status, createdAt, updatedAt, executionWorkspaceId, result, usage, erasedAt } = task;
  const outcome = findShownOutcome(task);
  return {
    id,
    status,
    createdAt: toTime(createdAt),
    updatedAt: toTime(updatedAt),
    workspaceId: task.workspaceId,
    executionWorkspaceId,
    ...(task.action && status === 'requires_action' && { actionVersion: task.action.version }),
    result: result ?? null,
    outcome: outcome ? projectOutcome(outcome) : null,
    usage: usage ?? null,
    ...(erasedAt !== undefined && { erasedAt: toTime(erasedAt) }),
  };
}

export function toTaskContents({ task, messages, decisions }: TaskWithContents) {
  return {
    input: task.input ?? null,
    messages: messages.map(({ text, createdAt }) => ({ text, createdAt: toTime(createdAt) })),
    decisions: decisions.map(({ decidedAt, ...decision }) => ({ ...decision, decidedAt: toTime(decidedAt) })),
  };
}

/** A record of a former version has no interim outcome, but it may have a checkpoint with one. */
function findShownOutcome({ outcome, interim, checkpoint }: TaskRecord): Outcome | undefined {
  return outcome ?? interim ?? (checkpoint?.canonical ? checkpoint.outcome : undefined);
}
