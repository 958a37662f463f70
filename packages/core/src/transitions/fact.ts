import { hash } from 'node:crypto';
import { canonicalJson } from '../text.ts';
import type { TaskEventName } from '../events.ts';
import { transitionIdOf, type TaskId, type TransitionId } from '../ids/ids.ts';
import type { TaskResult } from '../tasks/task.ts';
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

/** What a Task knows of a fact that was reported. */
export type KnownFact = {
  /** The sequence of its transition; 0: it emitted nothing. */
  readonly sequence: number;
  /** See `digestOf`. Records of former versions have none. */
  readonly digest?: string;
};

const DIGITS = 7;

/**
 * A digest of what a report says: seven decimal digits, which one in ten million other reports shares. A Task keeps it
 * with each checkpoint and action. Of the other facts it keeps all that they say, or they say nothing.
 */
export function digestOf(report: TransitionReport): string | undefined {
  if (report.type !== 'checkpoint' && report.type !== 'action_required') return undefined;
  const said = report.type === 'action_required' ? { ...report, apiResolvable: report.apiResolvable ?? false } : report;
  const bits = Number.parseInt(hash('sha256', canonicalJson(said)).slice(0, 8), 16);
  return String(bits % 10 ** DIGITS).padStart(DIGITS, '0');
}

export const RESULT_FIELDS = ['result', 'outcome', 'usage'] as const satisfies readonly (keyof TaskResult)[];
export type ResultField = (typeof RESULT_FIELDS)[number];

/** What of a Task's result a report says. Whatever it leaves out doesn't matter to it. */
export function resultFieldsOf(report: TransitionReport): ResultField[] {
  return report.type === 'done' ? RESULT_FIELDS.filter((name) => report[name] !== undefined) : [];
}

/** Whether a repeated report says something else than what counts. What it leaves out contradicts nothing. */
export function judgeDifference(have: TaskResult, report: TransitionReport, known: KnownFact): boolean {
  switch (report.type) {
    case 'start':
    case 'canceled':
      return false;
    case 'done':
      return resultFieldsOf(report).some((name) => {
        const kept = have[name];
        return kept !== undefined && canonicalJson(report[name]) !== canonicalJson(kept);
      });
    case 'checkpoint':
    case 'action_required':
      if (known.sequence === 0 && eventOf(report)) return true;
      return known.digest !== undefined && known.digest !== digestOf(report);
  }
}
