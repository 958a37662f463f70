import { z } from 'zod';
import { Outcome } from '../tasks/task.ts';
import type { ActionRequiredReport, ApprovalRequest, DecisionItem } from './transition-report.ts';

// Allow-lists: a field that is not named here never leaves, whatever the executor sends.

export const PublicOutcome = z
  .object({
    summary: z.string(),
    progress: z.number().min(0).max(1).exactOptional().meta({ description: 'From 0 to 1.' }),
  })
  .meta({
    id: 'PublicOutcome',
    description: 'The public-safe part of an outcome.',
    examples: [{ summary: 'The invoice is drafted.', progress: 0.5 }],
  });
export type PublicOutcome = z.infer<typeof PublicOutcome>;

export const PublicApprovalRequest = z
  .object({ id: z.string(), title: z.string(), description: z.string().exactOptional() })
  .meta({ id: 'PublicApprovalRequest', description: 'The public-safe part of the primary approval request.' });
type PublicApprovalRequest = z.infer<typeof PublicApprovalRequest>;

export const PublicDecisionItem = z
  .object({ id: z.string(), label: z.string(), description: z.string().exactOptional() })
  .meta({ id: 'PublicDecisionItem', description: 'The public-safe part of a decision item.' });
type PublicDecisionItem = z.infer<typeof PublicDecisionItem>;

export function projectOutcome({ summary, progress }: Outcome): PublicOutcome {
  return { summary, ...(progress !== undefined && { progress }) };
}

function projectApprovalRequest({ id, title, description }: ApprovalRequest): PublicApprovalRequest {
  return { id, title, ...(description !== undefined && { description }) };
}

function projectDecisionItem({ id, label, description }: DecisionItem): PublicDecisionItem {
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
    api_resolvable: report.apiResolvable ?? false,
    action_url: actionUrl,
  };
}
