import {
  InvalidTransitionError,
  NotApiResolvableError,
  NotFoundError,
  StaleActionVersionError,
  TaskClosedError,
} from '../errors.ts';
import { isTerminal, type Decision, type ResolveApproval, type TaskState } from '../tasks/task.ts';

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
