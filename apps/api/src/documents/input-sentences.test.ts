import { BatchItem, EVENT_NAMES, ValidationError } from '@herald/core';
import { z } from 'zod';
import { ACTIVITY_ROUTES, STATS_ROUTES } from '../deliveries/stats.ts';
import { DELIVERY_ROUTES } from '../deliveries/delivery-routes.ts';
import { HEALTH_ROUTES } from '../http/health-routes.ts';
import { readCursor } from '../http/answer-fields.ts';
import { judgeQuery, readFields, readInput } from '../http/read-input.ts';
import type { RouteTable } from '../http/operation.ts';
import { readIdempotencyKey } from '../idempotency.ts';
import { OPERATOR_ROUTES } from '../operators/operator-routes.ts';
import { PLATFORM_ROUTES } from '../platform/platform-routes.ts';
import { PORTAL_LINK_ROUTES } from '../portal-links/portal-link-routes.ts';
import { LOCK_ROUTES, RECEIVER_ROUTES } from '../receivers/receiver-routes.ts';
import { REPLAY_ROUTES } from '../deliveries/replays.ts';
import { TASK_ROUTES } from '../tasks/task-routes.ts';
import { TRANSITION_ROUTES } from '../tasks/transition-routes.ts';
import { PAGE_ROUTES } from './pages.ts';

const TABLES: readonly RouteTable<never>[] = [
  ...[RECEIVER_ROUTES, DELIVERY_ROUTES, REPLAY_ROUTES, TASK_ROUTES, TRANSITION_ROUTES],
  ...[HEALTH_ROUTES, PAGE_ROUTES],
  ...[PLATFORM_ROUTES, STATS_ROUTES, ACTIVITY_ROUTES, PORTAL_LINK_ROUTES, OPERATOR_ROUTES, LOCK_ROUTES],
];

const operations = TABLES.flatMap((table) => table.operations.map((operation) => ({ ...operation, table })));

function operationOf(id: string) {
  const operation = operations.find((each) => each.id === id);
  if (!operation) throw new Error(`there is no operation ${id}`);
  return operation;
}

/** The sentences of the refusal; none when the input is taken. */
function refusalOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.problems.map(({ message }) => message);
    throw error;
  }
}

const EVENTS = EVENT_NAMES.join(', ');
const TYPES = 'start, checkpoint, action_required, done, canceled';
const TIME = 'must be a time such as 2030-01-31T12:00:00Z';
const ID = 'must be 1 to 128 letters, digits, . _ : or -';
const CONTROL = 'must not contain control characters other than tab and line break';
const FIELDS =
  'url, events, description, enabled, headers, maxRetryHours, ordering, orderingTimeoutSeconds, orderingTimeout, rateLimit';
const CHANGING =
  'url, events, description, enabled, headers, maxRetryHours, ordering, orderingTimeoutSeconds, rateLimit';
/** What a PATCH takes, too: all of an answer. */
const READ_ONLY = 'disabledAt, disabledReason, disabledBy, lockedReason, headerNames';
const CALLBACK_FIELDS = `url, events, enabled, headers, ordering, orderingTimeoutSeconds, orderingTimeout, ${READ_ONLY}`;
const TIMEOUT = 'orderingTimeout must be a duration from 1m to 5d, such as 30m, 24h or 2d';
const SECONDS = 'orderingTimeoutSeconds must be a whole number from 60 to 432000';
const url = 'https://hooks.example.com/in';
const outcome = { summary: 'so far' };
const primary = { id: 'a1', title: 'Pay?', primary: true };
const action = { type: 'action_required', actionVersion: 1, approvalRequests: [primary], outcome };
const checkpoint = { type: 'checkpoint', checkpointId: 'c1', canonical: true, material: true, outcome };

type Row = readonly [input: unknown, ...sentences: string[]];

const RESOLUTIONS: readonly Row[] = [
  [{}, 'decision is required', 'actionVersion is required'],
  [{ decision: '', actionVersion: 0 }, 'decision must not be empty', 'actionVersion must be at least 1'],
  [
    { decision: 'x'.repeat(65), actionVersion: '1' },
    'decision must have at most 64 characters',
    'actionVersion must be a whole number',
  ],
  [
    { decision: 'yes', action_version: 1 },
    'actionVersion is required',
    'action_version is not a field here; did you mean `actionVersion`?',
  ],
];

