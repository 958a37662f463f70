import { appRoutes } from '@bull-board/api/dist/routes.js';
import type { Delivery } from '@herald/core';
import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';
import {
  type BoardAction,
  hasSucceeded,
  judgeAction,
  toBoardJob,
  toFacts,
  toLogLine,
  toOwnPage,
  toTitle,
  toWords,
} from './board.ts';

test('what comes from other hosts and what is inline leaves the page; the rest stays', () => {
  const page = `<head><base href="/admin/queues/" />
<link href="https://fonts.example.com/css?a&b" rel="stylesheet">
<link rel="icon" href='x' /><link rel="preload" href="//cdn.example.com/a.css"><link href="static/main.css" rel="stylesheet"></head>
<script id="c" type="application/json">{"a":"<\\u002fstyle>"}</script>
<div id="root"><div style="display:flex">Loading<span style="x"></span></div><style>@keyframes a{0%{b:c}}</style></div>
<script defer src="static/main.js"></script>`;
  expect(toOwnPage(page)).toBe(`<head><base href="/admin/queues/" />

<link rel="icon" href='x' /><link href="static/main.css" rel="stylesheet"></head>
<script id="c" type="application/json">{"a":"<\\u002fstyle>"}</script>
<div id="root"><div>Loading<span></span></div></div>
<script defer src="static/main.js"></script>`);
});

const pending: Delivery = {
  id: 'dlv_a',
  workspaceId: 'ws_a',
  endpointId: 'wh_a',
  transitionId: 'trn_a',
  taskId: 'task_a',
  event: 'task.done',
  status: 'pending',
  createdAt: 1_000,
  scheduledAt: 1_000,
  tries: 2,
  owedAttempts: 0,
  nextAttemptAt: 60_000,
};
const { nextAttemptAt: _due, ...unscheduled } = pending;

function describeOne(delivery: Delivery, more: Partial<DeliveryDescription> = {}): DeliveryDescription {
  return {
    delivery,
    host: 'a.example',
    endpointState: 'enabled',
    attempts: 2,
    group: 'wh_a',
    ...more,
  };
}

test('one that is tried again shows when, and what came of the last attempt', () => {
  const job = toBoardJob(describeOne(pending, { lastAttempt: { at: 2_000, durationMs: 5, status: 500 } }));
  expect(job).toMatchObject({
    name: 'task.done → a.example',
    addedAt: 1_000,
    dueAt: 60_000,
    attemptsMade: 2,
    groups: ['wh_a'],
    failedReason: 'answered 500',
    data: { status: 'pending', workspace: 'ws_a' },
  });
  expect(job).not.toHaveProperty('ended');
  expect(job).not.toHaveProperty('startedAt');
});

test('one that waits for its turn shows what it waits for', () => {
  expect(toBoardJob(describeOne(pending, { waitingFor: 'dlv_0' })).data).toMatchObject({ waitingFor: 'dlv_0' });
  expect(toBoardJob(describeOne(pending)).data).not.toHaveProperty('waitingFor');
});

test('one that was never tried has no error', () => {
  expect(toBoardJob(describeOne(pending))).not.toHaveProperty('failedReason');
});

test('one that failed says why, and when the last attempt was', () => {
  const failed = { ...unscheduled, status: 'failed', settledAt: 9_000, reason: 'schedule_exhausted' } as const;
  const lastAttempt = { at: 8_900, durationMs: 100, error: 'timeout_response' };
  expect(toBoardJob(describeOne(failed, { lastAttempt }))).toMatchObject({
    ended: 'failed',
    failedReason: 'schedule_exhausted: no answer (timeout_response)',
    startedAt: 8_900,
    endedAt: 9_000,
    groups: [],
  });
});

test('one that was delivered has completed, without an error', () => {
  const delivered = { ...unscheduled, status: 'delivered', settledAt: 9_000 } as const;
  const job = toBoardJob(describeOne(delivered, { lastAttempt: { at: 8_990, durationMs: 10, status: 200 } }));
  expect(job).toMatchObject({ ended: 'completed', groups: [] });
  expect(job).not.toHaveProperty('failedReason');
});

