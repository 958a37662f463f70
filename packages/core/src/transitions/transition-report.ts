import { z } from 'zod';
import { GivenId, Json, Outcome } from '../tasks/task.ts';
import { rule } from '../text.ts';

/** It stands in the path that resolves the request, from which URL parsers drop `.` and `..` (RFC 3986, section 5.2.4). */
const ApprovalRequestId = GivenId.refine(
  (id) => id !== '.' && id !== '..',
  'must not be . or .., which are dropped from a path: nobody could resolve the request',
);

const ApprovalRequest = z
  .looseObject({
    id: ApprovalRequestId.meta({
      description: 'Names the request when it is resolved. Not `.` or `..`. Public-safe on the primary request.',
    }),
    primary: z
      .boolean()
      .default(false)
      .meta({ description: 'True on exactly one request. Resolving it sets the Task running.' }),
    title: z.string().min(1).max(256).meta({ description: 'Public-safe on the primary request.' }),
    description: z.string().max(4_096).exactOptional().meta({ description: 'Public-safe on the primary request.' }),
  })
  .meta({
    id: 'ApprovalRequest',
    description:
      'Something that a person must approve. Webhooks carry the `id`, `title` and `description` of the primary request: these are public-safe. Every other field, and every other request, never leaves.',
  });
type ApprovalRequest = z.infer<typeof ApprovalRequest>;

const DecisionItem = z
  .looseObject({
    id: GivenId.meta({ description: 'Public-safe.' }),
    label: z.string().min(1).max(256).meta({ description: 'Public-safe.' }),
    description: z.string().max(1_024).exactOptional().meta({ description: 'Public-safe.' }),
  })
  .meta({
    id: 'DecisionItem',
    description:
      'One of the answers to choose from. Webhooks carry its `id`, `label` and `description`: these are public-safe. Every other field never leaves.',
  });
type DecisionItem = z.infer<typeof DecisionItem>;

const Start = z
  .strictObject({ type: z.literal('start') })
  .meta({ id: 'StartReport', description: 'The Task runs. Emits nothing.' });

const Checkpoint = z
  .strictObject({
    type: z.literal('checkpoint'),
    checkpointId: GivenId.meta({
      description: 'One id is one fact: see `duplicate` in the answer.',
      examples: ['cp_1'],
    }),
    canonical: z.boolean(),
    material: z.boolean(),
    outcome: Outcome.exactOptional(),
  })
  .refine(({ canonical, material, outcome }) => outcome !== undefined || !(canonical && material), {
    path: ['outcome'],
    error: 'is required on a material canonical checkpoint: its event carries it',
  })
  .meta({
    id: 'CheckpointReport',
    description:
      'A point that the Task reached. Only a checkpoint that is `canonical` and `material` emits `task.check_in`, and it must have an `outcome`. Every other is recorded and emits nothing. It may come again under its id as canonical and material, and then emits once.',
  });

const ActionRequired = z
  .strictObject({
    type: z.literal('action_required'),
    actionVersion: z
      .int()
      .min(1)
      .meta({ description: 'Rises with every new action of the Task.', examples: [1] }),
    approvalRequests: z.array(ApprovalRequest).min(1).max(50),
    decisionItems: z.array(DecisionItem).max(100).default([]),
    apiResolvable: z
      .boolean()
      .meta({
        description:
          'Whether a key of the workspace may resolve it. Executors, and keys with the scope `approvals:any`, always may. ' +
          'Left out: receivers are told false, and a key is not refused. Public-safe.',
      })
      .exactOptional(),
    outcome: Outcome,
  })
  .refine(({ approvalRequests }) => approvalRequests.filter(({ primary }) => primary).length === 1, {
    path: ['approvalRequests'],
    error: 'must mark exactly one request as primary',
  })
  .refine(({ approvalRequests }) => new Set(approvalRequests.map(({ id }) => id)).size === approvalRequests.length, {
    path: ['approvalRequests'],
    error: 'must not repeat an id',
  })
  .meta({
    id: 'ActionRequiredReport',
    description:
      'The Task waits for a decision. Emits `task.requires_action`. A higher `actionVersion` replaces the open action. A lower one is `stale_action_version`.',
  });

const AnyResult = Json.exactOptional().meta({
  description: 'Any JSON. Read it with `GET /tasks/{id}`. Webhooks never carry it.',
});

const Done = z
  .strictObject({
    type: z.literal('done'),
    result: AnyResult,
    outcome: Outcome.exactOptional(),
    usage: AnyResult,
  })
  .meta({
    id: 'DoneReport',
    description:
      'The Task is done. Emits `task.done`, which carries none of these fields. A canceled Task refuses it, and keeps only its usage.',
  });

const Canceled = z
  .strictObject({ type: z.literal('canceled') })
  .meta({ id: 'CanceledReport', description: 'The Task is canceled. Emits `task.canceled`.' });

/** Body of `POST /api/internal/tasks/{id}/transitions`: one fact that the executor reports about a Task. */
export const TransitionReport = z
  .discriminatedUnion('type', [Start, Checkpoint, ActionRequired, Done, Canceled])
  .meta({ id: 'TransitionReport', description: 'One fact that the executor reports about a Task.' });
export type TransitionReport = z.infer<typeof TransitionReport>;
export type ActionRequiredReport = z.infer<typeof ActionRequired>;

/** Transitions that a batch may hold. */
export const BATCH_LIMIT = 500;

/** Body of `POST /api/internal/transitions`. Items are judged one by one: a bad one doesn't affect the others. */
export const TransitionBatch = z.strictObject({ transitions: z.array(z.unknown()).min(1).max(BATCH_LIMIT) });

const About = { taskId: z.string({ error: rule('must be the id of a Task') }).max(64) };

/** One item of a batch: a report, and the Task it is about. Each problem names its place in the item as it was sent. */
export const BatchItem = z
  .discriminatedUnion('type', [
    Start.safeExtend(About).meta({ id: 'StartItem' }),
    Checkpoint.safeExtend(About).meta({ id: 'CheckpointItem' }),
    ActionRequired.safeExtend(About).meta({ id: 'ActionRequiredItem' }),
    Done.safeExtend(About).meta({ id: 'DoneItem' }),
    Canceled.safeExtend(About).meta({ id: 'CanceledItem' }),
  ])
  .transform(({ taskId, ...report }) => ({ taskId, report }))
  .meta({ id: 'BatchItem', description: 'A report, and the Task it is about.' });
export type BatchItem = z.infer<typeof BatchItem>;

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
