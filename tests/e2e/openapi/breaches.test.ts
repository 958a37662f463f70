import type { ReceivedRequest } from '@herald/test-kit';
import { findAnswerBreaches, type ReceivedAnswer, type SentRequest } from '../../support/find-answer-breaches.ts';
import { findWebhookBreaches } from '../../support/find-webhook-breaches.ts';
import { document } from '../../support/openapi-document.ts';

const cancel: SentRequest = { method: 'POST', path: '/tasks/task_1/cancel' };
const accepted = {
  transitionId: `trn_${'a'.repeat(32)}`,
  taskId: `task_${'0'.repeat(26)}`,
  status: 'canceled',
  duplicate: false,
};
const answer: ReceivedAnswer = {
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'r1' },
  body: accepted,
};
const problem = (status: number, code: string): ReceivedAnswer => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'x-request-id': 'r1' },
  body: { type: 'urn:x', title: 'X', status, detail: 'x', code, requestId: 'r1' },
});

test('an answer as documented breaks nothing', () => {
  expect(findAnswerBreaches(cancel, answer)).toEqual([]);
  expect(findAnswerBreaches(cancel, problem(409, 'invalid_transition'))).toEqual([]);
  expect(findAnswerBreaches({ ...cancel, method: 'PUT' }, problem(405, 'method_not_allowed'))).toEqual([]);
  expect(findAnswerBreaches({ ...cancel, path: '/nope' }, problem(404, 'route_not_found'))).toEqual([]);
});

test.each<[string, SentRequest, ReceivedAnswer]>([
  ['a field that is not documented', cancel, { ...answer, body: { ...accepted, executionWorkspaceId: 'ws_2' } }],
  ['a field that is missing', cancel, { ...answer, body: { ...accepted, duplicate: undefined } }],
  ['a field of another type', cancel, { ...answer, body: { ...accepted, duplicate: 'no' } }],
  ['a status that is not documented', cancel, { ...answer, status: 201 }],
  ['another content type', cancel, { ...answer, headers: { ...answer.headers, 'content-type': 'text/html' } }],
  ['a missing header', cancel, { ...answer, headers: { 'content-type': 'application/json' } }],
  ['a code that is not documented', cancel, problem(409, 'task_closed')],
  ['a 401 without the header that belongs to it', cancel, problem(401, 'unauthenticated')],
  ['a path that is not documented', { ...cancel, path: '/surprise' }, answer],
  ['a method that is not documented', { ...cancel, method: 'PUT' }, answer],
])('%s breaks the document', (_name, request, received) => {
  expect(findAnswerBreaches(request, received)).not.toEqual([]);
});

const webhook: ReceivedRequest = {
  method: 'POST',
  path: '/hook',
  headers: {
    'x-service-event': 'task.done',
    'x-service-delivery': `dlv_${'a'.repeat(32)}`,
    'x-service-signature': `sha256=${'0'.repeat(64)}`,
    'webhook-id': `dlv_${'a'.repeat(32)}`,
    'webhook-timestamp': '1900000000',
    'webhook-signature': `v1,${'A'.repeat(43)}=`,
    'content-type': 'application/json',
    'user-agent': 'Herald/1',
  },
  rawBody: bytesOf({}),
  receivedAt: 0,
};

function bytesOf(more: object): Buffer {
  const { transitionId: id, taskId } = accepted;
  const common = { id, event: 'task.done', created_at: '2030-01-31T12:00:00.000Z', sequence: 1 };
  return Buffer.from(JSON.stringify({ ...common, task: { id: taskId, status: 'done' }, ...more }));
}

test('a webhook as documented breaks nothing, and every event is documented', () => {
  expect(findWebhookBreaches(webhook)).toEqual([]);
  expect(Object.keys(document.webhooks)).toHaveLength(9);
});

test.each<[string, ReceivedRequest]>([
  ['a field that is not public', { ...webhook, rawBody: bytesOf({ result: 1 }) }],
  ['another status', { ...webhook, rawBody: bytesOf({ task: { id: accepted.taskId, status: 'running' } }) }],
  ['a signature of another form', { ...webhook, headers: { ...webhook.headers, 'x-service-signature': '00' } }],
  ['an event that is not documented', { ...webhook, headers: { ...webhook.headers, 'x-service-event': 'task.x' } }],
  ['another method', { ...webhook, method: 'PUT' }],
])('a webhook with %s breaks the document', (_name, request) => {
  expect(findWebhookBreaches(request)).not.toEqual([]);
});