const BODIES: Readonly<Record<string, readonly Row[]>> = {
  registerReceiver: [
    [[], 'the body must be an object'],
    [null, 'the body must be an object'],
    ['x', 'the body must be an object'],
    [{}, 'url is required'],
    [{ url: 7 }, 'url must be a string'],
    [{ url: null }, 'url must be a string'],
    [{ url: 'http://hooks.example.com' }, 'url must start with https://'],
    [{ url: 'https://' }, 'url must name a host after https://'],
    [
      { url: 'https://u:p@hooks.example.com' },
      'url must not contain credentials (user or password): send them in `headers`, such as {"authorization": "Basic …"}',
    ],
    [{ url: `${url}#part` }, 'url must not contain a fragment (#...)'],
    [{ url: 'https://exa<mple.com' }, 'url must be a valid url'],
    [{ url: 'https://hooks.example.com:0443/' }, 'url must have a port from 1 to 65535 after the colon, or none'],
    [{ url: 'https://127.1/' }, 'url must be written with the host that it means, 127.0.0.1'],
    [{ url: 'https://hooks.example.com/a/../b' }, 'url must be written as it is called, https://hooks.example.com/b'],
    [
      { url: 'https://hooks.example.com/a b' },
      'url must not contain white space, control characters or backslashes; write https://hooks.example.com/a%20b',
    ],
    [{ url, rateLimit: 10 }, 'rateLimit must be an object such as {"perSecond": 10}, or null for no limit'],
    [{ url, rateLimit: {} }, 'rateLimit.perSecond must be a whole number from 1 to 1000'],
    [{ url, rateLimit: { perSecond: 0 } }, 'rateLimit.perSecond must be a whole number from 1 to 1000'],
    [
      { url, rateLimit: { perMinute: 1, perSecond: 1 } },
      'rateLimit.perMinute is not a field here; the only one is perSecond',
    ],
    [{ url: `${url}/\u200b` }, 'url must not contain invisible or broken characters'],
    [{ url: `${url}/${'x'.repeat(2_048)}` }, 'url must have at most 2048 characters'],
    [{ url, events: 'task.done' }, 'events must be an array of event names; an empty one stands for all'],
    [{ url, events: null }, 'events must be an array of event names; an empty one stands for all'],
    [{ url, events: ['task.done', 'task.failed'] }, `events.1 must be one of ${EVENTS}`],
    [{ url, events: [null] }, `events.0 must be one of ${EVENTS}`],
    [
      { url, events: Array(EVENT_NAMES.length * 4 + 1).fill('task.done') },
      `events must have at most ${EVENT_NAMES.length * 4} names`,
    ],
    [{ url, description: 5 }, 'description must be a string'],
    [{ url, description: 'x'.repeat(1_025) }, 'description must have at most 1024 characters'],
    [{ url, description: 'a\u0007' }, `description ${CONTROL}`],
    [{ url, description: '\ud800' }, 'description must be well-formed Unicode'],
    [{ url, enabled: 'yes' }, 'enabled must be true or false'],
    [{ url, headers: 'authorization: x' }, 'headers must be an object with the name and the value of each header'],
    [{ url, headers: { authorization: null } }, 'headers.authorization must be a string'],
    [{ url, headers: { authorization: '' } }, 'headers.authorization must not be empty'],
    [{ url, headers: { authorization: 'x ' } }, 'headers.authorization must not begin or end with a space or tab'],
    [
      { url, headers: { authorization: 'x\n' } },
      'headers.authorization must have only visible ASCII characters, spaces and tabs',
    ],
    [
      { url, headers: { 'a:': 'x' } },
      'headers must have names of letters, digits and !#$%&\'*+-.^_`|~ only; "a:" is none',
    ],
    [{ url, headers: { a: 'x', A: 'y' } }, 'headers.A must be given once; a is the same header'],
    [{ url, headers: { host: 'x' } }, 'headers.host must not be given: it belongs to the connection'],
    [
      { url, headers: { 'Webhook-Id': 'x' } },
      'headers.Webhook-Id must not be given: it is one of those that Herald sends itself',
    ],
    [
      { url, headers: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`x-${index}`, '1'])) },
      'headers must have at most 10 headers',
    ],
    [{ url, headers: { a: 'x'.repeat(4_096) } }, 'headers must have at most 4096 bytes, names and values together'],
    [
      JSON.parse(`{"url":"${url}","headers":{"__proto__":"x"}}`) as unknown,
      'headers.__proto__ must not be used as the name of a field',
    ],
    [{ url, maxRetryHours: 0 }, 'maxRetryHours must be a whole number from 1 to 120'],
    [{ url, maxRetryHours: 121 }, 'maxRetryHours must be a whole number from 1 to 120'],
    [{ url, maxRetryHours: 1.5 }, 'maxRetryHours must be a whole number from 1 to 120'],
    [{ url, maxRetryHours: '24' }, 'maxRetryHours must be a whole number from 1 to 120'],
    [{ url, ordering: 'strict' }, 'ordering must be one of none, task'],
    [{ url, ordering: true }, 'ordering must be one of none, task'],
    [{ url, orderingTimeout: '59s' }, TIMEOUT],
    [{ url, orderingTimeout: '121h' }, TIMEOUT],
    [{ url, orderingTimeout: '1.5h' }, TIMEOUT],
    [{ url, orderingTimeout: ' 2h' }, TIMEOUT],
    [{ url, orderingTimeout: 3_600 }, TIMEOUT],
    [{ url, orderingTimeoutSeconds: 59 }, SECONDS],
    [{ url, orderingTimeoutSeconds: 60.5 }, SECONDS],
    [{ url, orderingTimeoutSeconds: '60' }, SECONDS],
    [
      { url, orderingTimeout: '1h', orderingTimeoutSeconds: 3_600 },
      'orderingTimeout is the former name of orderingTimeoutSeconds, which is given too: leave it out',
    ],
    [{ url, event: ['task.done'] }, 'event is not a field here; did you mean `events`?'],
    [{ url, Events: [] }, 'Events is not a field here; did you mean `events`?'],
    [{ URL: url }, 'url is required', 'URL is not a field here; did you mean `url`?'],
    [{ url, secret: 'mine' }, `secret is not a field here; known are ${FIELDS}`],
    [{ url, '': 1 }, `"" is not a field here; known are ${FIELDS}`],
    [{ url, constructor: 1 }, `constructor is not a field here; known are ${FIELDS}`],
    [
      { url: 'http://x', events: ['nope'], description: 5, enabled: 'yes' },
      'url must start with https://',
      `events.0 must be one of ${EVENTS}`,
      'description must be a string',
      'enabled must be true or false',
    ],
    [JSON.parse(`{"url":"${url}","__proto__":{}}`) as unknown, '__proto__ must not be used as the name of a field'],
  ],
  changeReceiver: [
    [{}, `the body must change at least one of ${CHANGING}`],
    [{ id: 'wh_1', health: {} }, `the body must change at least one of ${CHANGING}`],
    [{ url: '' }, 'url must start with https://'],
    [{ enabled: null }, 'enabled must be true or false'],
    [{ headers: null }, 'headers must be an object with the name and the value of each header'],
    [
      { headers: { te: 'x' }, maxRetryHours: 0.5 },
      'headers.te must not be given: it belongs to the connection',
      'maxRetryHours must be a whole number from 1 to 120',
    ],
    [{ ordering: null, orderingTimeout: '6d' }, 'ordering must be one of none, task', TIMEOUT],
    [
      { enable: false },
      'enable is not a field here; did you mean `enabled`?',
      `the body must change at least one of ${CHANGING}`,
    ],
  ],
  changeCallback: [
    [{}, 'the body must change at least one of url, events, enabled, headers, ordering, orderingTimeoutSeconds'],
    [{ url: 'http://a.example/' }, 'url must start with https://'],
    [{ enabled: 1 }, 'enabled must be true or false'],
    [{ headers: { a: '' } }, 'headers.a must not be empty'],
    [
      { description: 'x' },
      `description is not a field here; known are ${CALLBACK_FIELDS}`,
      'the body must change at least one of url, events, enabled, headers, ordering, orderingTimeoutSeconds',
    ],
  ],
  testReceiver: [
    [{ dryRun: true }, 'dryRun is not a field here; the only one is event'],
    [{ event: 'done' }, `event must be one of ${EVENTS}`],
    [[], 'the body must be an object'],
  ],
  rotateReceiverSecret: [
    [{ overlapSeconds: '60' }, 'overlapSeconds must be a whole number'],
    [{ overlapSeconds: 1.5 }, 'overlapSeconds must be a whole number'],
    [{ overlapSeconds: -1 }, 'overlapSeconds must be at least 0'],
    [{ overlapSeconds: 604_801 }, 'overlapSeconds must be at most 604800'],
    [{ overlap: 60 }, 'overlap is not a field here; the only one is overlapSeconds'],
  ],
  replayDeliveries: [
    [{}, 'since is required'],
    [{ since: 'yesterday' }, `since ${TIME}`],
    [{ since: 5 }, `since ${TIME}`],
    [{ since: '2030-01-31T12:00:00Z', until: 'x' }, `until ${TIME}`],
    [{ since: '2030-01-31T12:00:00Z', until: '2030-01-31T12:00:00Z' }, 'until must be later than since'],
    [
      { since: '2030-01-31T12:00:00Z', status: 'lost' },
      'status must be one of delivered, failed, canceled, pending, or an array of them',
    ],
    [
      { since: '2030-01-31T12:00:00Z', status: [] },
      'status must have at least one status, or be left out for failed and canceled',
    ],
    [{ since: '2030-01-31T12:00:00Z', state: 'failed' }, 'state is not a field here; did you mean `status`?'],
  ],
  createTask: [
    [{ callback: 'https://x' }, 'callback must be an object'],
    [{ callback: {} }, 'callback.url is required'],
    [
      { callback: { url, enabled: false } },
      'callback.enabled is not a field here; known are url, events, headers, ordering, orderingTimeoutSeconds, orderingTimeout',
    ],
    [
      { callback: { url, headers: { te: 'x' } } },
      'callback.headers.te must not be given: it belongs to the connection',
    ],
    [{ callbackUrl: url }, 'callbackUrl is not a field here; did you mean `callback`?'],
    [{ executionWorkspaceId: 'a b' }, 'executionWorkspaceId must be 1 to 64 letters, digits, _ or -'],
    [{ executionWorkspaceId: 5 }, 'executionWorkspaceId must be a string'],
  ],
  addMessage: [
    [{}, 'text is required'],
    [{ text: '' }, 'text must not be empty'],
    [{ text: 'x'.repeat(32_769) }, 'text must have at most 32768 characters'],
    [{ txt: 'x' }, 'text is required', 'txt is not a field here; did you mean `text`?'],
  ],
  resolveApproval: RESOLUTIONS,
  resolveAnyApproval: RESOLUTIONS,
  cancelTask: [[{ reason: 'x' }, 'reason is not a field here; there are none']],
  closeTask: [
    [{}, 'status is required: one of done, canceled'],
    [{ status: 'failed' }, 'status must be one of done, canceled'],
  ],
  rotateCallbackSecret: [[{ overlapSeconds: null }, 'overlapSeconds must be a whole number']],
  redeliverDelivery: [[{ now: true }, 'now is not a field here; there are none']],
  reportTransition: [
    [[], 'the body must be an object'],
    [{}, `type is required: one of ${TYPES}`],
    [{ type: 'closed' }, `type must be one of ${TYPES}`],
    [{ type: 'start', at: 1 }, 'at is not a field here; the only one is type'],
    [{ type: 'checkpoint' }, 'checkpointId is required', 'canonical is required', 'material is required'],
    [{ ...checkpoint, checkpointId: 'a b' }, `checkpointId ${ID}`],
    [{ ...checkpoint, canonical: 1 }, 'canonical must be true or false'],
    [
      { type: 'checkpoint', checkpointId: 'c1', canonical: true, material: true },
      'outcome is required on a material canonical checkpoint: its event carries it',
    ],
    [{ ...checkpoint, outcome: null }, 'outcome must be an object'],
    [{ ...checkpoint, outcome: {} }, 'outcome.summary is required'],
    [
      { ...checkpoint, outcome: { summary: 'x'.repeat(4_097), progress: 2 } },
      'outcome.summary must have at most 4096 characters',
      'outcome.progress must be at most 1',
    ],
    [{ ...checkpoint, outcome: { ...outcome, progress: '50 %' } }, 'outcome.progress must be a number'],
    [{ ...action, actionVersion: 0 }, 'actionVersion must be at least 1'],
    [{ ...action, actionVersion: 1e30 }, 'actionVersion must be at most 9007199254740991'],
    [{ ...action, approvalRequests: undefined }, 'approvalRequests is required'],
    [{ ...action, approvalRequests: {} }, 'approvalRequests must be an array'],
    [
      { ...action, approvalRequests: [] },
      'approvalRequests must not be empty',
      'approvalRequests must mark exactly one request as primary',
    ],
    [
      { ...action, approvalRequests: [primary, primary] },
      'approvalRequests must mark exactly one request as primary',
      'approvalRequests must not repeat an id',
    ],
    ...['.', '..'].map((id): [unknown, string] => [
      { ...action, approvalRequests: [{ ...primary, id }] },
      'approvalRequests.0.id must not be . or .., which are dropped from a path: nobody could resolve the request',
    ]),
    [
      { ...action, approvalRequests: [{ ...primary, id: '', title: '' }] },
      `approvalRequests.0.id ${ID}`,
      'approvalRequests.0.title must not be empty',
    ],
    [{ ...action, decisionItems: [{ id: 'yes' }] }, 'decisionItems.0.label is required'],
    [
      { ...action, decisionItems: Array.from({ length: 101 }, () => ({ id: 'a', label: 'A' })) },
      'decisionItems must have at most 100 items',
    ],
    [{ ...action, apiResolvable: 'no' }, 'apiResolvable must be true or false'],
  ],
  reportTransitions: [
    [{}, 'transitions is required'],
    [{ transitions: {} }, 'transitions must be an array'],
    [{ transitions: [] }, 'transitions must not be empty'],
    [{ transitions: Array(501).fill(null) }, 'transitions must have at most 500 items'],
    [{ transitions: [1], dryRun: true }, 'dryRun is not a field here; the only one is transitions'],
  ],
  createWorkspaceKey: [
    [{ scopes: [] }, 'scopes must have at least one scope, or be left out for webhooks and tasks'],
    [{ scopes: ['execute'] }, 'scopes.0 must be one of webhooks, tasks, approvals:any'],
    [
      { scopes: ['webhooks', 'approvals:any'] },
      'scopes must have tasks beside approvals:any, which adds to it and permits nothing alone',
    ],
    [{ name: '' }, 'name must not be empty'],
    [{ name: 'two\nlines' }, 'name must be on one line, without blanks around it'],
    [{ expiresInSeconds: 59 }, 'expiresInSeconds must be at least 60'],
  ],
  createWorkspacePortalLink: [[{ readonly: true }, 'readonly is not a field here; did you mean `readOnly`?']],
  createWorkspaceTask: [
    [{ executionWorkspaceId: 'a b' }, 'executionWorkspaceId must be 1 to 64 letters, digits, _ or -'],
  ],
  bindExecutionWorkspace: [
    [{}, 'executionWorkspaceId is required'],
    [{ executionWorkspaceId: 'a b' }, 'executionWorkspaceId must be 1 to 64 letters, digits, _ or -'],
  ],
  createPortalLink: [
    [{ expiresInSeconds: 59 }, 'expiresInSeconds must be at least 60'],
    [{ expiresInSeconds: 86_401 }, 'expiresInSeconds must be at most 86400'],
    [{ expiresInSeconds: '1h' }, 'expiresInSeconds must be a whole number'],
    [{ readonly: true }, 'readonly is not a field here; did you mean `readOnly`?'],
    [{ readOnly: 'yes' }, 'readOnly must be true or false'],
  ],
  lockReceiver: [
    [{ reason: 7 }, 'reason must be a string'],
    [{ reason: null }, 'reason must be a string'],
    [{ reason: '' }, 'reason must not be empty; leave it out to give no reason'],
    [{ reason: 'x'.repeat(201) }, 'reason must have at most 200 characters'],
    [{ reason: 'two\nlines' }, 'reason must be plain text on one line, without blanks around it'],
    [{ enabled: false }, 'enabled is not a field here; the only one is reason'],
  ],
  pauseReceiver: [
    [{ reason: 7 }, 'reason must be a string'],
    [{ reason: null }, 'reason must be a string'],
    [{ reason: '' }, 'reason must not be empty; leave it out to give no reason'],
    [{ reason: 'x'.repeat(201) }, 'reason must have at most 200 characters'],
    [{ reason: 'two\nlines' }, 'reason must be plain text on one line, without blanks around it'],
    [{ enabled: false }, 'enabled is not a field here; the only one is reason'],
  ],
  openWorkspace: [[{ expiresInSeconds: 60 }, 'expiresInSeconds is not a field here; the only one is readOnly']],
};

