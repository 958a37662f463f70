import type { TaskEventName } from '../events.ts';
import { transitionIdOf, type TaskId, type TransitionId } from '../ids/ids.ts';
import type { TransitionReport } from './transition-report.ts';

/** The identity of what a report says: equal for every report of the same thing, on every path. */
export type Fact = {
  readonly transitionId: TransitionId;
  /** Names the fact among its Task's. */
  readonly key: string;
  /** What it emits, if anything. */
  readonly event?: TaskEventName;
};

/** The key of a report's fact: cheap, where the transition id costs a hash. */
export function factKeyOf(report: TransitionReport): string {
  switch (report.type) {
    case 'checkpoint':
      // A checkpoint id is one fact, however its flags describe it the second time.
      return `checkpoint:${report.checkpointId}`;
    case 'action_required':
      return `action:${report.actionVersion}`;
    case 'start':
    case 'done':
    case 'canceled':
      return report.type;
  }
}

/** Only a material canonical checkpoint emits; a start emits nothing (spec section 6). */
export function factOf(taskId: TaskId, report: TransitionReport): Fact {
  const key = factKeyOf(report);
  switch (report.type) {
    case 'start':
      return { transitionId: transitionIdOf(taskId, 'start', 'start'), key };
    case 'checkpoint':
      return {
        transitionId: transitionIdOf(taskId, 'task.check_in', report.checkpointId),
        key,
        ...(report.canonical && report.material && { event: 'task.check_in' }),
      };
    case 'action_required':
      return {
        transitionId: transitionIdOf(taskId, 'task.requires_action', String(report.actionVersion)),
        key,
        event: 'task.requires_action',
      };
    case 'done':
      return { transitionId: transitionIdOf(taskId, 'task.done', 'terminal'), key, event: 'task.done' };
    case 'canceled':
      return {
        transitionId: transitionIdOf(taskId, 'task.canceled', 'terminal'),
        key,
        event: 'task.canceled',
      };
  }
}

/** The transition of an emitting fact, by the fact's key; undefined for a fact that emits nothing whatever happens. */
export function transitionIdOfFact(taskId: TaskId, key: string): TransitionId | undefined {
  const [kind, discriminator] = splitOnce(key);
  switch (kind) {
    case 'checkpoint':
      return transitionIdOf(taskId, 'task.check_in', discriminator);
    case 'action':
      return transitionIdOf(taskId, 'task.requires_action', discriminator);
    case 'done':
      return transitionIdOf(taskId, 'task.done', 'terminal');
    case 'canceled':
      return transitionIdOf(taskId, 'task.canceled', 'terminal');
    default:
      return undefined;
  }
}

/** Checkpoint ids may contain the colon that separates them from the kind. */
function splitOnce(key: string): [string, string] {
  const at = key.indexOf(':');
  return at < 0 ? [key, ''] : [key.slice(0, at), key.slice(at + 1)];
}
