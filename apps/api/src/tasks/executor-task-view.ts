import { Outcome } from '@herald/core';
import { z } from 'zod';
import { NextCursor } from '../http/cursor.ts';
import { TimeText, toTime } from '../http/to-time.ts';
import type { TaskOperations } from './task-operations.ts';
import { TaskFields, toTaskFields } from './task-view.ts';

/** A Task in an executor's list. */
const ExecutorTaskItem = z.strictObject(TaskFields).meta({ id: 'ExecutorTaskItem' });

export const ExecutorTaskPage = z
  .strictObject({ tasks: z.array(ExecutorTaskItem), nextCursor: NextCursor })
  .meta({ id: 'ExecutorTaskPage' });

/** A Task as the executor sees it: its input, and the last checkpoint. */
export const ExecutorTaskView = z
  .strictObject({
    ...TaskFields,
    input: z.unknown().meta({ description: 'Any JSON. Null when none was given.' }),
    messages: z.array(z.strictObject({ text: z.string(), createdAt: TimeText })),
    decisions: z.array(
      z.strictObject({
        approvalId: z.string(),
        actionVersion: z.int().min(1),
        decision: z.string(),
        decidedAt: TimeText,
      }),
    ),
    lastCheckpoint: z
      .strictObject({
        checkpointId: z.string(),
        canonical: z.boolean(),
        material: z.boolean(),
        outcome: Outcome.exactOptional(),
        at: TimeText,
      })
      .nullable()
      .meta({ description: 'A restarted executor continues from here. Null before the first.' }),
  })
  .meta({ id: 'ExecutorTask', description: 'A Task with its input, messages and decisions.' });

type ExecutorTask = Awaited<ReturnType<TaskOperations['findForExecutor']>>;

export function toExecutorTask({ task, messages, decisions }: ExecutorTask): z.infer<typeof ExecutorTaskView> {
  const { checkpoint } = task;
  return {
    ...toTaskFields(task),
    input: task.input ?? null,
    messages: messages.map(({ text, createdAt }) => ({ text, createdAt: toTime(createdAt) })),
    decisions: decisions.map(({ decidedAt, ...decision }) => ({ ...decision, decidedAt: toTime(decidedAt) })),
    lastCheckpoint: checkpoint ? { ...checkpoint, at: toTime(checkpoint.at) } : null,
  };
}