test('every operation with a body has its rows', () => {
  const withBody = operations.filter(({ body }) => body).map(({ id }) => id);
  expect(Object.keys(BODIES).sort()).toEqual(withBody.sort());
});

test.each(Object.entries(BODIES).flatMap(([id, rows]) => rows.map(([input, ...told]) => ({ id, input, told }))))(
  '$id refuses the body $input: $told',
  ({ id, input, told }) => {
    const { body = z.never(), batch } = operationOf(id);
    expect(refusalOf(() => (batch ? readFields(body, input) : readInput(body, input)))).toEqual(told);
  },
);

test.each<Row>([
  [null, 'the item must be an object'],
  [{ type: 'start' }, 'taskId is required'],
  [{ type: 'start', taskId: 5 }, 'taskId must be the id of a Task'],
  [{ taskId: 'task_1' }, `type is required: one of ${TYPES}`],
  [{ taskId: 'task_1', type: 'start', reason: 1 }, 'reason is not a field here; known are type, taskId'],
])('a batch refuses the item %j: %s', (item, ...told) => {
  expect(refusalOf(() => readInput(BatchItem, item, 'the item'))).toEqual(told);
});

const PAGE_LIMIT = 'limit must be a whole number from 1 to 100';
const [RECEIVER, CALLBACK, TASK] = ['wh', 'cb', 'task'].map((kind) => `${kind}_01kes8t4a0q3m1y5b9z7x2c6vd`);

