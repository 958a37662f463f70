import {
  AddMessage,
  callbackIdOf,
  CloseTask,
  CreateTask,
  CursorText,
  DomainError,
  NotFoundError,
  PageLimit,
  PatchCallback,
  ResolveApproval,
  isSpan,
  RotateSecret,
  TaskStatus,
  Time,
  UNTIL_RULE,
  WorkspaceNotBoundError,
  type TransitionReport,
  type WorkspaceId,
} from '@herald/core';
import type { BindingStore } from '@herald/store/access/binding-store';
import type { DeliveryLog } from '@herald/store/lists/delivery-log';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { AcceptedTransition, type AcceptTransitions } from './accept-transitions.ts';
import { DeliveryPage, MAY_BE_PARTIAL, toDeliveryPage } from '../deliveries/delivery-view.ts';
import { callerOf, disablerOf, stateOf, workspaceOf } from '../http/request-state.ts';
import { readCursor, ROTATION_ANSWER, toRotatedSecret, toTime, writeCursor } from '../http/answer-fields.ts';
import { REPLAYED } from '../idempotency.ts';
import type { PriceLists } from '../http/rate-limit.ts';
import type { ManageReceivers } from '../receivers/manage-receivers.ts';
import { NoBody, operation, type KeyedRouteTable } from '../http/operation.ts';
import { CallbackView, type ManageCallbacks, toCallbackView } from './callbacks.ts';
import { type ErasePayloads, PayloadsErased, type TaskOperations } from './task-operations.ts';
import {
  ApprovalResolved,
  FullTaskView,
  MessageAdded,
  TaskCreation,
  TaskPage,
  toTaskContents,
  toTaskView,
} from './task-view.ts';

/** What a new Task needs. */
export type CreateTaskDeps = { readonly tasks: TaskOperations; readonly callbacks: ManageCallbacks };

export type TaskRoutesDeps = CreateTaskDeps & {
  readonly bindings: Pick<BindingStore, 'isBound'>;
  readonly acceptTransitions: AcceptTransitions;
  readonly deliveryLog: DeliveryLog;
  readonly receivers: Pick<ManageReceivers, 'rotateSecret'>;
  readonly erasePayloads: ErasePayloads;
  readonly readPriced: PriceLists;
};

/** Query of a Task's deliveries. */
const ListTaskDeliveries = z.strictObject({
  limit: PageLimit.meta({
    description: 'Transitions in a page, from 1 to 100. Each is shown with all its deliveries. Default: 50.',
  }),
  cursor: CursorText.exactOptional(),
});

/** Query of a workspace's Tasks. */
const ListWorkspaceTasks = z
  .strictObject({
    status: TaskStatus.meta({ description: 'In this status.' }).exactOptional(),
    since: Time.meta({ description: 'Created at or after this time.' }).exactOptional(),
    until: Time.meta({ description: 'Created before this time.' }).exactOptional(),
    limit: PageLimit,
    cursor: CursorText.exactOptional(),
  })
  .refine(isSpan, UNTIL_RULE);

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
  if (result === undefined) throw new Error('every report has its result');
  if (result instanceof DomainError) throw result;
  return result;
}

/** Creates a Task of a workspace, wherever it is to run: whoever calls this has judged that. */
export async function answerWithNewTask(
  { tasks, callbacks }: CreateTaskDeps,
  workspaceId: WorkspaceId,
  request: CreateTask,
  req: Request,
  res: Pick<Response, 'set' | 'location'>,
): Promise<TaskCreation> {
  const { task, existed, callback } = await tasks.create(workspaceId, request, stateOf(req).seed);
  if (existed) res.set(REPLAYED, 'true');
  res.location(`/tasks/${task.id}`);
  const view = toTaskView(task, callback?.endpoint ?? (await callbacks.findOf(task)));
  if (!view.callback || !callback) return view;
  return { ...view, callback: { ...view.callback, secret: callback.secret } };
}

