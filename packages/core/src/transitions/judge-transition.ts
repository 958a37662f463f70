import type { TaskEventName } from '../events.ts';
import { InvalidTransitionError, StaleActionVersionError } from '../errors.ts';
import type { TransitionId } from '../ids/ids.ts';
import { isTerminal, type OpenAction, type TaskResult, type TaskState, type TaskStatus } from '../tasks/task.ts';
import { factOf } from './fact.ts';
import type { ActionRequiredReport, TransitionReport } from './transition-report.ts';

/** Fields of a Task that a transition sets. */
export type TaskChange = TaskResult & {
  readonly status: TaskStatus;
  readonly sequence: number;
  readonly action?: OpenAction;
};

export type TransitionVerdict =
  | {
      readonly kind: 'accepted';
      readonly transitionId: TransitionId;
      readonly factKey: string;
      readonly event?: TaskEventName;
      readonly change: TaskChange;
    }
  | {
      readonly kind: 'duplicate';
      readonly transitionId: TransitionId;
      /** The part of the repeated report that the Task lacks; it emits nothing. */
      readonly fill?: TaskResult;
    };

export type JudgeContext = {
  /** Whether the Task already knows the fact that the report states. */
  readonly isKnownFact: boolean;
  /** The legacy close path has no start: it may close a Task that was never reported as running. */
  readonly impliesStart?: boolean;
};

/** Decides a report against its Task. Throws `InvalidTransitionError` or `StaleActionVersionError`. */
export function judgeTransition(state: TaskState, report: TransitionReport, context: JudgeContext): TransitionVerdict {
  const { transitionId, key: factKey, event } = factOf(state.id, report);
  if (context.isKnownFact) {
    const fill = report.type === 'done' && state.erasedAt === undefined ? missingResult(state, report) : undefined;
    return { kind: 'duplicate', transitionId, ...(fill && { fill }) };
  }
  const status = nextStatus(state, report, context.impliesStart ?? false);
  return {
    kind: 'accepted',
    transitionId,
    factKey,
    ...(event && { event }),
    change: {
      status,
      sequence: event ? state.sequence + 1 : state.sequence,
      ...(report.type === 'action_required' && { action: openAction(report) }),
      ...(report.type === 'done' && missingResult({}, report)),
    },
  };
}

function nextStatus(state: TaskState, report: TransitionReport, impliesStart: boolean): TaskStatus {
  const { status } = state;
  const refuse = (): never => {
    throw new InvalidTransitionError(`a Task that is ${status} can't take a ${report.type}`);
  };
  if (isTerminal(status)) return refuse();
  switch (report.type) {
    case 'start':
      return status === 'queued' ? 'running' : refuse();
    case 'checkpoint':
      return status === 'queued' ? refuse() : status;
    case 'action_required': {
      if (status === 'queued') return refuse();
      const current = state.action?.version;
      if (current !== undefined && report.actionVersion < current) {
        throw new StaleActionVersionError(report.actionVersion, current);
      }
      return 'requires_action';
    }
    case 'done':
      return status === 'queued' && !impliesStart ? refuse() : 'done';
    case 'canceled':
      return 'canceled';
  }
}

function openAction({ actionVersion, approvalRequests }: ActionRequiredReport): OpenAction {
  const primary = approvalRequests.find((request) => request.primary)?.id;
  if (primary === undefined) throw new Error('an action has exactly one primary approval request');
  return { version: actionVersion, primary, approvals: approvalRequests.map(({ id }) => id) };
}

/** The report's result, outcome and usage that the Task doesn't have yet; undefined when it lacks none. */
function missingResult(have: TaskResult, report: TaskResult): TaskResult | undefined {
  const missing: TaskResult = {
    ...(have.result === undefined && report.result !== undefined && { result: report.result }),
    ...(have.outcome === undefined && report.outcome !== undefined && { outcome: report.outcome }),
    ...(have.usage === undefined && report.usage !== undefined && { usage: report.usage }),
  };
  return Object.keys(missing).length > 0 ? missing : undefined;
}
