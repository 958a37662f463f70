import { deliveryIdOf } from '@herald/core';
import { createHmac } from 'node:crypto';
import type { Evidence } from './evidence.ts';
import { judgeRun } from './judge-run.ts';
import { createKnownEndpoint, type FirstState } from './known-endpoint.ts';
import type { AcceptedFact } from './ledger.ts';
import type { DeliveryRecord } from './read-records.ts';
import type { Arrival } from './start-host.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const FIRST: FirstState = { id: 'wh_1', workspaceId: 'ws_1', path: '/one', secret: SECRET, events: [], host: 0 };
const FACT: AcceptedFact = {
  transitionId: 'trn_1',
  taskId: 'task_1',
  workspaceId: 'ws_1',
  event: 'task.done',
  report: { type: 'done' },
  from: 500,
  by: 600,
};
const ID = deliveryIdOf('trn_1', 'wh_1');

function arrival(
  answer: Arrival['answer'],
  change: { at?: number; signedAt?: number; path?: string; body?: object; secret?: string; host?: number } = {},
): Arrival {
  const { at = 1_000, signedAt = at, path = '/one', body = {}, secret = SECRET, host = 0 } = change;
  const timestamp = String(Math.floor(signedAt / 1_000));
  const rawBody = Buffer.from(JSON.stringify({ id: 'trn_1', sequence: 1, task: { id: 'task_1' }, ...body }));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const headers = {
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`,
    'webhook-id': ID,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', key).update(`${ID}.${timestamp}.`).update(rawBody).digest('base64')}`,
  };
  return { answer, host, deliveryId: ID, request: { method: 'POST', path, headers, rawBody, receivedAt: at } };
}

const answered = (...statuses: number[]) => statuses.map((status, at) => ({ at, durationMs: 1, status }));

function record(change: Partial<DeliveryRecord> = {}): DeliveryRecord {
  return {
    id: ID,
    endpointId: 'wh_1',
    transitionId: 'trn_1',
    status: 'delivered',
    tries: 1,
    createdAt: 550,
    settledAt: 1_000,
    attempts: answered(200),
    isCarried: false,
    ...change,
  };
}

/** So many requests, evenly over so many ms. */
const arrivals = (count: number, ms: number) =>
  Array.from({ length: count }, (_, index) => arrival(200, { at: 1_000 + (index * ms) / count }));

type Change = Partial<Omit<Evidence, 'endpoints'>> & { readonly endpoint?: ReturnType<typeof createKnownEndpoint> };

function judge({ endpoint = createKnownEndpoint(FIRST), ...change }: Change) {
  const other = createKnownEndpoint({ ...FIRST, id: 'wh_2', workspaceId: 'ws_2', path: '/two' });
  const endpoints = [endpoint, other];
  const shown = endpoints
    .filter(({ exists }) => exists.latest())
    .map(({ id, events, enabled }) => ({ id, url: '', events: events.latest(), enabled: enabled.latest() }));
  return judgeRun({
    facts: new Map([[FACT.transitionId, FACT]]),
    endpoints,
    receivers: { shown, at: 100_000 },
    arrivals: [arrival(200)],
    records: [record()],
    redeliveries: [],
    replays: [],
    triesOfSchedule: 3,
    latestAfterMs: 5_000,
    mayForgetUnanswered: false,
    ...change,
  });
}

function changed(change: (endpoint: ReturnType<typeof createKnownEndpoint>) => void) {
  const endpoint = createKnownEndpoint(FIRST);
  change(endpoint);
  return endpoint;
}

const at = (time: number) => ({ from: time, by: time + 10, until: time + 10 });

test('a delivery that arrived and is recorded so is as it must be', () => {
  const { counts, violations } = judge({});
  expect(violations).toEqual([]);
  expect(counts).toMatchObject({ accepted: 1, deliveries: 1, delivered: 1, lost: 0, arrivals: 1, duplicated: 0 });
});

test('what comes again after its 2xx is counted', () => {
  const { counts, violations } = judge({ arrivals: [arrival(500), arrival(200), arrival(204)] });
  expect(violations).toEqual([]);
  expect(counts.duplicated).toBe(1);
});

test('what used up its schedule is failed, and not lost', () => {
  const failed = record({
    status: 'failed',
    reason: 'schedule_exhausted',
    tries: 3,
    attempts: answered(500, 500, 500),
  });
  const { counts, violations } = judge({ arrivals: [arrival(500), arrival(500), arrival(500)], records: [failed] });
  expect(violations).toEqual([]);
  expect(counts).toMatchObject({ failed: 1, lost: 0 });
});

