import type { Delivery } from '@herald/core';
import { toFacts, toTitle } from './delivery-facts.ts';

const delivery: Delivery = {
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
    delivery,
    host: 'a.example:8443',
    endpointState: 'enabled',
    attempts: 3,
    lastOutcome: '503',
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
  const { nextAttemptAt: _gone, ...rest } = delivery;
  const settled = {
    ...rest,
    status: 'canceled',
    settledAt: 1_000,
    reason: 'receiver_removed',
    owedAttempts: 1,
  } as const;
  const facts = toFacts({ delivery: settled, endpointState: 'removed', attempts: 0 });
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
