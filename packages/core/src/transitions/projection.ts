import type { Outcome } from '../tasks/task.ts';
import type { ActionRequiredReport, ApprovalRequest, DecisionItem } from './transition-report.ts';

// Allow-lists: what is not named here never leaves, whatever the executor sends.

/** The public-safe part of an outcome. */
export function projectOutcome({ summary, progress }: Outcome): Outcome {
  return { summary, ...(progress !== undefined && { progress }) };
}

function projectApprovalRequest({ id, title, description }: ApprovalRequest) {
  return { id, title, ...(description !== undefined && { description }) };
}

function projectDecisionItem({ id, label, description }: DecisionItem) {
  return { id, label, ...(description !== undefined && { description }) };
}

/** The public-safe part of an action, in the field names of a webhook body. */
export function projectAction(report: ActionRequiredReport, actionUrl: string) {
  const primary = report.approvalRequests.find((request) => request.primary);
  if (!primary) throw new Error('an action has exactly one primary approval request');
  return {
    approval_request: projectApprovalRequest(primary),
    action_version: report.actionVersion,
    decision_items: report.decisionItems.map(projectDecisionItem),
    api_resolvable: report.apiResolvable,
    action_url: actionUrl,
  };
}