test('a failover may forget and tell anew, with another time and sequence, and with nothing else', () => {
  const told = (body: object) => judge({ mayForgetUnanswered: true, arrivals: [arrival(200), arrival(200, { body })] });
  expect(told({ sequence: 2, created_at: 'later' })).toMatchObject({ counts: { toldAnew: 1 }, violations: [] });
  expect(told({ outcome: {} }).violations).toContainEqual(expect.stringContaining('different bytes'));
});

test.each([
  { disabledAt: 5_900, lost: 0 },
  { disabledAt: 6_100, lost: 1 },
])(
  'a record may say that it ended as long before its receiver was disabled as a command may be late',
  ({ disabledAt, lost }) => {
    const endpoint = changed(({ enabled }) => {
      enabled.change({ value: false, ...at(disabledAt) });
    });
    const canceled = record({ status: 'canceled', reason: 'receiver_disabled', attempts: [], settledAt: 1_000 });
    expect(judge({ endpoint, arrivals: [], records: [canceled] }).counts.lost).toBe(lost);
  },
);

test('what was disabled or removed while it was pending is canceled, and not lost', () => {
  const endpoint = createKnownEndpoint(FIRST);
  endpoint.enabled.change({ value: false, ...at(700) });
  const canceled = record({ status: 'canceled', reason: 'receiver_disabled', attempts: [] });
  const { counts, violations } = judge({ endpoint, arrivals: [], records: [canceled] });
  expect(violations).toEqual([]);
  expect(counts).toMatchObject({ deliveries: 1, canceled: 1, lost: 0 });
});

test('while it is subscribed or is not, a transition may be sent or not', () => {
  const endpoint = createKnownEndpoint({ ...FIRST, events: ['task.check_in'] });
  endpoint.events.change({ value: ['task.done'], from: 550, by: 700, until: 700 });
  expect(judge({ endpoint }).violations).toEqual([]);
  expect(judge({ endpoint, arrivals: [], records: [] })).toMatchObject({ violations: [], counts: { deliveries: 0 } });
});

test('a rotated secret signs alone or beside the old one while both may be in force, and one that nobody was shown as well', () => {
  const endpoint = createKnownEndpoint(FIRST);
  endpoint.secret.change({ value: OTHER_SECRET, ...at(700) });
  for (const secret of [SECRET, OTHER_SECRET])
    expect(judge({ endpoint, arrivals: [arrival(200, { secret })] }).violations).toEqual([]);
  endpoint.secret.change({ value: undefined, from: 720, by: Infinity, until: 900 });
  const { counts, violations } = judge({ endpoint, arrivals: [arrival(200, { secret: 'whsec_none' })] });
  expect(violations).toEqual([]);
  expect(counts.notVerifiable).toBe(1);
});

