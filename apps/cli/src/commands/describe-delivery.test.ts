import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';
import { nextTryOf, type Wait } from './describe-delivery.ts';

const AT = Date.UTC(2030, 0, 31, 12);

const PENDING: DeliveryDescription = {
  delivery: {
    workspaceId: 'ws_x',
    event: 'task.done',
    id: 'dlv_1',
    endpointId: 'wh_1',
    transitionId: 'trn_1',
    status: 'pending',
    createdAt: AT,
    scheduledAt: AT,
    tries: 1,
    owedAttempts: 0,
    nextAttemptAt: AT,
  },
  endpointState: 'enabled',
  attempts: 1,
  group: 'wh_1',
};

test('without anything else to wait for it is the time of the schedule', () => {
  expect(nextTryOf(PENDING)).toEqual(new Date(AT));
});

test('a breaker that is open says what has to happen first, and when that is found out', () => {
  const nextProbeAt = new Date(AT + 5_000);
  expect(nextTryOf({ ...PENDING, wait: { state: 'breaker_open', nextProbeAt } })).toEqual({
    before: 'when the endpoint answers again (next probe ',
    at: nextProbeAt,
    after: ')',
  });
});

test('one that waits for its turn goes after another, or by the time at which its timeout ends', () => {
  expect(nextTryOf({ ...PENDING, waitingFor: 'dlv_0' })).toEqual({
    before: 'after dlv_0, by ',
    at: new Date(AT),
    after: '',
  });
});

test('a rate says so', () => {
  expect(nextTryOf({ ...PENDING, wait: { state: 'rate_limited' } })).toBe('when the rate of its receiver allows it');
});

test.each([
  [
    'ends later than the schedule',
    AT + 1,
    { before: '', at: new Date(AT + 1), after: ' (the endpoint asked for a pause)' },
  ],
  ['ends before', AT - 1, new Date(AT)],
])('a pause that %s', (_when, until, cell) => {
  const wait: Wait = { state: 'paused', pausedUntil: new Date(until) };
  expect(nextTryOf({ ...PENDING, wait })).toEqual(cell);
});