const QUERIES: Readonly<Record<string, readonly Row[]>> = {
  listDeliveries: [
    [{ status: 'sent' }, 'status must be one of pending, delivered, failed, canceled'],
    [
      { receiver: 'task_01kes8t4a0q3m1y5b9z7x2c6vd' },
      'receiver must be the id of a receiver, such as wh_01kes8t4a0q3m1y5b9z7x2c6vd, or of a callback (cb_…)',
    ],
    [
      { transitionId: 'trn_' },
      'transitionId must be the id of a transition, such as trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw',
    ],
    [
      { error: 'tls', httpStatus: '50' },
      'error must be the error of an attempt or the reason of a delivery, such as tls_expired; /errors lists them',
      'httpStatus must be a status such as 503, or a hundred of them such as 5xx',
    ],
    [{ task: '1' }, 'task must be the id of a Task, such as task_01kes8t4a0q3m1y5b9z7x2c6vd'],
    [{ receiverId: CALLBACK }, 'receiverId must be the id of a receiver, such as wh_01kes8t4a0q3m1y5b9z7x2c6vd'],
    [{ callbackId: RECEIVER }, 'callbackId must be the id of a callback, such as cb_01kes8t4a0q3m1y5b9z7x2c6vd'],
    [
      { receiver: RECEIVER, receiverId: RECEIVER },
      'receiver is the former name of receiverId, which is given too: leave it out',
    ],
    [{ receiverId: RECEIVER, callbackId: CALLBACK }, 'callbackId must not be given beside receiverId'],
    [{ task: TASK, taskId: TASK }, 'task is the former name of taskId, which is given too: leave it out'],
    [{ since: '2030-01-31T12:00:00Z', until: '2030-01-31T12:00:00Z' }, 'until must be later than since'],
    [{ since: 'yesterday', limit: '0' }, `since ${TIME}`, PAGE_LIMIT],
  ],
  listReceiverDeliveries: [
    [{ status: 'sent' }, 'status must be one of pending, delivered, failed, canceled'],
    [{ event: 'done' }, `event must be one of ${EVENTS}`],
    [{ since: 'yesterday', until: '' }, `since ${TIME}`, `until ${TIME}`],
    [{ limit: '0' }, PAGE_LIMIT],
    [{ limit: '' }, PAGE_LIMIT],
    [{ limit: '1e1' }, PAGE_LIMIT],
    [{ cursor: 'x'.repeat(257) }, 'cursor must be the nextCursor of an earlier page'],
    [{ sinceCursor: 'x'.repeat(257) }, 'sinceCursor must be the sinceCursor of an earlier list'],
  ],
  listTaskDeliveries: [[{ limit: '101' }, PAGE_LIMIT]],
  listTasks: [
    [{}, 'status is required: one of queued, running, requires_action, done, canceled'],
    [{ status: 'open' }, 'status must be one of queued, running, requires_action, done, canceled'],
  ],
  listWorkspaceTasks: [
    [{ status: 'open' }, 'status must be one of queued, running, requires_action, done, canceled'],
    [{ since: 'yesterday', limit: '0' }, `since ${TIME}`, PAGE_LIMIT],
    [{ since: '2030-01-31T12:00:00Z', until: '2030-01-31T12:00:00Z' }, 'until must be later than since'],
  ],
  readActivity: [
    [
      { receiver: 'dlv_1' },
      'receiver must be the id of a receiver, such as wh_01kes8t4a0q3m1y5b9z7x2c6vd, or of a callback (cb_…)',
    ],
  ],
  readStats: [[{ window: '30d' }, 'window must be one of 1h, 24h, 7d']],
  readReceiverStats: [[{ window: '' }, 'window must be one of 1h, 24h, 7d']],
  readOverview: [[{ window: '7d' }, 'window must be one of 1h, 24h']],
  listWaitingReceivers: [[{ limit: '0', find: '' }, PAGE_LIMIT, 'find must not be empty']],
  searchService: [
    [{}, 'q is required'],
    [{ q: 'x'.repeat(257) }, 'q must have at most 256 characters'],
  ],
  listFailedDeliveries: [[{ cursor: 'x'.repeat(257) }, 'cursor must be the nextCursor of an earlier page']],
  listAudit: [
    [{ workspace: 'a/b' }, 'workspace must be 1 to 64 letters, digits, _ or -'],
    [{ by: 'ann' }, 'by must be the id of a key (key_…) or of a portal link (plk_…), operator, or cli'],
    [{ since: '2h' }, `since ${TIME}`],
    [{ limit: '0' }, PAGE_LIMIT],
  ],
};

