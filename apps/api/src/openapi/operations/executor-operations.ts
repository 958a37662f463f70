import { BATCH_LIMIT, BatchItem, TransitionBatch, TransitionReport } from '@herald/core';
import { z } from 'zod';
import { ExecutorTaskPage, ExecutorTaskView } from '../../tasks/executor-task-view.ts';
import { AcceptedTransition } from '../../acceptance/accept-transitions.ts';
import { BatchResults, ListTasks } from '../../tasks/transition-routes.ts';
import type { Operation } from '../operation.ts';
import { OfTask } from './params.ts';

const common = { tag: 'Executors', scope: 'execute' } as const;
const ofOne = { ...common, params: OfTask } as const;

/** What the body is before its items are judged one by one. */
const Batch = TransitionBatch.extend({ transitions: z.array(BatchItem).min(1).max(BATCH_LIMIT) }).meta({
  id: 'TransitionBatch',
});

export const EXECUTOR_OPERATIONS: readonly Operation[] = [
  {
    ...ofOne,
    id: 'reportTransition',
    method: 'post',
    path: '/api/internal/tasks/{id}/transitions',
    summary: 'Report a transition of a Task',
    description: 'Reporting the same fact again changes nothing and answers `duplicate: true`.',
    body: { schema: TransitionReport, isRequired: true },
    answers: [{ status: 200, description: 'Accepted: what it emits is delivered.', schema: AcceptedTransition }],
    problems: ['task_not_found', 'invalid_transition', 'stale_action_version'],
  },
  {
    ...common,
    id: 'reportTransitions',
    method: 'post',
    path: '/api/internal/transitions',
    summary: `Report up to ${BATCH_LIMIT} transitions`,
    description: 'Judged item by item, in order: a bad one spoils no other. The body may have 4 MiB.',
    body: { schema: Batch, isRequired: true },
    answers: [{ status: 200, description: 'A result or a problem for each.', schema: BatchResults }],
  },
  {
    ...common,
    id: 'listTasks',
    method: 'get',
    path: '/api/internal/tasks',
    summary: 'List Tasks of all workspaces by status',
    description: 'Longest unchanged first.',
    query: ListTasks,
    answers: [{ status: 200, description: 'A page.', schema: ExecutorTaskPage }],
  },
  {
    ...ofOne,
    id: 'readExecutorTask',
    method: 'get',
    path: '/api/internal/tasks/{id}',
    summary: 'Read what a Task is worked from',
    answers: [{ status: 200, description: 'Input, messages, decisions, status.', schema: ExecutorTaskView }],
    problems: ['task_not_found'],
  },
];
