import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import type { LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { Logger } from '@herald/runtime/log';
import type { RecordReply } from '@herald/store/deliveries/delivery-store';
import { createDeliveryReport } from './report.ts';

const NOW = 1_800_000_000_000;
const endpoint: EndpointRecord = {
  id: 'wh_1',
  workspaceId: 'ws_1',
  url: 'https://hooks.example.com/in?token=canary',
  events: [],
  description: '',
  enabled: true,
  createdAt: NOW,
  origin: 'ori',
  group: 'wh_x',
  encryptedSecret: 'encrypted',
  health: { consecutiveFailures: 0 },
};
const loaded: LoadedDelivery = {
  kind: 'loaded',
  delivery: {
    id: 'dlv_1',
    workspaceId: 'ws_1',
    endpointId: 'wh_1',
    transitionId: 'trn_1',
    taskId: 'task_1',
    event: 'task.done',
    status: 'pending',
    createdAt: NOW,
    tries: 0,
    scheduledAt: NOW,
    owedAttempts: 0,
  },
  body: Buffer.from('{}'),
  requestId: 'req_1',
};
const recorded = (reply: Partial<RecordReply>): RecordReply => ({
  kind: 'recorded',
  pendingRedeliveries: 0,
  ...reply,
});

function prepare() {
  const lines: string[] = [];
  const fields: unknown[] = [];
  const counts: string[] = [];
  const at = (level: string) => (event: string, facts?: unknown) => {
    lines.push(`${level} ${event}`);
    fields.push(facts);
  };
  const logger: Logger = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
  const count =
    (name: string) =>
    (...args: unknown[]) =>
      counts.push([name, ...args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg)))].join(' '));
  const report = createDeliveryReport({
    logger,
    deliveries: {
      created: count('created'),
      settled: count('settled'),
      recovered: count('recovered'),
      replayed: count('replayed'),
      endpointDisabled: count('disabled'),
    },
    attempts: {
      attempted: (event, outcome) => count('attempted')(event, outcome.kind),
      delivered: count('delivered'),
      breakerChanged: count('breaker'),
    },
  });
  const attempt = (status: number, reply: Partial<RecordReply>, reason?: string, of: Partial<EndpointRecord> = {}) => {
    const record: AttemptRecord = { at: NOW, durationMs: 5, status };
    const outcome = { kind: 'responded', status, answer: '' } as const;
    const now = NOW + 7;
    report.attempted({
      ...{ loaded, outcome, reason, now },
      endpoint: { ...endpoint, ...of },
      attempt: record,
      reply: recorded(reply),
    });
  };
  return { report, attempt, lines, fields, counts };
}

test.each<{
  when: string;
  status: number;
  reply: Partial<RecordReply>;
  reason?: string;
  lines: string[];
  counts: string[];
}>([
  {
    when: 'delivered: at level debug, with its latency',
    status: 200,
    reply: { status: 'delivered', change: 'settled' },
    lines: ['debug delivery.attempted'],
    counts: ['settled {"event":"task.done","status":"delivered"}', 'delivered task.done 7'],
  },
  {
    when: 'tried again: nothing is settled',
    status: 500,
    reply: { status: 'pending' },
    lines: ['info delivery.attempted'],
    counts: [],
  },
  {
    when: 'failed for good: a warning',
    status: 500,
    reply: { status: 'failed', change: 'settled' },
    reason: 'schedule_exhausted',
    lines: ['warn delivery.attempted'],
    counts: ['settled {"event":"task.done","status":"failed","reason":"schedule_exhausted"}'],
  },
  {
    when: 'ended by a 410: canceled, whatever was to follow',
    status: 410,
    reply: { status: 'canceled', change: 'settled', disabled: 'gone' },
    lines: ['info delivery.attempted', 'warn endpoint.disabled'],
    counts: ['settled {"event":"task.done","status":"canceled","reason":"receiver_disabled"}', 'disabled gone'],
  },
  {
    when: 'redelivered, and delivered before: settled by no one again',
    status: 200,
    reply: { status: 'delivered' },
    lines: ['debug delivery.attempted'],
    counts: [],
  },
  {
    when: 'redelivered, and failed before: recovered',
    status: 200,
    reply: { status: 'delivered', change: 'recovered' },
    lines: ['debug delivery.attempted'],
    counts: ['recovered task.done'],
  },
  {
    when: 'the last of those that open a breaker',
    status: 500,
    reply: { status: 'pending', breaker: 'opened' },
    lines: ['info delivery.attempted', 'warn endpoint.breaker_opened'],
    counts: ['breaker opened'],
  },
])('$when', ({ status, reply, reason, lines, counts }) => {
  const { attempt, ...seen } = prepare();
  attempt(status, reply, reason);
  expect(seen.lines).toEqual(lines);
  expect(seen.counts).toEqual(['attempted task.done responded', ...counts]);
});