test('every operation with a query has its rows', () => {
  const withQuery = operations.filter(({ query }) => query).map(({ id }) => id);
  expect(Object.keys(QUERIES).sort()).toEqual(withQuery.sort());
});

test.each(Object.entries(QUERIES).flatMap(([id, rows]) => rows.map(([input, ...told]) => ({ id, input, told }))))(
  '$id refuses the query $input: $told',
  ({ id, input, told }) => {
    expect(refusalOf(() => readFields(operationOf(id).query ?? z.never(), input))).toEqual(told);
  },
);

test.each<{ id: string; query: Record<string, unknown>; told: string[] }>([
  {
    id: 'listTaskDeliveries',
    query: { lmit: '1' },
    told: ['lmit is not a parameter of this operation; did you mean `limit`?'],
  },
  {
    id: 'listTaskDeliveries',
    query: { token: '1' },
    told: ['token is not a parameter of this operation; known are limit, cursor'],
  },
  {
    id: 'listReceivers',
    query: { page: '2', '': '' },
    told: [
      'page is not a parameter of this operation; there are none',
      '"" is not a parameter of this operation; there are none',
    ],
  },
  { id: 'listTasks', query: { status: ['done', 'done'] }, told: ['status must be given once'] },
])('$id refuses the parameters $query: $told', ({ id, query, told }) => {
  expect(
    refusalOf(() => {
      judgeQuery(query, operationOf(id).query);
    }),
  ).toEqual(told);
});

test('a cursor and an Idempotency-Key are told by their names', () => {
  expect(refusalOf(() => readCursor('x'))).toEqual(['cursor must be the nextCursor of an earlier page']);
  const key = (...values: string[]) => ({
    headers: { 'idempotency-key': values.join(', ') },
    headersDistinct: { 'idempotency-key': values },
  });
  expect(refusalOf(() => readIdempotencyKey(key('a', 'b')))).toEqual(['Idempotency-Key must be given once']);
  expect(refusalOf(() => readIdempotencyKey(key('a b')))).toEqual([
    'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces, plain or in double quotes',
  ]);
});

test('of very many problems the first are told and the rest is counted', () => {
  const many = Array.from({ length: 900 }, (_, n) => [`f${n}`, n] as const);
  const body = { url: 5, ...Object.fromEntries(many) };
  const told = refusalOf(() => readInput(operationOf('registerReceiver').body ?? z.never(), body));
  expect(told).toHaveLength(12);
  expect(told.at(-1)).toBe('the body has 890 more problems');
});
