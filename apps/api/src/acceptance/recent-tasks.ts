import { isTerminal, type TaskId } from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async/bounded-map';
import type { TaskRecord } from '@herald/store/tasks/task-record';

const LIMIT = 20_000;
/** How many of the latest uses say whether it pays. */
const LATEST = 64;
/** One in so many uses is made although it doesn't pay, to see whether it does by now. */
const ONE_IN = 16;

export type RecentTasks = ReturnType<typeof createRecentTasks>;

/**
 * Remembers Tasks as this process left them, so that the next transition needs no look at them first. What it says may be old: the
 * commit checks the revision and refuses, and then the Task is read. Where other processes change the same Tasks that happens
 * often; then nothing is remembered for most.
 */
export function createRecentTasks() {
  const tasks = createBoundedMap<TaskId, TaskRecord>(LIMIT);
  let shareOfRight = 1;
  let passedOver = 0;
  return {
    /** Whoever takes a Task and changes it puts it back as it is then. */
    take(id: TaskId): TaskRecord | undefined {
      const task = tasks.get(id);
      tasks.delete(id);
      return task && shareOfRight < 0.5 && ++passedOver % ONE_IN !== 0 ? undefined : task;
    },
    /** Only small ones that may go on are kept. */
    put({ checkpoint: _checkpoint, interim: _interim, ...task }: TaskRecord): void {
      const isLarge = [task.input, task.action, task.result, task.outcome, task.usage].some(
        (part) => part !== undefined,
      );
      if (!isLarge && !isTerminal(task.status)) tasks.set(task.id, task);
    },
    /** Whether a Task that was taken was right. */
    noteUse(wasRight: boolean): void {
      shareOfRight += (Number(wasRight) - shareOfRight) / LATEST;
    },
  };
}