/** The operations of customers on their Tasks. */
export const TASK_ROUTES: KeyedRouteTable<TaskRoutesDeps> = {
  tag: 'Tasks',
  path: '/tasks',
  access: 'tasks',
  ids: { id: 'task', approvalId: 'approval' },
  operations: [
    operation('createTask', 'POST /', {
      audit: 'none',
      summary: 'Create a Task',
      description: 'The signing secret of a callback is shown only in this answer.',
      body: CreateTask,
      answer: { status: 201, description: 'The Task.', schema: TaskCreation, headers: ['location', 'cache-control'] },
      problems: ['workspace_full', 'workspace_not_bound'],
      async handle(deps, req, res, request) {
        const [workspaceId, { executionWorkspaceId = workspaceId }] = [workspaceOf(req), request];
        // What a key of a workspace says is no proof: executors run a Task where it is said to run.
        if (executionWorkspaceId !== workspaceId && !(await deps.bindings.isBound(workspaceId, executionWorkspaceId)))
          throw new WorkspaceNotBoundError(executionWorkspaceId);
        return await answerWithNewTask(deps, workspaceId, request, req, res);
      },
    }),
    operation('listWorkspaceTasks', 'GET /', {
      summary: 'List the Tasks of the workspace',
      description:
        'Newest first, without their input, messages and decisions: `GET /tasks/{id}` has these. A page ends at 1 MiB of JSON, with one Task at least, and a filter may leave it short, or empty; the next page has more: go on until `nextCursor` is null.',
      query: ListWorkspaceTasks,
      answer: { status: 200, description: 'A page.', schema: TaskPage },
      async handle({ tasks, callbacks, readPriced }, req, res, { limit, cursor, ...filter }) {
        const after = readCursor(cursor);
        const page = await readPriced(req, res, (signal) =>
          tasks.listByWorkspace(workspaceOf(req), filter, limit, after, signal),
        );
        const endpoints = await Promise.all(page.tasks.map(callbacks.findOf));
        return {
          tasks: page.tasks.map((task, index) => toTaskView(task, endpoints[index])),
          nextCursor: page.next ? writeCursor(page.next) : null,
        };
      },
    }),
    operation('readTask', 'GET /{id}', {
      summary: 'Read a Task',
      description:
        'Has the result, outcome and usage that terminal events omit, and the input, messages and decisions of the Task.',
      answer: { status: 200, description: 'The Task.', schema: FullTaskView },
      async handle({ tasks, callbacks, readPriced }, req, res) {
        const found = await readPriced(req, res, () => tasks.findContents(workspaceOf(req), req.params.id));
        return { ...toTaskView(found.task, await callbacks.findOf(found.task)), ...toTaskContents(found) };
      },
    }),
    operation('addMessage', 'POST /{id}/messages', {
      audit: 'none',
      summary: 'Add context to a Task',
      description: 'Use it when a `task.requires_action` event arrives.',
      body: AddMessage,
      answer: { status: 200, description: 'The message.', schema: MessageAdded },
      problems: ['task_closed', 'invalid_transition', 'workspace_full'],
      async handle({ tasks }, req, _res, request) {
        const { text, createdAt } = await tasks.addMessage(workspaceOf(req), req.params.id, request, stateOf(req).seed);
        return { taskId: req.params.id, text, createdAt: toTime(createdAt) };
      },
    }),
    operation('resolveApproval', 'POST /{id}/approvals/{approvalId}/resolve', {
      audit: 'path',
      summary: 'Resolve an approval request',
      description:
        'Resolving the primary request sets the Task running. An action whose `api_resolvable` is false takes only a key that has the scope `approvals:any` besides `tasks`.',
      body: ResolveApproval,
      answer: { status: 200, description: 'The decision.', schema: ApprovalResolved },
      problems: ['not_api_resolvable', 'task_closed', 'stale_action_version', 'invalid_transition'],
      async handle({ tasks }, req, _res, request) {
        const { id, approvalId } = req.params;
        const mayAny = callerOf(req).scopes.includes('approvals:any');
        return await tasks.resolve(workspaceOf(req), id, approvalId, request, mayAny);
      },
    }),
    operation('cancelTask', 'POST /{id}/cancel', {
      audit: 'path',
      summary: 'Cancel a Task',
      body: NoBody,
      answer: { status: 200, description: 'The transition.', schema: AcceptedTransition },
      problems: ['invalid_transition', 'workspace_full'],
      async handle(deps, req) {
        return await accept(deps, req, { type: 'canceled' });
      },
    }),
    operation('closeTask', 'POST /{id}/close', {
      audit: 'none',
      summary: 'Close a Task (legacy)',
      deprecated: true,
      description:
        'For callers of former times. Use `POST /tasks/{id}/cancel`, or the report of an executor. It makes the same transition as these, with the same delivery ids, and is not going to be removed.',
      body: CloseTask,
      answer: { status: 200, description: 'The transition.', schema: AcceptedTransition },
      problems: ['invalid_transition', 'workspace_full'],
      async handle(deps, req, _res, { status }) {
        // This states the same fact as the executor's report, so it yields the same ids.
        return await accept(deps, req, { type: status }, true);
      },
    }),
    operation('listTaskDeliveries', 'GET /{id}/deliveries', {
      forPortalLinks: true,
      summary: "List a Task's deliveries",
      description: `Includes those to its callback. Newest transition first. ${MAY_BE_PARTIAL}`,
      query: ListTaskDeliveries,
      answer: { status: 200, description: 'A page.', schema: DeliveryPage },
      problems: ['history_unavailable'],
      async handle({ deliveryLog, readPriced }, req, res, { limit, cursor }) {
        const [{ id }, after] = [req.params, readCursor(cursor)];
        const page = await readPriced(req, res, async (signal) => {
          const found = await deliveryLog.listByTask(workspaceOf(req), id, limit, after, signal);
          if (!found) throw new NotFoundError('task', id);
          return found;
        });
        return toDeliveryPage(page);
      },
    }),
    operation('changeCallback', 'PATCH /{id}/callback', {
      audit: 'path',
      summary: "Change a Task's callback",
      description:
        'A callback that the platform has locked is not changed. What is left out stays as it is. A new url forgets the failures of the old one; so does enabling. A URL of another origin removes the `headers`, unless they are given in the same request. A redelivery brings back what it missed.',
      body: PatchCallback,
      answer: { status: 200, description: 'The callback as it is now.', schema: CallbackView },
      problems: ['callback_not_found', 'receiver_locked'],
      async handle({ tasks, callbacks }, req, _res, patch) {
        const { workspaceId, id } = await tasks.find(workspaceOf(req), req.params.id);
        return toCallbackView(await callbacks.patch(workspaceId, id, patch, disablerOf(req)));
      },
    }),
    operation('rotateCallbackSecret', 'POST /{id}/callback/secret/rotate', {
      audit: 'path',
      isHarmlessAgain: true,
      summary: "Rotate the signing secret of a Task's callback",
      body: RotateSecret,
      answer: ROTATION_ANSWER,
      problems: ['callback_not_found'],
      async handle({ tasks, receivers }, req, res, request) {
        const { callback } = await tasks.find(workspaceOf(req), req.params.id);
        if (!callback) throw new NotFoundError('callback', `of Task ${req.params.id}`);
        return toRotatedSecret(await receivers.rotateSecret(workspaceOf(req), callbackIdOf(req.params.id), request));
      },
    }),
    operation('erasePayloads', 'DELETE /{id}/payloads', {
      audit: 'path',
      summary: 'Erase what a closed Task held',
      description:
        "Erases its input, messages, decisions, result and outcome, the bodies of its webhooks, and what their endpoints answered. What stays: that it was delivered, to which endpoint, when and with which status, and the Task's `usage`. Pending deliveries of the Task end as `canceled` with the reason `payload_erased`; a request that is under way at that moment may still arrive. Repeat it until it is answered: that changes nothing, or finishes what was interrupted.",
      answer: { status: 200, description: 'Nothing of it is left.', schema: PayloadsErased },
      problems: ['task_open', 'history_unavailable'],
      async handle({ erasePayloads }, req) {
        return await erasePayloads(workspaceOf(req), req.params.id);
      },
    }),
  ],
};