test('a line has every id and the host, and nothing of the path', () => {
  const { attempt, fields } = prepare();
  attempt(500, { status: 'pending' });
  expect(fields[0]).toMatchObject({
    deliveryId: 'dlv_1',
    transitionId: 'trn_1',
    taskId: 'task_1',
    workspaceId: 'ws_1',
    requestId: 'req_1',
    endpointId: 'wh_1',
    host: 'hooks.example.com',
    status: 500,
    verdict: 'retry',
    sinceAcceptanceMs: 5,
  });
  expect(JSON.stringify(fields)).not.toContain('canary');
});

test('an endpoint that refuses all that waits for it gets a few lines at level info, and every attempt is counted', () => {
  jest.useFakeTimers();
  const { attempt, lines, counts, fields } = prepare();
  for (let each = 0; each < 1_000; each++) attempt(500, { status: 'pending' });
  jest.advanceTimersByTime(10_000);
  jest.useRealTimers();
  expect(lines.filter((line) => line === 'info delivery.attempted')).toHaveLength(20);
  expect(lines.at(-1)).toBe('info endpoint.failures_not_logged');
  expect(fields.at(-1)).toMatchObject({ workspaceId: 'ws_1', group: 'wh_x', lines: 980 });
  expect(counts).toHaveLength(1_000);
});

test('the callbacks of a workspace bury nothing of what is written about another', () => {
  jest.useFakeTimers();
  const { attempt, lines, fields } = prepare();
  const reply = { status: 'pending', disabled: 'gone', breaker: 'opened' } as const;
  for (let each = 0; each < 12_000; each++)
    attempt(410, reply, undefined, { id: `cb_${each}`, group: `ori_${each % 500}` });
  const before = lines.length;
  const written = (from: number) => lines.slice(from).filter((line) => !line.startsWith('debug'));
  expect(written(0)).toHaveLength(200);
  attempt(500, reply, undefined, { id: 'wh_2', group: 'wh_2', workspaceId: 'ws_2' });
  expect(written(before)).toEqual([
    'info delivery.attempted',
    'warn endpoint.disabled',
    'warn endpoint.breaker_opened',
  ]);
  jest.advanceTimersByTime(10_000);
  jest.useRealTimers();
  expect(fields.at(-1)).toMatchObject({ workspaceId: 'ws_1', group: undefined });
});

test('an end without an attempt counts only for whoever made it', () => {
  const { report, counts, lines } = prepare();
  report.ended({ id: 'dlv_1' }, 'canceled', 'receiver_removed', { kind: 'settled' });
  report.ended({ id: 'dlv_1' }, 'canceled', 'receiver_removed', { kind: 'missing' });
  expect(counts).toEqual([]);
  report.ended({ id: 'dlv_1' }, 'canceled', 'receiver_removed', { kind: 'ended', event: 'task.done' });
  expect(counts).toEqual(['settled {"status":"canceled","reason":"receiver_removed","event":"task.done"}']);
  expect(lines).toEqual(['info delivery.ended']);
});

test('what a purge ended is counted together, by event and reason', () => {
  const { report, counts } = prepare();
  const purged = (id: string, event: 'task.done' | 'task.canceled') =>
    ({ id, event, reason: 'receiver_removed' }) as const;
  report.purged('wh_1', [purged('dlv_1', 'task.done'), purged('dlv_2', 'task.canceled'), purged('dlv_3', 'task.done')]);
  expect(counts).toEqual([
    'settled {"status":"canceled","reason":"receiver_removed","event":"task.done"} 2',
    'settled {"status":"canceled","reason":"receiver_removed","event":"task.canceled"} 1',
  ]);
});

test('a notice is a line and counts as a delivery, of its own event', () => {
  const { report, counts, lines, fields } = prepare();
  const draft = { transitionId: 'trn_2', deliveryId: 'dlv_2', kind: 'receiver', fields: '"canary":1' } as const;
  report.told(draft, 'receiver.disabled', endpoint);
  expect(counts).toEqual(['created receiver.disabled 1']);
  expect(lines).toEqual(['info notice.created']);
  expect(fields).toEqual([
    {
      event: 'receiver.disabled',
      deliveryId: 'dlv_2',
      transitionId: 'trn_2',
      endpointId: 'wh_1',
      workspaceId: 'ws_1',
      host: 'hooks.example.com',
    },
  ]);
});

test('notices that wait for NOTICE_URL are one warning a minute', () => {
  jest.useFakeTimers();
  const { report, lines } = prepare();
  for (let each = 0; each < 10; each++) report.noticeLeft('dlv_1');
  jest.advanceTimersByTime(60_000);
  report.noticeLeft('dlv_1');
  jest.useRealTimers();
  expect(lines).toEqual(['warn notice.not_configured', 'warn notice.not_configured']);
});
