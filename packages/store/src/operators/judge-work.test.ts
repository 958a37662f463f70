import { judgeWork, judgeWorkers, type PendingWork } from './judge-work.ts';

const QUEUE = { shard: 0, queue: 'deliveries', waiting: 0, active: 0, delayed: 0, oldestDueMs: 0, isPaused: false };
const REST: PendingWork = {
  workers: 1,
  queues: [QUEUE],
  unanswered: { receivers: 0, deliveries: 0 },
  stopped: { receivers: 0, deliveries: 0 },
  failedLately: 0,
};

test.each<[code: string, change: Partial<PendingWork>]>([
  ['no_worker', { workers: 0 }],
  ['queue_stuck', { queues: [{ ...QUEUE, oldestDueMs: 31_000 }] }],
  ['queue_behind', { queues: [{ ...QUEUE, active: 1, oldestDueMs: 31_000 }] }],
  ['queue_paused', { queues: [{ ...QUEUE, isPaused: true }] }],
  ['breaker_open', { unanswered: { receivers: 2, deliveries: 5 } }],
  ['receivers_paused', { stopped: { receivers: 1, deliveries: 1 } }],
  ['deliveries_failed', { failedLately: 3 }],
])('%s says what is wrong and what to do', (code, change) => {
  const work = { ...REST, ...change };
  expect([...judgeWorkers(work), ...judgeWork(work)]).toMatchObject([
    { code, text: expect.stringMatching(/\w/) as string, whatToDo: expect.stringMatching(/\w/) as string },
  ]);
});

test('a service at rest has no findings', () => {
  expect([...judgeWorkers(REST), ...judgeWork(REST)]).toEqual([]);
});
