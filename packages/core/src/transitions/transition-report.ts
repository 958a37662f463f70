import { z } from 'zod';
import { GivenId, Json, Outcome } from '../tasks/task.ts';

/** Something a person must approve. `id`, `title` and `description` are public-safe, nothing else is. */
const ApprovalRequest = z.looseObject({
  id: GivenId,
  primary: z.boolean().default(false),
  title: z.string().min(1).max(256),
  description: z.string().max(4_096).exactOptional(),
});
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;

/** One of the answers to choose from. `id`, `label` and `description` are public-safe, nothing else is. */
const DecisionItem = z.looseObject({
  id: GivenId,
  label: z.string().min(1).max(256),
  description: z.string().max(1_024).exactOptional(),
});
export type DecisionItem = z.infer<typeof DecisionItem>;

const Start = z.strictObject({ type: z.literal('start') });

const Checkpoint = z
  .strictObject({
    type: z.literal('checkpoint'),
    checkpointId: GivenId,
    canonical: z.boolean(),
    material: z.boolean(),
    outcome: Outcome.exactOptional(),
  })
  .refine(({ canonical, material, outcome }) => outcome !== undefined || !(canonical && material), {
    path: ['outcome'],
    error: 'is required on a material canonical checkpoint: its event carries it',
  });

const ActionRequired = z
  .strictObject({
    type: z.literal('action_required'),
    actionVersion: z.int().min(1),
    approvalRequests: z.array(ApprovalRequest).min(1).max(50),
    decisionItems: z.array(DecisionItem).max(100).default([]),
    apiResolvable: z.boolean().default(false),
    outcome: Outcome,
  })
  .refine(({ approvalRequests }) => approvalRequests.filter(({ primary }) => primary).length === 1, {
    path: ['approvalRequests'],
    error: 'must mark exactly one request as primary',
  })
  .refine(({ approvalRequests }) => new Set(approvalRequests.map(({ id }) => id)).size === approvalRequests.length, {
    path: ['approvalRequests'],
    error: 'must not repeat an id',
  });

const Done = z.strictObject({
  type: z.literal('done'),
  result: Json.exactOptional(),
  outcome: Outcome.exactOptional(),
  usage: Json.exactOptional(),
});

const Canceled = z.strictObject({ type: z.literal('canceled') });

/** Body of `POST /api/internal/tasks/{id}/transitions`: one fact that the executor reports about a Task. */
export const TransitionReport = z.discriminatedUnion('type', [Start, Checkpoint, ActionRequired, Done, Canceled]);
export type TransitionReport = z.infer<typeof TransitionReport>;
export type ActionRequiredReport = z.infer<typeof ActionRequired>;

/** Transitions in one batch. */
export const BATCH_LIMIT = 500;

/** Body of `POST /api/internal/transitions`. Items are judged one by one: a bad one spoils no other. */
export const TransitionBatch = z.strictObject({ transitions: z.array(z.unknown()).min(1).max(BATCH_LIMIT) });

/** One item of a batch: a report, and the Task it is about. Problems are named by their place in the item as sent. */
export const BatchItem = z
  .looseObject({ taskId: z.string({ error: 'must be the id of a Task' }).max(64) })
  .transform(({ taskId, ...rest }, context) => {
    const report = TransitionReport.safeParse(rest);
    if (report.success) return { taskId, report: report.data };
    for (const { path, message } of report.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  });
export type BatchItem = z.infer<typeof BatchItem>;
