import type { z } from 'zod';
import {
  AddMessage,
  CloseTask,
  CreateTask,
  GivenId,
  isTerminal,
  ResolveApproval,
  TASK_STATUSES,
  WorkspaceIdText,
} from './task.ts';

test('done and canceled are terminal, and nothing else', () => {
  expect(TASK_STATUSES.filter(isTerminal)).toEqual(['done', 'canceled']);
});

const url = 'https://example.com/hook';

test.each<{ schema: z.ZodType; name: string; body: unknown; read?: unknown }>([
  { name: 'CreateTask', schema: CreateTask, body: {} },
  { name: 'CreateTask', schema: CreateTask, body: { input: null, executionWorkspaceId: 'ws-2_b' } },
  { name: 'CreateTask', schema: CreateTask, body: { callback: { url } }, read: { callback: { url, events: [] } } },
  { name: 'AddMessage', schema: AddMessage, body: { text: 'x'.repeat(32_768) } },
  { name: 'ResolveApproval', schema: ResolveApproval, body: { decision: 'x'.repeat(64), actionVersion: 1 } },
  { name: 'CloseTask', schema: CloseTask, body: { status: 'done' } },
  { name: 'CloseTask', schema: CloseTask, body: { status: 'canceled' } },
  { name: 'AddMessage', schema: AddMessage, body: { text: 'x' } },
  { name: 'WorkspaceIdText', schema: WorkspaceIdText, body: 'x' },
  { name: 'WorkspaceIdText', schema: WorkspaceIdText, body: 'x'.repeat(64) },
  { name: 'GivenId', schema: GivenId, body: '1' },
])('$name accepts $body', ({ schema, body, read = body }) => {
  expect(schema.parse(body)).toStrictEqual(read);
});

test.each<{ schema: z.ZodType; name: string; body: unknown; path: string }>([
  { name: 'CreateTask', schema: CreateTask, body: { callback: { url: 'http://example.com' } }, path: 'callback.url' },
  { name: 'CreateTask', schema: CreateTask, body: { callback: null }, path: 'callback' },
  { name: 'CreateTask', schema: CreateTask, body: { callback: { url, secret: 'x' } }, path: 'callback' },
  { name: 'CreateTask', schema: CreateTask, body: { executionWorkspaceId: 'a/b' }, path: 'executionWorkspaceId' },
  { name: 'CreateTask', schema: CreateTask, body: { workspaceId: 'ws_1' }, path: '' },
  { name: 'AddMessage', schema: AddMessage, body: { text: '' }, path: 'text' },
  { name: 'AddMessage', schema: AddMessage, body: { text: 'x'.repeat(32_769) }, path: 'text' },
  { name: 'AddMessage', schema: AddMessage, body: { text: 'x', from: 'me' }, path: '' },
  { name: 'ResolveApproval', schema: ResolveApproval, body: { decision: 'y', actionVersion: 1, by: 'me' }, path: '' },
  { name: 'ResolveApproval', schema: ResolveApproval, body: { decision: '', actionVersion: 1 }, path: 'decision' },
  {
    name: 'ResolveApproval',
    schema: ResolveApproval,
    body: { decision: 'y'.repeat(65), actionVersion: 1 },
    path: 'decision',
  },
  {
    name: 'ResolveApproval',
    schema: ResolveApproval,
    body: { decision: 'y', actionVersion: '1' },
    path: 'actionVersion',
  },
  {
    name: 'ResolveApproval',
    schema: ResolveApproval,
    body: { decision: 'y', actionVersion: 0 },
    path: 'actionVersion',
  },
  { name: 'CloseTask', schema: CloseTask, body: { status: 'running' }, path: 'status' },
  { name: 'CloseTask', schema: CloseTask, body: { status: 'done', result: 1 }, path: '' },
  { name: 'WorkspaceIdText', schema: WorkspaceIdText, body: '', path: '' },
  { name: 'WorkspaceIdText', schema: WorkspaceIdText, body: 'ws_1\n', path: '' },
  { name: 'WorkspaceIdText', schema: WorkspaceIdText, body: 'x'.repeat(65), path: '' },
])('$name refuses $body because of "$path"', ({ schema, body, path }) => {
  expect(schema.safeParse(body).error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});
