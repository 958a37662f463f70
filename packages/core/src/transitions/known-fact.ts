import { hash } from 'node:crypto';
import { canonicalJson } from '../canonical-json.ts';
import type { TaskResult } from '../tasks/task.ts';
import { eventOf } from './fact.ts';
import type { TransitionReport } from './transition-report.ts';

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

const RESULT_FIELDS = ['result', 'outcome', 'usage'] as const;

/** Whether a repeated report says something else than what counts. What it leaves out contradicts nothing. */
export function judgeDifference(have: TaskResult, report: TransitionReport, known: KnownFact): boolean {
  switch (report.type) {
    case 'start':
    case 'canceled':
      return false;
    case 'done':
      return RESULT_FIELDS.some((name) => {
        const [said, kept] = [report[name], have[name]];
        return said !== undefined && kept !== undefined && canonicalJson(said) !== canonicalJson(kept);
      });
    case 'checkpoint':
    case 'action_required':
      if (known.sequence === 0 && eventOf(report)) return true;
      return known.digest !== undefined && known.digest !== digestOf(report);
  }
}
