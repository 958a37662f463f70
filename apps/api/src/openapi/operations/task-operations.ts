import { AddMessage, CloseTask, CreateTask, ResolveApproval, RotateSecret } from '@herald/core';
import { DeliveryPage } from '../../deliveries/delivery-view.ts';
import { NoBody } from '../../http/read-body.ts';
import { SecretRotated } from '../../http/send-rotated-secret.ts';
import { ListTaskDeliveries } from '../../tasks/task-routes.ts';
import { ApprovalResolved, CreatedTask, MessageAdded, TaskView } from '../../tasks/task-view.ts';
import { AcceptedTransition } from '../../acceptance/accept-transitions.ts';
import type { Operation } from '../operation.ts';
import { OfApproval, OfTask } from './params.ts';

const common = { tag: 'Tasks', scope: 'tasks' } as const;
const ofOne = { ...common, params: OfTask } as const;

export const TASK_OPERATIONS: readonly Operation[] = [
  {
    ...common,
    id: 'createTask',
    method: 'post',
    path: '/tasks',
    summary: 'Create a Task',
    description: 'With a callback its signing secret is in this answer, and in no other.',
    body: { schema: CreateTask, isRequired: false },
    answers: [
      {
        status: 201,
        description: 'The Task.',
        schema: CreatedTask,
        headers: ['location', 'cache-control'],
      },
    ],
  },
  {
    ...ofOne,
    id: 'readTask',
    method: 'get',
    path: '/tasks/{id}',
    summary: 'Read a Task',
    description: 'With the result, outcome and usage that terminal events omit.',
    answers: [{ status: 200, description: 'The Task.', schema: TaskView }],
    problems: ['task_not_found'],
  },
  {
    ...ofOne,
    id: 'addMessage',
    method: 'post',
    path: '/tasks/{id}/messages',
    summary: 'Add context to a Task',
    description: 'Use it when a `task.requires_action` event arrives.',
    body: { schema: AddMessage, isRequired: true },
    answers: [{ status: 200, description: 'The message.', schema: MessageAdded }],
    problems: ['task_not_found', 'task_closed', 'invalid_transition'],
  },
  {
    ...ofOne,
    id: 'resolveApproval',
    method: 'post',
    path: '/tasks/{id}/approvals/{approvalId}/resolve',
    params: OfApproval,
    summary: 'Resolve an approval request',
    description: 'Resolving the primary request sets the Task running.',
    body: { schema: ResolveApproval, isRequired: true },
    answers: [{ status: 200, description: 'The decision.', schema: ApprovalResolved }],
    problems: ['task_not_found', 'approval_not_found', 'task_closed', 'stale_action_version', 'invalid_transition'],
  },
  {
    ...ofOne,
    id: 'cancelTask',
    method: 'post',
    path: '/tasks/{id}/cancel',
    summary: 'Cancel a Task',
    body: { schema: NoBody, isRequired: false },
    answers: [{ status: 200, description: 'The transition.', schema: AcceptedTransition }],
    problems: ['task_not_found', 'invalid_transition'],
  },
  {
    ...ofOne,
    id: 'closeTask',
    method: 'post',
    path: '/tasks/{id}/close',
    summary: 'Close a Task (legacy)',
    description: 'The same transition, and so the same delivery ids, as the canonical paths.',
    body: { schema: CloseTask, isRequired: true },
    answers: [{ status: 200, description: 'The transition.', schema: AcceptedTransition }],
    problems: ['task_not_found', 'invalid_transition'],
  },
  {
    ...ofOne,
    id: 'listTaskDeliveries',
    method: 'get',
    path: '/tasks/{id}/deliveries',
    summary: "List a Task's deliveries",
    description: 'Those to its callback included. Newest transition first.',
    query: ListTaskDeliveries,
    answers: [{ status: 200, description: 'A page.', schema: DeliveryPage }],
    problems: ['task_not_found'],
  },
  {
    ...ofOne,
    id: 'rotateCallbackSecret',
    method: 'post',
    path: '/tasks/{id}/callback/secret/rotate',
    summary: "Rotate the signing secret of a Task's callback",
    body: { schema: RotateSecret, isRequired: false },
    answers: [
      {
        status: 200,
        description: 'The new secret, this once.',
        schema: SecretRotated,
        headers: ['cache-control'],
      },
    ],
    problems: ['task_not_found', 'callback_not_found'],
  },
];