test('one that was canceled without an attempt has failed, and says why', () => {
  const canceled = { ...unscheduled, status: 'canceled', settledAt: 9_000, reason: 'receiver_removed' } as const;
  expect(toBoardJob(describeOne(canceled, { endpointState: 'removed' }))).toMatchObject({
    ended: 'failed',
    failedReason: 'receiver_removed',
    startedAt: 1_000,
  });
});

test('one that has ended and is sent once more waits in its group', () => {
  const again = { ...unscheduled, status: 'failed', settledAt: 9_000, owedAttempts: 1 } as const;
  expect(toBoardJob(describeOne(again)).groups).toEqual(['wh_a']);
});

test('a test event waits in a group of its own, or in its endpoint’s once it is sent again', () => {
  const { taskId: _none, ...test } = { ...pending, event: 'webhook.test' as const };
  expect(toBoardJob(describeOne(test)).groups).toEqual(['!tests', 'wh_a']);
});

const shown: Delivery = {
  id: 'dlv_a',
  workspaceId: 'ws_a',
  endpointId: 'wh_a',
  transitionId: 'trn_a',
  taskId: 'task_a',
  event: 'task.done',
  status: 'pending',
  createdAt: 0,
  scheduledAt: 0,
  tries: 2,
  owedAttempts: 0,
  nextAttemptAt: 60_000,
};

test('a pending delivery shows where it goes, what came of it so far, and when it goes on', () => {
  const description = {
    delivery: shown,
    host: 'a.example:8443',
    endpointState: 'enabled',
    attempts: 3,
    lastOutcome: '503',
    group: 'wh_a',
  } as const;
  expect(toTitle(description)).toBe('task.done → a.example:8443');
  expect(toFacts(description)).toEqual({
    event: 'task.done',
    workspace: 'ws_a',
    host: 'a.example:8443',
    endpoint: 'wh_a',
    task: 'task_a',
    status: 'pending',
    tries: 2,
    attempts: 3,
    lastOutcome: '503',
    nextTry: '1970-01-01T00:01:00.000Z',
    accepted: '1970-01-01T00:00:00.000Z',
  });
});

test('a settled one whose endpoint is gone says so, and why', () => {
  const { nextAttemptAt: _gone, ...rest } = shown;
  const settled = {
    ...rest,
    status: 'canceled',
    settledAt: 1_000,
    reason: 'receiver_removed',
    owedAttempts: 1,
  } as const;
  const facts = toFacts({ delivery: settled, endpointState: 'removed', attempts: 0, group: 'wh_a' });
  expect(facts).toMatchObject({
    host: '(removed)',
    endpointState: 'removed',
    status: 'canceled',
    reason: 'receiver_removed',
    lastOutcome: 'none yet',
    redeliveriesOwed: 1,
    settled: '1970-01-01T00:00:01.000Z',
  });
  expect(facts).not.toHaveProperty('nextTry');
});

const attempt = { at: 1_000, durationMs: 12 };

test.each([
  { attempt: { ...attempt, status: 204 }, words: 'answered 204', succeeded: true },
  { attempt: { ...attempt, status: 301 }, words: 'answered 301', succeeded: false },
  { attempt: { ...attempt, status: 500 }, words: 'answered 500', succeeded: false },
  { attempt: { ...attempt, error: 'timeout_response' }, words: 'no answer (timeout_response)', succeeded: false },
])('an attempt that ended with $words has succeeded: $succeeded', ({ attempt: made, words, succeeded }) => {
  expect(toWords(made)).toBe(words);
  expect(hasSucceeded(made)).toBe(succeeded);
});

