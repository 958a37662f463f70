import {
  InvalidTransitionError,
  NotApiResolvableError,
  NotFoundError,
  StaleActionVersionError,
  TaskClosedError,
} from '../errors.ts';
import type { TaskEventName } from '../events.ts';
import type { TransitionId } from '../ids/ids.ts';
import {
  type Decision,
  isTerminal,
  type OpenAction,
  type ResolveApproval,
  type TaskResult,
  type TaskState,
  type TaskStatus,
} from '../tasks/task.ts';
import { digestOf, factOf, judgeDifference, type KnownFact } from './fact.ts';
import {
  type ActionRequiredReport,
  projectOutcome,
  type PublicOutcome,
  type TransitionReport,
} from './transition-report.ts';

/** Fields of a Task that a transition sets. */
export type TaskChange = TaskResult & {
  readonly status: TaskStatus;
  readonly sequence: number;
  readonly action?: OpenAction;
  /** What the Task came to so far: shown while it has no final outcome. */
  readonly interim?: PublicOutcome;
};

export type TransitionVerdict =
  | {
      readonly kind: 'accepted';
      readonly transitionId: TransitionId;
      readonly factKey: string;
      /** See `digestOf`. */
      readonly digest?: string;
      readonly event?: TaskEventName;
      readonly change: TaskChange;
      /** The fact is known, and emitted nothing so far. */
      readonly isRaised?: true;
    }
  | {
      readonly kind: 'duplicate';
      readonly transitionId: TransitionId;
      /** The part of the repeated report that the Task lacks; it emits nothing. */
      readonly fill?: TaskResult;
      /** The repeated report says something else than what counts. */
      readonly differs?: true;
    }
  | {
      readonly kind: 'refused';
      readonly error: InvalidTransitionError;
      /** The part of the refused report that the Task keeps all the same. */
      readonly fill: TaskResult;
    };

export type JudgeContext = {
  /** What the Task knows of the fact that the report states; absent when it doesn't know the fact. */
  readonly known?: KnownFact | undefined;
  /** The legacy close path has no start: it may close a Task that was never reported as running. */
  readonly impliesStart?: boolean;
};

/** Decides a report against its Task. Throws `InvalidTransitionError` or `StaleActionVersionError`. */
export function judgeTransition(state: TaskState, report: TransitionReport, context: JudgeContext): TransitionVerdict {
  const { known } = context;
  const { transitionId, key: factKey, event } = factOf(state.id, report);
  // A checkpoint that emitted nothing comes again as one that emits. A closed Task emits nothing more.
  const isRaised = known?.sequence === 0 && event !== undefined && !isTerminal(state.status);
  if (known && !isRaised) {
    const fill = report.type === 'done' && state.erasedAt === undefined ? missingResult(state, report) : undefined;
    const differs = judgeDifference(state, report, known);
    return { kind: 'duplicate', transitionId, ...(fill && { fill }), ...(differs && { differs }) };
  }
  if (report.type === 'done' && state.status === 'canceled') return refuseLateDone(state, report);
  const digest = digestOf(report);
  const interim = interimOf(report);
  const status = nextStatus(state, report, context.impliesStart ?? false);
  return {
    kind: 'accepted',
    transitionId,
    factKey,
    ...(digest !== undefined && { digest }),
    ...(event && { event }),
    ...(isRaised && { isRaised }),
    change: {
      status,
      sequence: event ? state.sequence + 1 : state.sequence,
      ...(report.type === 'action_required' && { action: openAction(report) }),
      ...(interim && { interim }),
      ...(report.type === 'done' && missingResult({}, report)),
    },
  };
}

function nextStatus(state: TaskState, report: TransitionReport, impliesStart: boolean): TaskStatus {
  const { status } = state;
  const refuse = (): never => {
    const advice = status === 'queued' ? '; report its start first' : '';
    throw new InvalidTransitionError(`a Task that is ${status} takes no ${report.type}${advice}`);
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

/**
 * A Task that was canceled stays so, however far its executor came. Its usage is kept all the same: it was spent.
 * @throws InvalidTransitionError when there is no usage to keep
 */
function refuseLateDone(state: TaskState, { usage }: TaskResult): TransitionVerdict {
  const kept = usage === undefined ? '' : '. Of this report only the usage is kept, unless the Task had one already';
  const error = new InvalidTransitionError(
    `Task ${state.id} was closed as canceled before this done came, and stays canceled${kept}`,
  );
  if (usage === undefined || state.usage !== undefined) throw error;
  return { kind: 'refused', error, fill: { usage } };
}

/** The outcome of an action or a canonical checkpoint. One that is not canonical may be wrong, and is never shown. */
function interimOf(report: TransitionReport): PublicOutcome | undefined {
  if (report.type === 'action_required') return projectOutcome(report.outcome);
  if (report.type !== 'checkpoint' || !report.canonical || !report.outcome) return undefined;
  return projectOutcome(report.outcome);
}

function openAction({ actionVersion, approvalRequests, apiResolvable }: ActionRequiredReport): OpenAction {
  const primary = approvalRequests.find((request) => request.primary)?.id;
  if (primary === undefined) throw new Error('an action has exactly one primary approval request');
  return {
    version: actionVersion,
    primary,
    approvals: approvalRequests.map(({ id }) => id),
    ...(apiResolvable === false && { apiResolvable }),
  };
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

export type ResolutionVerdict =
  | { readonly kind: 'accepted'; readonly status: 'running' | 'requires_action' }
  | { readonly kind: 'duplicate' };

/**
 * Decides the resolution of an approval request. Resolving the primary request sets the Task running.
 * @param earlier the decision already taken on this request in this version, if any
 * @param mayAny whether the caller may also resolve what is not `api_resolvable`
 */
export function judgeResolution(
  state: TaskState,
  approvalId: string,
  { decision, actionVersion }: ResolveApproval,
  earlier: Decision | undefined,
  mayAny: boolean,
): ResolutionVerdict {
  const { action, status } = state;
  if (isTerminal(status)) throw new TaskClosedError(state.id, status);
  if (action?.version !== actionVersion) throw new StaleActionVersionError(actionVersion, action?.version);
  if (!action.approvals.includes(approvalId)) throw new NotFoundError('approval', approvalId);
  if (action.apiResolvable === false && !mayAny) throw new NotApiResolvableError(approvalId);
  if (earlier) {
    if (earlier.decision === decision) return { kind: 'duplicate' };
    throw new InvalidTransitionError(`approval ${approvalId} was already resolved, with another decision`);
  }
  if (status !== 'requires_action') throw new InvalidTransitionError(`Task ${state.id} waits for no decision`);
  return { kind: 'accepted', status: approvalId === action.primary ? 'running' : 'requires_action' };
}
