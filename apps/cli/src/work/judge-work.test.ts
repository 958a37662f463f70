import type { ReceiverLine, QueueLine, Queues } from './read-queues.ts';
import { judgeWork, judgeWorkers } from './judge-work.ts';

const QUEUE: QueueLine = {
  shard: 0,
  queue: 'deliveries',
  waiting: 0,
  active: 0,
  delayed: 0,
  oldestDueMs: 0,
  isPaused: false,
};
const QUEUES: Queues = {
  workers: 1,
  acceptedPerSecond: 0,
  deliveredPerSecond: 0,
  emptyInMs: 0,
  queues: [QUEUE],
  receivers: [],
  receiverCount: 0,
  runningReplays: 0,
  failedLately: 0,
};
const OPEN: ReceiverLine = {
  receiver: 'wh_a',
  kind: 'receiver',
  workspace: 'ws_x',
  host: 'a.example',
  deliveries: 3,
  due: 1,
  inWork: 0,
  sentPerSecond: 0,
  emptyInMs: null,
  state: 'breaker_open',
  unanswered: 7,
  nextProbeAt: null,
  pausedUntil: null,
  waitsSince: null,
  nextDueAt: null,
};

test('a service at rest has no findings', () => {
  expect([...judgeWorkers(QUEUES), ...judgeWork(QUEUES)]).toEqual([]);
});

test.each([
  ['nothing to send', {}, 'warning'],
  ['something that is due', { waiting: 4 }, 'error'],
  ['something for later', { delayed: 1 }, 'error'],
  ['something that a dead worker had', { active: 2 }, 'error'],
])('no worker, with %s', (_name, change, level) => {
  expect(judgeWorkers({ ...QUEUES, workers: 0, queues: [{ ...QUEUE, ...change }] })).toMatchObject([
    { level, code: 'no_worker' },
  ]);
});

test.each<[string, Partial<Queues>, string, string]>([
  ['work that is due and not taken', { queues: [{ ...QUEUE, oldestDueMs: 31_000 }] }, 'error', 'queue_stuck'],
  ['too few workers', { queues: [{ ...QUEUE, active: 5, oldestDueMs: 31_000 }] }, 'warning', 'queue_behind'],
  ['a paused queue', { queues: [{ ...QUEUE, isPaused: true, oldestDueMs: 99_000 }] }, 'warning', 'queue_paused'],
  ['an open breaker', { receivers: [OPEN] }, 'warning', 'breaker_open'],
  ['failed deliveries', { failedLately: 1 }, 'warning', 'deliveries_failed'],
])('%s', (_name, change, level, code) => {
  expect(judgeWork({ ...QUEUES, ...change })).toMatchObject([{ level, code }]);
});

test('a receiver that is paused or answers is no finding', () => {
  const receivers: ReceiverLine[] = [
    { ...OPEN, state: 'paused' },
    { ...OPEN, state: 'flowing' },
  ];
  expect(judgeWork({ ...QUEUES, receivers })).toEqual([]);
});

test('without a worker a queue that waits is no finding of its own', () => {
  expect(judgeWork({ ...QUEUES, workers: 0, queues: [{ ...QUEUE, oldestDueMs: 99_000 }] })).toEqual([]);
});
