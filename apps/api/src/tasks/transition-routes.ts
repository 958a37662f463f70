import {
  BatchItem,
  CursorText,
  DomainError,
  PageLimit,
  TASK_STATUSES,
  TransitionBatch,
  TransitionReport,
  ValidationError,
} from '@herald/core';
import type { Decision, InputProblem, Message } from '@herald/core';
import type { TaskRecord } from '@herald/store/tasks/task-record';
import { Router, type RequestHandler } from 'express';
import { z } from 'zod';
import { readCursor, writeCursor } from '../http/cursor.ts';
import { lossyBatchOf, type LossyBatch } from '../http/parse-json.ts';
import { Problem, toProblem } from '../http/problem.ts';
import { readBody, readInput, readQuery } from '../http/read-body.ts';
import { refuseMalformedIds } from '../http/refuse-malformed-ids.ts';
import { refuseOtherMethods } from '../http/refuse-other-methods.ts';
import type { TaskOperations } from './task-operations.ts';
import { toExecutorTask } from './executor-task-view.ts';
import { toTaskFields } from './task-view.ts';
import { traceparentOf } from '../http/trace-requests.ts';
import { AcceptedTransition, type AcceptTransitions } from '../acceptance/accept-transitions.ts';
import type { ReportedTransition } from '../acceptance/decide-transitions.ts';

export type TransitionRoutesDeps = {
  readonly acceptTransitions: AcceptTransitions;
  readonly tasks: Pick<TaskOperations, 'findForExecutor' | 'listByStatus'>;
  readonly parseSingle: readonly RequestHandler[];
  readonly parseBatch: readonly RequestHandler[];
};

/** The answer to a batch. */
export const BatchResults = z
  .strictObject({
    results: z
      .array(z.union([AcceptedTransition, z.strictObject({ error: Problem })]))
      .meta({ description: 'One per item, in order.' }),
  })
  .meta({ id: 'BatchResults' });
type BatchResults = z.infer<typeof BatchResults>;

/** Query of an executor's list. */
export const ListTasks = z.strictObject({
  status: z.enum(TASK_STATUSES),
  limit: PageLimit,
  cursor: CursorText.exactOptional(),
});

/** `/api/internal`: what executors report and read. */
export function createTransitionRoutes({
  acceptTransitions,
  tasks,
  parseSingle,
  parseBatch,
}: TransitionRoutesDeps): Router {
  const router = refuseMalformedIds(Router(), { id: 'task' });
  router
    .route('/tasks/:id/transitions')
    .post(...parseSingle, async (req, res) => {
      const report = readBody(TransitionReport, req);
      const [result] = await acceptTransitions([{ taskId: req.params.id, report, traceparent: traceparentOf(req) }]);
      if (result instanceof DomainError) throw result;
      res.json(result);
    })
    .all(refuseOtherMethods('POST'));
  router
    .route('/transitions')
    .post(...parseBatch, async (req, res) => {
      // What is wrong within an item is that item's problem.
      const { transitions } = readBody(TransitionBatch, req, { itemsLater: true });
      const read = readItems(transitions, lossyBatchOf(req));
      res.json({ results: await acceptBatch(acceptTransitions, read, traceparentOf(req)) });
    })
    .all(refuseOtherMethods('POST'));
  router
    .route('/tasks')
    .get(async (req, res) => {
      const { status, limit, cursor } = readQuery(ListTasks, req);
      const after = readCursor(cursor);
      const page = await tasks.listByStatus(status, limit, after && { updatedAt: after.at, id: after.id });
      res.json({
        tasks: page.tasks.map(toTaskFields),
        nextCursor: page.next ? writeCursor({ at: page.next.updatedAt, id: page.next.id }) : null,
      });
    })
    .all(refuseOtherMethods('GET'));
  router
    .route('/tasks/:id')
    .get(async (req, res) => {
      const found: { task: TaskRecord; messages: readonly Message[]; decisions: readonly Decision[] } =
        await tasks.findForExecutor(req.params.id);
      res.json(toExecutorTask(found));
    })
    .all(refuseOtherMethods('GET'));
  return router;
}

/** Judges a batch item by item, in order; a bad item is a problem in its place. */
async function acceptBatch(
  acceptTransitions: AcceptTransitions,
  read: readonly (ReportedTransition | ValidationError)[],
  traceparent: string | undefined,
): Promise<BatchResults['results']> {
  const reports = read.flatMap((item) => (item instanceof ValidationError ? [] : [{ ...item, traceparent }]));
  const accepted = (await acceptTransitions(reports)).values();
  return read.map((item) => {
    const result = item instanceof ValidationError ? item : accepted.next().value;
    if (result === undefined) throw new Error('every report has its result');
    return result instanceof DomainError ? { error: toProblem(result) } : result;
  });
}

function readItems(items: readonly unknown[], lossy: LossyBatch | undefined) {
  return items.map((item, index) => readItem(item, lossy?.problems.get(index)));
}

function readItem(item: unknown, lossy: InputProblem | undefined): ReportedTransition | ValidationError {
  if (lossy) return new ValidationError([lossy]);
  try {
    return readInput(BatchItem, item);
  } catch (error) {
    if (error instanceof ValidationError) return error;
    throw error;
  }
}
