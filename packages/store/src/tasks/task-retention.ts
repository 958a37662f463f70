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
