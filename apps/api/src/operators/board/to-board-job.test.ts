import type { Delivery } from '@herald/core';
import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';
import { toBoardJob, toFacts, toTitle } from './to-board-job.ts';

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
