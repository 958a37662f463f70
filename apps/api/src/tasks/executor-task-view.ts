import { Outcome } from '@herald/core';
import { z } from 'zod';
import { NextCursor } from '../http/cursor.ts';
import { TimeText, toTime } from '../http/to-time.ts';
import { TaskContentFields, TaskFields, toTaskContents, toTaskFields, type TaskWithContents } from './task-view.ts';

/** A Task in an executor's list. */
const ExecutorTaskItem = z.strictObject(TaskFields).meta({ id: 'ExecutorTaskItem' });

export const ExecutorTaskPage = z
  .strictObject({ tasks: z.array(ExecutorTaskItem), nextCursor: NextCursor })
  .meta({ id: 'ExecutorTaskPage' });

/** A Task as the executor sees it: its contents, and the last checkpoint. */
export const ExecutorTaskView = z
  .strictObject({
    ...TaskFields,
    ...TaskContentFields,
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

export function toExecutorTask(found: TaskWithContents): z.infer<typeof ExecutorTaskView> {
  const { task } = found;
  const { checkpoint } = task;
  return {
    ...toTaskFields(task),
    ...toTaskContents(found),
    lastCheckpoint: checkpoint ? { ...checkpoint, at: toTime(checkpoint.at) } : null,
  };
}
