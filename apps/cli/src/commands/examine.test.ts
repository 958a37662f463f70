import { checkConfiguration, judgeWork, judgeWorkers } from './examine.ts';
import type { QueueLine, Queues, ReceiverLine } from './read-queues.ts';

const GOOD = {
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
  EGRESS_DNS_SERVERS: '127.0.0.53',
};

const sentencesOf = (env: NodeJS.ProcessEnv, ...processes: ('api' | 'worker')[]) =>
  checkConfiguration(env, processes).findings.map(({ level, sentence }) => `${level}: ${sentence}`);

test('a good configuration has no findings', () => {
  expect(sentencesOf(GOOD, 'api', 'worker')).toEqual([]);
});

test('a problem that both processes have is told once, and one of a single process names it', () => {
  const env = { ...GOOD, SECRETS_KEY: 'short', RETRY_SCHEDULE: 'soon', PORT: '99999' };
  const found = sentencesOf(env, 'api', 'worker');
  expect(found).toHaveLength(3);
  expect(found.join('\n')).toMatch(/^error: SECRETS_KEY must be base64 .*\(api and worker\)$/m);
  expect(found.join('\n')).toMatch(/^error: PORT must be .*\(api\)$/m);
  expect(found.join('\n')).toMatch(/^error: RETRY_SCHEDULE must be .*\(worker\)$/m);
  expect(found.join('\n')).not.toContain('short');
});

test('ports that the two could not both have on one machine are an error, unless only one of them is looked at', () => {
  const env = { ...GOOD, PORT: '9000', WORKER_PORT: '9000' };
  expect(sentencesOf(env, 'api', 'worker')).toEqual([
    'error: WORKER_PORT must not be 9000, since PORT is (api and worker)',
  ]);
  expect(sentencesOf(env, 'worker')).toEqual([]);
  expect(sentencesOf({ ...GOOD, OPERATOR_PORT: '8081' }, 'api', 'worker')).toEqual([
    'error: WORKER_PORT must not be 8081, since OPERATOR_PORT is (api and worker)',
  ]);
  expect(sentencesOf({ ...GOOD, OPERATOR_PORT: '8080' }, 'api')).toEqual([
    expect.stringMatching(/^error: OPERATOR_PORT must be another port than PORT.*\(api\)$/),
  ]);
});

test('only the variables of the named process are looked at', () => {
  const { ACTION_URL_TEMPLATE: _, ...env } = GOOD;
  expect(sentencesOf(env, 'worker')).toEqual([]);
  expect(sentencesOf(env, 'api')).toEqual([expect.stringMatching(/^error: ACTION_URL_TEMPLATE must be set/)]);
});

test('a worker that looks names up through the system is a warning', () => {
  const env = { ...GOOD, EGRESS_DNS_SERVERS: '', EGRESS_DNS: 'system' };
  expect(sentencesOf(env, 'api', 'worker')).toEqual([expect.stringMatching(/^warning: EGRESS_DNS is system/)]);
  expect(sentencesOf(env, 'api')).toEqual([]);
});

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
