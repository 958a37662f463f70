import {
  BATCH_LIMIT,
  BatchItem,
  CursorText,
  DomainError,
  type InputProblem,
  Outcome,
  PageLimit,
  type ProblemCode,
  ResolveApproval,
  TaskStatus,
  TransitionBatch,
  TransitionReport,
  ValidationError,
} from '@herald/core';
import { z } from 'zod';
import { NextCursor, readCursor, TimeText, toTime, writeCursor } from '../http/answer-fields.ts';
import { type KeyedRouteTable, operation } from '../http/operation.ts';
import { AnsweredProblem, toProblem } from '../http/problem.ts';
import { readInput } from '../http/read-input.ts';
import { stateOf } from '../http/request-state.ts';
import { AcceptedTransition, type AcceptTransitions } from './accept-transitions.ts';
import type { ReportedTransition } from './decide-transitions.ts';
import type { TaskOperations } from './task-operations.ts';
import {
  ApprovalResolved,
  TaskContentFields,
  TaskFields,
  type TaskWithContents,
  toTaskContents,
  toTaskFields,
} from './task-view.ts';

type TransitionRoutesDeps = {
  readonly acceptTransitions: AcceptTransitions;
  readonly tasks: TaskOperations;
};

/** The batch as documented: its items have a schema. */
const Batch = TransitionBatch.extend({ transitions: z.array(BatchItem).min(1).max(BATCH_LIMIT) }).meta({
  id: 'TransitionBatch',
});

/** The codes of the faults that a report can have by itself. */
const ITEM_CODES = [
  'validation_failed',
  'task_not_found',
  'invalid_transition',
  'stale_action_version',
  'workspace_full',
  'unavailable',
] satisfies ProblemCode[];

