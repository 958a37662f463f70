import type { Queues } from '../queues/read-queues.ts';
import { judgeWork, judgeWorkers } from './judge-work.ts';

const QUEUE = {
  shard: 0,
  queue: 'deliveries' as const,
  waiting: 0,
  active: 0,
  delayed: 0,
  oldestDueMs: 0,
  isPaused: false,
};
const QUEUES: Queues = {
  ...{ workers: 1, queues: [QUEUE], backlogs: [], backlogDestinations: 0, backlogDeliveries: 0 },
  ...{ openTransitions: 0, overdueOwed: 0, runningReplays: 0, failedLately: 0 },
};
const BACKLOG = {
  ...{ workspace: 'ws_x', host: 'a.example', deliveries: 3, unanswered: 7 },
  ...{ nextProbeAt: null, holdUntil: null, waitsSince: null },
};

test('a service at rest has no findings', () => {
  expect([...judgeWorkers(QUEUES), ...judgeWork(QUEUES, 0)]).toEqual([]);
});

test.each([
  ['nothing to send', 0, 'warning'],
  ['something to send', 4, 'error'],
])('no worker, with %s', (_name, openTransitions, level) => {
  expect(judgeWorkers({ ...QUEUES, workers: 0, openTransitions })).toMatchObject([{ level, code: 'no_worker' }]);
});

test.each<[string, Partial<Queues>, number, string, string]>([
  ['work that is due and not taken', { queues: [{ ...QUEUE, oldestDueMs: 31_000 }] }, 0, 'error', 'queue_stuck'],
  ['too few workers', { queues: [{ ...QUEUE, active: 5, oldestDueMs: 31_000 }] }, 0, 'warning', 'queue_behind'],
  ['a paused queue', { queues: [{ ...QUEUE, isPaused: true, oldestDueMs: 99_000 }] }, 0, 'warning', 'queue_paused'],
  ['marks that nobody takes', {}, 2, 'error', 'owed_left'],
  ['an open breaker', { backlogs: [{ ...BACKLOG, state: 'breaker_open' }] }, 0, 'warning', 'breaker_open'],
  ['failed deliveries', { failedLately: 1 }, 0, 'warning', 'deliveries_failed'],
])('%s', (_name, change, oldOwed, level, code) => {
  expect(judgeWork({ ...QUEUES, ...change }, oldOwed)).toMatchObject([{ level, code }]);
});

test('without a worker a queue that waits is no finding of its own', () => {
  expect(judgeWork({ ...QUEUES, workers: 0, queues: [{ ...QUEUE, oldestDueMs: 99_000 }] }, 3)).toEqual([]);
});
