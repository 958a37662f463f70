import { deliveryIdOf } from '@herald/core';
import { createHmac } from 'node:crypto';
import { judgeRun, type Evidence } from './judge-run.ts';
import type { AcceptedFact, KnownEndpoint } from './ledger.ts';
import type { Arrival } from './moods.ts';
import type { DeliveryRecord } from './read-records.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const ENDPOINT: KnownEndpoint = { id: 'wh_1', workspaceId: 'ws_1', path: '/one', secret: SECRET, events: [] };
const OTHER: KnownEndpoint = { ...ENDPOINT, id: 'wh_2', workspaceId: 'ws_2', path: '/two' };
const FACT: AcceptedFact = {
  ...{ transitionId: 'trn_1', taskId: 'task_1', event: 'task.done', endpoints: [ENDPOINT], report: { type: 'done' } },
};
const ID = deliveryIdOf('trn_1', 'wh_1');

function arrival(
  answer: Arrival['answer'],
  change: { at?: number; path?: string; body?: object; secret?: string } = {},
): Arrival {
  const { at = 1_000, path = '/one', body = {}, secret = SECRET } = change;
  const rawBody = Buffer.from(JSON.stringify({ id: 'trn_1', sequence: 1, task: { id: 'task_1' }, ...body }));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const headers = {
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`,
    ...{ 'webhook-id': ID, 'webhook-timestamp': '1' },
    'webhook-signature': `v1,${createHmac('sha256', key).update(`${ID}.1.`).update(rawBody).digest('base64')}`,
  };
  return { answer, deliveryId: ID, request: { method: 'POST', path, headers, rawBody, receivedAt: at } };
}

const answered = (...statuses: number[]) => statuses.map((status, at) => ({ at, durationMs: 1, status }));

function record(change: Partial<DeliveryRecord> = {}): DeliveryRecord {
  return {
    ...{ id: ID, endpointId: 'wh_1', transitionId: 'trn_1', status: 'delivered', tries: 1, settledAt: 1_000 },
    ...{ attempts: answered(200), isCarried: false, ...change },
  };
}

function judge(change: Partial<Evidence>) {
  const endpoints = new Map([ENDPOINT, OTHER].map((each) => [each.path, each]));
  const facts = new Map([[FACT.transitionId, FACT]]);
  const usual = { arrivals: [arrival(200)], records: [record()], triesOfSchedule: 3, latestAfterMs: 5_000 };
  return judgeRun({ facts, endpoints, ...usual, ...change });
}

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

test.each<[string, Partial<Evidence>, RegExp]>([
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
    /neither job, backlog nor mark/,
  ],
  ['a record of a transition that nobody was told of', { facts: new Map(), arrivals: [] }, /nobody was told of/],
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
  [
    'a wrong signature',
    { arrivals: [arrival(200, { secret: `whsec_${Buffer.alloc(32, 2).toString('base64')}` })] },
    /wrong signature/,
  ],
  [
    'an arrival in another workspace',
    { arrivals: [arrival(200), arrival(200, { path: '/two' })] },
    /came to wh_2 of ws_2/,
  ],
  [
    'an arrival at a path that nobody registered',
    { arrivals: [arrival(200), arrival(200, { path: '/no' })] },
    /nobody registered/,
  ],
  [
    'one more send long after it was delivered',
    { arrivals: [arrival(200), arrival(200, { at: 9_000 })] },
    /sent 8000 ms after/,
  ],
])('%s is a violation', (_case, evidence, sentence) => {
  expect(judge(evidence).violations).toContainEqual(expect.stringMatching(sentence));
});
