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
import type { DeliveryLog } from '@herald/store/deliveries/delivery-log';
import type { Request } from 'express';
import { z } from 'zod';
import { AcceptedTransition, type AcceptTransitions } from '../acceptance/accept-transitions.ts';
import { DeliveryPage, toDeliveryPage } from '../deliveries/delivery-view.ts';
import { stateOf, workspaceOf } from '../http/request-state.ts';
import { readCursor } from '../http/cursor.ts';
import { ROTATION_ANSWER, sendRotatedSecret } from '../http/send-rotated-secret.ts';
import { toTime } from '../http/to-time.ts';
import { REPLAYED } from '../idempotency/kept-answer.ts';
import type { ManageReceivers } from '../receivers/manage-receivers.ts';
import { NoBody, operation, type KeyedRouteTable } from '../routing/operation.ts';
import type { TaskOperations } from './task-operations.ts';
import { ApprovalResolved, CreatedTask, MessageAdded, TaskView, toTaskView } from './task-view.ts';

export type TaskRoutesDeps = {
  readonly tasks: TaskOperations;
  readonly acceptTransitions: AcceptTransitions;
  readonly deliveryLog: DeliveryLog;
  readonly receivers: Pick<ManageReceivers, 'rotateSecret'>;
};

/** Query of a Task's deliveries. */
const ListTaskDeliveries = z.strictObject({
  limit: PageLimit.meta({ description: 'Transitions in a page; each is shown with all its deliveries.' }),
  cursor: CursorText.exactOptional(),
});

/** Accepts a transition that the customer of a Task asks for. */
async function accept(
  { acceptTransitions }: TaskRoutesDeps,
  req: Request<{ readonly id: string }>,
  report: TransitionReport,
  impliesStart = false,
) {
  const workspaceId = workspaceOf(req);
  const [result] = await acceptTransitions([
    { taskId: req.params.id, report, workspaceId, impliesStart, traceparent: stateOf(req).traceparent },
  ]);
  if (result instanceof DomainError) throw result;
  return result;
}

/** The operations of customers on their Tasks. */
export const TASK_ROUTES: KeyedRouteTable<TaskRoutesDeps> = {
  tag: 'Tasks',
  path: '/tasks',
  scope: 'tasks',
  ids: { id: 'task', approvalId: 'approval' },
  operations: [
    operation('createTask', 'POST /', {
      summary: 'Create a Task',
      description: 'With a callback its signing secret is in this answer, and in no other.',
      body: CreateTask,
      answer: { status: 201, description: 'The Task.', schema: CreatedTask, headers: ['location', 'cache-control'] },
      async handle({ tasks }, req, res, request) {
        const {
          task,
          existed,
          callbackSecret: secret,
        } = await tasks.create(workspaceOf(req), request, stateOf(req).seed);
        if (existed) res.set(REPLAYED, 'true');
        res.location(`${req.baseUrl}/${task.id}`).set('cache-control', 'no-store');
        const view: CreatedTask = toTaskView(task);
        if (view.callback && secret !== undefined) view.callback.secret = secret;
        res.json(view);
      },
    }),
    operation('readTask', 'GET /{id}', {
      summary: 'Read a Task',
      description: 'With the result, outcome and usage that terminal events omit.',
      answer: { status: 200, description: 'The Task.', schema: TaskView },
      async handle({ tasks }, req, res) {
        res.json(toTaskView(await tasks.find(workspaceOf(req), req.params.id)));
      },
    }),
    operation('addMessage', 'POST /{id}/messages', {
      summary: 'Add context to a Task',
      description: 'Use it when a `task.requires_action` event arrives.',
      body: AddMessage,
      answer: { status: 200, description: 'The message.', schema: MessageAdded },
      problems: ['task_closed', 'invalid_transition'],
      async handle({ tasks }, req, res, request) {
        const { text, createdAt } = await tasks.addMessage(workspaceOf(req), req.params.id, request, stateOf(req).seed);
        res.json({ taskId: req.params.id, text, createdAt: toTime(createdAt) });
      },
    }),
    operation('resolveApproval', 'POST /{id}/approvals/{approvalId}/resolve', {
      summary: 'Resolve an approval request',
      description: 'Resolving the primary request sets the Task running.',
      body: ResolveApproval,
      answer: { status: 200, description: 'The decision.', schema: ApprovalResolved },
      problems: ['task_closed', 'stale_action_version', 'invalid_transition'],
      async handle({ tasks }, req, res, request) {
        const { id, approvalId } = req.params;
        res.json(await tasks.resolve(workspaceOf(req), id, approvalId, request));
      },
    }),
    operation('cancelTask', 'POST /{id}/cancel', {
      summary: 'Cancel a Task',
      body: NoBody,
      answer: { status: 200, description: 'The transition.', schema: AcceptedTransition },
      problems: ['invalid_transition'],
      async handle(deps, req, res) {
        res.json(await accept(deps, req, { type: 'canceled' }));
      },
    }),
    operation('closeTask', 'POST /{id}/close', {
      summary: 'Close a Task (legacy)',
      description: 'The same transition, and so the same delivery ids, as the canonical paths.',
      body: CloseTask,
      answer: { status: 200, description: 'The transition.', schema: AcceptedTransition },
      problems: ['invalid_transition'],
      async handle(deps, req, res, { status }) {
        // This states the same fact as the executor's report, so it yields the same ids.
        res.json(await accept(deps, req, { type: status }, true));
      },
    }),
    operation('listTaskDeliveries', 'GET /{id}/deliveries', {
      summary: "List a Task's deliveries",
      description: 'Those to its callback included. Newest transition first.',
      query: ListTaskDeliveries,
      answer: { status: 200, description: 'A page.', schema: DeliveryPage },
      async handle({ tasks, deliveryLog }, req, res, { limit, cursor }) {
        const after = readCursor(cursor);
        const { workspaceId, id } = await tasks.find(workspaceOf(req), req.params.id);
        res.json(toDeliveryPage(await deliveryLog.listByTask(workspaceId, id, limit, after)));
      },
    }),
    operation('rotateCallbackSecret', 'POST /{id}/callback/secret/rotate', {
      summary: "Rotate the signing secret of a Task's callback",
      body: RotateSecret,
      answer: ROTATION_ANSWER,
      problems: ['callback_not_found'],
      async handle({ tasks, receivers }, req, res, request) {
        const { callback } = await tasks.find(workspaceOf(req), req.params.id);
        if (!callback) throw new NotFoundError('callback', `of Task ${req.params.id}`);
        sendRotatedSecret(res, await receivers.rotateSecret(workspaceOf(req), callbackIdOf(req.params.id), request));
      },
    }),
  ],
};