/** What became of one item: the fields of an accepted transition, or an error. One object, for generated clients. */
const BatchResult = z
  .strictObject({
    transitionId: AcceptedTransition.shape.transitionId.exactOptional(),
    taskId: AcceptedTransition.shape.taskId.exactOptional(),
    status: AcceptedTransition.shape.status.exactOptional(),
    duplicate: AcceptedTransition.shape.duplicate.exactOptional(),
    differs: AcceptedTransition.shape.differs,
    error: AnsweredProblem.exactOptional().meta({
      description: `Of an item that was refused, and then alone. Its codes: ${ITEM_CODES.map((code) => `\`${code}\``).join(', ')}.`,
    }),
  })
  .meta({ id: 'BatchResult', description: 'An accepted transition, with all its fields, or an `error`.' });

/** The answer to a batch. */
const BatchResults = z
  .strictObject({ results: z.array(BatchResult).meta({ description: 'One for each item, in order.' }) })
  .meta({ id: 'BatchResults' });

/** Query of an executor's list. */
const ListTasks = z.strictObject({
  status: TaskStatus.meta({ description: 'In this status.' }),
  limit: PageLimit,
  cursor: CursorText.exactOptional(),
});

/** A Task in an executor's list. */
const ExecutorTaskItem = z.strictObject(TaskFields).meta({ id: 'ExecutorTaskItem' });

const ExecutorTaskPage = z
  .strictObject({ tasks: z.array(ExecutorTaskItem), nextCursor: NextCursor })
  .meta({ id: 'ExecutorTaskPage' });

/** A Task as the executor sees it: its contents, and the last checkpoint. */
const ExecutorTaskView = z
  .strictObject({
    ...TaskFields,
    ...TaskContentFields,
    lastCheckpoint: z
      .strictObject({
        checkpointId: z.string(),
        canonical: z.boolean(),
        material: z.boolean(),
        outcome: Outcome.exactOptional(),
        at: TimeText,
      })
      .nullable()
      .meta({ description: 'A restarted executor continues from here. Null before the first.' }),
  })
  .meta({ id: 'ExecutorTask', description: 'A Task with its input, messages and decisions.' });

/** The reports and reads of executors. */
export const TRANSITION_ROUTES: KeyedRouteTable<TransitionRoutesDeps> = {
  tag: 'Executors',
  path: '/api/internal',
  access: 'execute',
  ids: { id: 'task', approvalId: 'approval' },
  operations: [
    operation('reportTransition', 'POST /tasks/{id}/transitions', {
      audit: 'none',
      summary: 'Report a transition of a Task',
      description:
        'A fact that is reported again changes nothing. The answer is `duplicate: true`, with `differs: true` if its contents are others.',
      body: TransitionReport,
      answer: { status: 200, description: 'Accepted. Its events will be delivered.', schema: AcceptedTransition },
      problems: ['invalid_transition', 'stale_action_version', 'workspace_full'],
      async handle({ acceptTransitions }, req, _res, report) {
        const [result] = await acceptTransitions([
          { taskId: req.params.id, report, traceparent: stateOf(req).traceparent },
        ]);
        if (result === undefined) throw new Error('every report has its result');
        if (result instanceof DomainError) throw result;
        return result;
      },
    }),
    operation('reportTransitions', 'POST /transitions', {
      audit: 'none',
      summary: `Report up to ${BATCH_LIMIT} transitions`,
      description:
        "Items are judged one by one, in order. An invalid item doesn't affect the others. The body may have 4 MiB.",
      body: TransitionBatch,
      batch: Batch,
      answer: { status: 200, description: 'A result or a problem for each item.', schema: BatchResults },
      async handle({ acceptTransitions }, req, _res, { transitions }) {
        const { requestId = '', traceparent, lossyBatch } = stateOf(req);
        const items = transitions.map((item, index) => readItem(item, traceparent, lossyBatch?.problems.get(index)));
        const reports = items.flatMap((item) => (item instanceof ValidationError ? [] : [item]));
        const accepted = (await acceptTransitions(reports)).values();
        const results = items.map((item) => {
          const result = item instanceof ValidationError ? item : accepted.next().value;
          if (result === undefined) throw new Error('every report has its result');
          return result instanceof DomainError ? { error: { ...toProblem(result), requestId } } : result;
        });
        return { results };
      },
    }),
    operation('resolveAnyApproval', 'POST /tasks/{id}/approvals/{approvalId}/resolve', {
      audit: 'path',
      summary: 'Resolve an approval request of any workspace',
      description:
        'For the page behind `action_url`, where somebody has signed in: also resolves what is not `api_resolvable`.',
      body: ResolveApproval,
      answer: { status: 200, description: 'The decision.', schema: ApprovalResolved },
      problems: ['task_closed', 'stale_action_version', 'invalid_transition'],
      async handle({ tasks }, req, _res, request) {
        const { id, approvalId } = req.params;
        const workspaceId = await tasks.findWorkspace(id);
        stateOf(req).auditFacts = { workspaceId };
        return await tasks.resolve(workspaceId, id, approvalId, request, true);
      },
    }),
    operation('listTasks', 'GET /tasks', {
      summary: 'List Tasks of all workspaces by status',
      description:
        'Longest unchanged first. A page ends at 1 MiB of JSON, with one Task at least: go on until `nextCursor` is null.',
      query: ListTasks,
      answer: { status: 200, description: 'A page.', schema: ExecutorTaskPage },
      async handle({ tasks }, _req, _res, { status, limit, cursor }) {
        const after = readCursor(cursor);
        const page = await tasks.listByStatus(status, limit, after && { updatedAt: after.at, id: after.id });
        const nextCursor = page.next ? writeCursor({ at: page.next.updatedAt, id: page.next.id }) : null;
        return { tasks: page.tasks.map(toTaskFields), nextCursor };
      },
    }),
    operation('readExecutorTask', 'GET /tasks/{id}', {
      summary: "Read a Task's input, messages and decisions",
      answer: { status: 200, description: 'The Task.', schema: ExecutorTaskView },
      async handle({ tasks }, req) {
        const { id } = req.params;
        return toExecutorTask(await tasks.findContents(await tasks.findWorkspace(id), id));
      },
    }),
  ],
};

const WHOLE_ITEM = 'the item';

/** Reads an item of a batch. A bad item is a value, so that it spoils no other. */
function readItem(
  item: unknown,
  traceparent: string | undefined,
  lossy: InputProblem | undefined,
): ReportedTransition | ValidationError {
  if (lossy) return new ValidationError([lossy], WHOLE_ITEM);
  try {
    return { ...readInput(BatchItem, item, WHOLE_ITEM), traceparent };
  } catch (error) {
    if (error instanceof ValidationError) return error;
    throw error;
  }
}

function toExecutorTask(found: TaskWithContents): z.infer<typeof ExecutorTaskView> {
  const { task } = found;
  const { checkpoint } = task;
  return {
    ...toTaskFields(task),
    ...toTaskContents(found),
    lastCheckpoint: checkpoint ? { ...checkpoint, at: toTime(checkpoint.at) } : null,
  };
}