test('a line of the log has the time, what came of the attempt and how long it took', () => {
  expect(toLogLine({ ...attempt, error: 'dns_failed' })).toBe(
    '1970-01-01T00:00:01.000Z no answer (dns_failed) after 12 ms',
  );
  expect(toLogLine({ ...attempt, status: 500, answer: '' })).toBe('1970-01-01T00:00:01.000Z answered 500 after 12 ms');
});

test('an answer can’t control what it is printed to, nor reverse or hide a part of the line', () => {
  const line = toLogLine({ ...attempt, status: 500, answer: '\u001b[31mred\u202e\u0000 \u200bevil<b>' });
  expect(line).toBe('1970-01-01T00:00:01.000Z answered 500 after 12 ms: [31mred evil<b>');
});

test('it has the beginning of the answer, on one line', () => {
  const line = toLogLine({ ...attempt, status: 500, answer: ` out\n\tof  order ${'x'.repeat(300)}` });
  expect(line).toBe(`1970-01-01T00:00:01.000Z answered 500 after 12 ms: out of order ${'x'.repeat(187)}…`);
});

/** Every route of bull-board that changes something, and what it is when operators may write. */
const CHANGES: Record<string, BoardAction | 'refused'> = {
  'put /api/queues/pause': 'pauseQueue',
  'put /api/queues/resume': 'resumeQueue',
  'post /api/queues/:queueName/add': 'refused',
  'put /api/queues/:queueName/retry/:queueStatus': 'refused',
  'put /api/queues/:queueName/promote': 'refused',
  'put /api/queues/:queueName/clean/:queueStatus': 'refused',
  'put /api/queues/:queueName/pause': 'pauseQueue',
  'put /api/queues/:queueName/resume': 'resumeQueue',
  'put /api/queues/:queueName/concurrency': 'refused',
  'put /api/queues/:queueName/rate-limit': 'refused',
  'put /api/queues/:queueName/rate-limit/release': 'refused',
  'put /api/queues/:queueName/empty': 'refused',
  'put /api/queues/:queueName/obliterate': 'refused',
  'put /api/queues/:queueName/job-schedulers/:schedulerId/remove': 'refused',
  'patch /api/queues/:queueName/job-schedulers/:schedulerId': 'refused',
  'put /api/queues/:queueName/job-schedulers/:schedulerId/run': 'refused',
  'put /api/queues/:queueName/:jobId/retry': 'redeliverDelivery',
  'put /api/queues/:queueName/:jobId/clean': 'refused',
  'put /api/queues/:queueName/:jobId/promote': 'redeliverDelivery',
  'patch /api/queues/:queueName/:jobId/update-data': 'refused',
  'patch /api/queues/:queueName/:jobId/delay': 'refused',
  'patch /api/queues/:queueName/:jobId/priority': 'refused',
  'put /api/queues/:queueName/:jobId/remove-unprocessed-children': 'refused',
};

const routes = appRoutes.api.flatMap(({ method, route }) =>
  [method].flat().flatMap((each) => [route].flat().map((path) => ({ method: each, route: path }))),
);
const changing = routes.filter(({ method }) => method !== 'get');

test("every route of this version of bull-board's that changes something was judged here", () => {
  expect(changing.map(({ method, route }) => `${method} ${route}`).sort()).toEqual(Object.keys(CHANGES).sort());
});

test.each(routes)('$method $route is as the table says', ({ method, route }) => {
  const change = CHANGES[`${method} ${route}`];
  const judge = (canWrite: boolean) => judgeAction({ method, route, canWrite });
  expect(judge(false)).toMatchObject(change === undefined ? { allow: true } : { allow: false, status: 405 });
  expect(judge(true)).toMatchObject(
    change === undefined
      ? { allow: true }
      : change === 'refused'
        ? { allow: false, status: 403 }
        : { allow: true, action: change },
  );
});

test.each(['delete', 'post', 'options', 'all'])(
  'a route to come, by %s, is refused until somebody judges it',
  (method) => {
    expect(judgeAction({ method, route: '/api/new', canWrite: true })).toMatchObject({ allow: false });
  },
);