test.each<[string, Change, RegExp]>([
  ['no record, and nothing arrived', { arrivals: [], records: [] }, /^lost: .* is not there/],
  ['a record that says delivered, though nothing arrived', { arrivals: [] }, /never answered 2xx/],
  [
    'a failure before its schedule was used up',
    { arrivals: [], records: [record({ status: 'failed', tries: 2, attempts: [] })] },
    /failed after 2 tries/,
  ],
  [
    'a canceled delivery',
    { arrivals: [], records: [record({ status: 'canceled', attempts: [] })] },
    /nothing in the run explains/,
  ],
  [
    'a pending delivery that nothing carries on',
    { records: [record({ status: 'pending', attempts: [] })] },
    /not in the queue/,
  ],
  ['a record of a transition that was never accepted', { facts: new Map(), arrivals: [] }, /was never accepted/],
  [
    'a record for an endpoint without subscription',
    { records: [record(), record({ id: 'dlv_2', endpointId: 'wh_2' })] },
    /was not subscribed/,
  ],
  [
    'more answers in the log than were given',
    { records: [record({ attempts: answered(500, 200) })] },
    /1 attempts answered 500/,
  ],
  [
    'other bytes under the same id',
    { arrivals: [arrival(200), arrival(200, { body: { more: 1 } })] },
    /different bytes/,
  ],
  ['a wrong signature', { arrivals: [arrival(200, { secret: OTHER_SECRET })] }, /wrong signature/],
  [
    'an arrival in another workspace',
    { arrivals: [arrival(200), arrival(200, { path: '/two' })] },
    /came to wh_2 of ws_2/,
  ],
  [
    'an arrival at a path that was never registered',
    { arrivals: [arrival(200), arrival(200, { path: '/no' })] },
    /was never registered/,
  ],
  [
    'one more send long after it was delivered',
    { arrivals: [arrival(200), arrival(200, { at: 9_000 })] },
    /sent 8000 ms after/,
  ],
  [
    'a canceled delivery of a receiver that was disabled before and never since',
    {
      endpoint: changed((endpoint) => {
        endpoint.enabled.change({ value: false, ...at(100) });
        endpoint.enabled.change({ value: true, ...at(200) });
      }),
      arrivals: [],
      records: [record({ status: 'canceled', reason: 'receiver_disabled', attempts: [] })],
    },
    /nothing in the run explains/,
  ],
  [
    'a delivery to a receiver that no longer wanted the event',
    {
      endpoint: changed(({ events }) => {
        events.change({ value: ['task.check_in'], ...at(100) });
      }),
    },
    /was not subscribed to task.done/,
  ],
  [
    'an arrival long after the receiver was removed',
    {
      endpoint: changed(({ exists }) => {
        exists.change({ value: false, ...at(700) });
      }),
      arrivals: [arrival(200, { at: 9_000 })],
    },
    /long after it was disabled or removed/,
  ],
  [
    'an arrival at the host from which the receiver had moved',
    {
      endpoint: changed(({ host }) => {
        host.change({ value: 1, ...at(700) });
      }),
      arrivals: [arrival(200, { at: 9_000 })],
    },
    /came to host 0, where wh_1 was no more/,
  ],
  [
    'a signature with the old secret long after its overlap',
    {
      endpoint: changed(({ secret }) => {
        secret.change({ value: OTHER_SECRET, ...at(700) });
      }),
      arrivals: [arrival(200, { at: 9_000 })],
    },
    /wrong signature/,
  ],
  [
    'a redelivery that was never made',
    { redeliveries: [{ deliveryId: ID, endpoint: createKnownEndpoint(FIRST), from: 2_000 }] },
    /the redelivery of .* was never made/,
  ],
  [
    'a replay that left a failed delivery as it was',
    {
      records: [record({ status: 'failed', tries: 3, attempts: [] })],
      replays: [{ id: 'rp_1', endpoint: createKnownEndpoint(FIRST), from: 2_000, since: 500, status: 'done' }],
    },
    /the replay rp_1 of 2000 left/,
  ],
  [
    'a replay that is gone',
    { replays: [{ id: 'rp_1', endpoint: createKnownEndpoint(FIRST), from: 2_000, since: 500, status: undefined }] },
    /the replay rp_1 is not there/,
  ],
  [
    'a change that was answered and is not there in the end',
    { receivers: { at: 9_000, shown: [{ id: 'wh_1', url: '', events: [], enabled: false }] } },
    /wh_1 is disabled/,
  ],
  [
    'a signature with the time of a clock that is ahead',
    { arrivals: [arrival(200, { signedAt: 3_601_000 })] },
    /signed with a time that is 3600000 ms ahead/,
  ],
  [
    'a signature with the time of a clock that is behind',
    { arrivals: [arrival(200, { at: 1_000_000, signedAt: 990_000 })] },
    /signed with a time that is -10000 ms ahead/,
  ],
  [
    'an acceptance by a clock that is ahead',
    { records: [record({ createdAt: 3_600_550 })] },
    /was accepted at 3600550/,
  ],
  [
    'a receiver that is gone in the end',
    { receivers: { at: 9_000, shown: [] } },
    /wh_1 is missing, but was never removed/,
  ],
])('%s is a violation', (_case, evidence, sentence) => {
  expect(judge(evidence).violations).toContainEqual(expect.stringMatching(sentence));
});

describe('a receiver with a rate', () => {
  const endpoint = createKnownEndpoint({ ...FIRST, rateLimit: { perSecond: 10 } });
  const got = (count: number, ms: number, change: Change = {}) =>
    judge({ endpoint, arrivals: arrivals(count, ms), ...change }).violations.filter((each) =>
      each.includes(' may get '),
    );

  // A burst, its rate, and a burst that each of three workers was late with.
  test.each([
    [50, 999, []],
    [51, 999, ['wh_1 got 51 requests in 1 s, and may get 50']],
    [140, 9_999, []],
    [141, 9_999, ['wh_1 got 141 requests in 10 s, and may get 140']],
  ])('that got %i in %i ms: %j', (count, ms, violations) => {
    expect(got(count, ms)).toEqual(violations);
  });

  test('may get what was redelivered, and another burst after a failover', () => {
    const redeliveries = [{ deliveryId: ID, endpoint, from: 0 }];
    expect(got(1_000, 999, { redeliveries })).toEqual([]);
    expect(got(60, 999, { mayForgetUnanswered: true })).toEqual([]);
    expect(got(61, 999, { mayForgetUnanswered: true })).toHaveLength(1);
  });

  test('is the only one with a limit', () => {
    expect(got(1_000, 999, { endpoint: createKnownEndpoint(FIRST) })).toEqual([]);
  });
});
