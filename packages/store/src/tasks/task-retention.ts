import { isTerminal, type TaskStatus } from '@herald/core';

const DAY_MS = 86_400_000;

/** How long Tasks are kept, in ms. */
export type TaskRetention = { readonly terminalMs: number; readonly idleMs: number };

export function createTaskRetention(terminalMs: number): TaskRetention {
  return { terminalMs, idleMs: 90 * DAY_MS };
}

/** A Task's time to live from its last change, in ms. */
export function taskTtlMs(status: TaskStatus, { terminalMs, idleMs }: TaskRetention): number {
  return isTerminal(status) ? terminalMs : idleMs;
}
