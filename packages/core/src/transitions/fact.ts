import type { TaskEventName } from '../events.ts';
import { transitionIdOf, type TaskId, type TransitionId } from '../ids/ids.ts';
import type { TransitionReport } from './transition-report.ts';

/** The identity of a reported fact: equal for every report of the same fact, on every path. */
export type Fact = {
  readonly transitionId: TransitionId;
  /** Names the fact among those of its Task. */
  readonly key: string;
  /** Absent: the fact emits nothing. */
  readonly event?: TaskEventName;
};

export function factOf(taskId: TaskId, report: TransitionReport): Fact {
  const key = factKeyOf(report);
  const event = eventOf(report);
  const transitionId = transitionIdOfFact(taskId, key) ?? transitionIdOf(taskId, 'start', 'start');
  return { transitionId, key, ...(event && { event }) };
}

/** The key of a report's fact: cheap, whereas the transition id costs a hash. */
export function factKeyOf(report: TransitionReport): string {
  switch (report.type) {
    case 'checkpoint':
      // A checkpoint id is one fact, even if a second report sets other flags.
      return `checkpoint:${report.checkpointId}`;
    case 'action_required':
      return `action:${report.actionVersion}`;
    case 'start':
    case 'done':
    case 'canceled':
      return report.type;
  }
}

/** The transition of a fact that may emit, by the fact's key; undefined for a start, which never emits. */
export function transitionIdOfFact(taskId: TaskId, key: string): TransitionId | undefined {
  // Checkpoint ids may contain the colon that separates them from the kind.
  const [kind = '', ...parts] = key.split(':');
  const discriminator = parts.join(':');
  switch (kind) {
    case 'checkpoint':
      return transitionIdOf(taskId, 'task.check_in', discriminator);
    case 'action':
      return transitionIdOf(taskId, 'task.requires_action', discriminator);
    case 'done':
    case 'canceled':
      return transitionIdOf(taskId, `task.${kind}`, 'terminal');
    default:
      return undefined;
  }
}

/** The event that a report emits. Only a material canonical checkpoint emits; a start emits nothing (spec section 6). */
export function eventOf(report: TransitionReport): TaskEventName | undefined {
  switch (report.type) {
    case 'start':
      return undefined;
    case 'checkpoint':
      return report.canonical && report.material ? 'task.check_in' : undefined;
    case 'action_required':
      return 'task.requires_action';
    case 'done':
    case 'canceled':
      return `task.${report.type}`;
  }
}
