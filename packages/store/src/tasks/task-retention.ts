import { isTerminal, type TaskStatus } from '@herald/core';

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
