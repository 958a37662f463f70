import {
  AddMessage,
  callbackIdOf,
  CloseTask,
  CreateTask,
  CursorText,
  DomainError,
  NotFoundError,
  PageLimit,
  ResolveApproval,
  RotateSecret,
  type TransitionReport,
} from '@herald/core';
import { Router, type Request } from 'express';
import { z } from 'zod';
import { workspaceOf } from '../http/caller.ts';
import { toDeliveryView } from '../deliveries/delivery-view.ts';
import type { ManageDeliveries } from '../deliveries/manage-deliveries.ts';
import { readCursor, writeCursor } from '../http/cursor.ts';
import { NoBody, readBody, readQuery } from '../http/read-body.ts';
import { refuseMalformedIds } from '../http/refuse-malformed-ids.ts';
import { refuseOtherMethods } from '../http/refuse-other-methods.ts';
import { sendRotatedSecret } from '../http/send-rotated-secret.ts';
import { traceparentOf } from '../http/trace-requests.ts';
import { toTime } from '../http/to-time.ts';
import { REPLAYED } from '../idempotency/kept-answer.ts';
import { seedOf } from '../idempotency/seed-of.ts';
import type { ManageReceivers } from '../receivers/manage-receivers.ts';
import type { AcceptTransitions } from '../acceptance/accept-transitions.ts';
import type { TaskOperations } from './task-operations.ts';
import { toTaskView, type MessageAdded } from './task-view.ts';

export type TaskRoutesDeps = {
  readonly tasks: TaskOperations;
  readonly acceptTransitions: AcceptTransitions;
  readonly deliveries: ManageDeliveries;
  readonly rotateSecret: ManageReceivers['rotateSecret'];
};

/** Query of a Task's deliveries. `limit` counts transitions: each is shown with all its deliveries. */
export const ListTaskDeliveries = z.strictObject({
  limit: PageLimit.meta({ description: 'Transitions in a page; each is shown with all its deliveries.' }),
  cursor: CursorText.exactOptional(),
});

/** `/tasks`: what customers do with their Tasks. */
export function createTaskRoutes({ tasks, acceptTransitions, deliveries, rotateSecret }: TaskRoutesDeps): Router {
  const accept = async (req: Request<{ id: string }>, report: TransitionReport, impliesStart = false) => {
    const workspaceId = workspaceOf(req);
    const [result] = await acceptTransitions([
      { taskId: req.params.id, report, workspaceId, impliesStart, traceparent: traceparentOf(req) },
    ]);
    if (result instanceof DomainError) throw result;
    return result;
  };
  const router = refuseMalformedIds(Router(), { id: 'task', approvalId: 'approval' });
  router
    .route('/')
    .post(async (req, res) => {
      const request = readBody(CreateTask, req);
      const { task, existed, callbackSecret } = await tasks.create(workspaceOf(req), request, seedOf(req));
      const view = toTaskView(task);
      if (existed) res.set(REPLAYED, 'true');
      res.status(201).location(`${req.baseUrl}/${task.id}`).set('cache-control', 'no-store');
      res.json(
        callbackSecret === undefined ? view : { ...view, callback: { ...view.callback, secret: callbackSecret } },
      );
    })
    .all(refuseOtherMethods('POST'));
  router
    .route('/:id')
    .get(async (req, res) => {
      res.json(toTaskView(await tasks.find(workspaceOf(req), req.params.id)));
    })
    .all(refuseOtherMethods('GET'));
  router
    .route('/:id/messages')
    .post(async (req, res) => {
      const request = readBody(AddMessage, req);
      const { text, createdAt } = await tasks.addMessage(workspaceOf(req), req.params.id, request, seedOf(req));
      const added: z.infer<typeof MessageAdded> = { taskId: req.params.id, text, createdAt: toTime(createdAt) };
      res.json(added);
    })
    .all(refuseOtherMethods('POST'));
  router
    .route('/:id/approvals/:approvalId/resolve')
    .post(async (req, res) => {
      const { id, approvalId } = req.params;
      res.json(await tasks.resolve(workspaceOf(req), id, approvalId, readBody(ResolveApproval, req)));
    })
    .all(refuseOtherMethods('POST'));
  router
    .route('/:id/cancel')
    .post(async (req, res) => {
      readBody(NoBody, req);
      res.json(await accept(req, { type: 'canceled' }));
    })
    .all(refuseOtherMethods('POST'));
  router
    .route('/:id/close')
    .post(async (req, res) => {
      const { status } = readBody(CloseTask, req);
      // The legacy path states the same fact as the executor's report, and so yields the same ids.
      res.json(await accept(req, { type: status }, true));
    })
    .all(refuseOtherMethods('POST'));
  router
    .route('/:id/deliveries')
    .get(async (req, res) => {
      const { limit, cursor } = readQuery(ListTaskDeliveries, req);
      const page = await deliveries.listByTask(workspaceOf(req), req.params.id, limit, readCursor(cursor)?.at);
      const nextCursor = page.nextSequence === undefined ? null : writeCursor({ at: page.nextSequence, id: '' });
      res.json({ deliveries: page.deliveries.map(toDeliveryView), nextCursor });
    })
    .all(refuseOtherMethods('GET'));
  router
    .route('/:id/callback/secret/rotate')
    .post(async (req, res) => {
      const request = readBody(RotateSecret, req);
      const { callback } = await tasks.find(workspaceOf(req), req.params.id);
      if (!callback) throw new NotFoundError('callback', `of Task ${req.params.id}`);
      sendRotatedSecret(res, await rotateSecret(workspaceOf(req), callbackIdOf(req.params.id), request));
    })
    .all(refuseOtherMethods('POST'));
  return router;
}
