import { deliveryIdOf } from '@herald/core';
import type { Evidence } from './evidence.ts';
import { judgeHistory } from './judge-run.ts';
import { createKnownEndpoint } from './known-endpoint.ts';
import type { AcceptedFact } from './ledger.ts';
import type { HistoryRow } from './read-history-rows.ts';
import type { ReadList } from './read-lists.ts';
import type { Arrival } from './start-host.ts';

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
const OTHER_ID = deliveryIdOf('trn_1', 'wh_2');

const row = (change: Partial<HistoryRow> = {}): HistoryRow => ({
  id: ID,
  endpointId: 'wh_1',
  transitionId: 'trn_1',
  status: 'delivered',
  tries: 1,
  createdAt: 550,
  settledAt: 1_000,
  attempts: [],
  isCarried: false,
  body: '{"id":"trn_1"}',
  ...change,
});

const arrival = (body = '{"id":"trn_1"}'): Arrival => ({
  answer: 200,
  host: 0,
  deliveryId: ID,
  request: { method: 'POST', path: '/one', headers: {}, rawBody: Buffer.from(body), receivedAt: 1_000 },
});

const endpointOf = (id: string, workspaceId: string) =>
  createKnownEndpoint({ id, workspaceId, path: `/${id}`, secret: undefined, events: [], host: 0 });

/** A list of the workspace, or of its receiver, that shows these. */
const list = (ids: readonly string[], endpointId?: string): ReadList => ({
  name: 'the list',
  workspaceId: 'ws_1',
  ...(endpointId !== undefined && { endpointId }),
  walk: { entries: ids.map((id) => ({ id, createdAt: 'then' })), isWhole: true, pages: 1, partial: 0 },
});

type Change = Partial<Evidence> & { readonly rows?: readonly HistoryRow[]; readonly lists?: readonly ReadList[] };

function judge({ rows = [row()], lists = [list([ID]), list([ID], 'wh_1')], ...change }: Change = {}) {
  return judgeHistory({
    facts: new Map([[FACT.transitionId, FACT]]),
    endpoints: [endpointOf('wh_1', 'ws_1'), endpointOf('wh_2', 'ws_2')],
    receivers: { shown: [], at: 0 },
    arrivals: [arrival(), arrival()],
    records: rows,
    history: { rows, lists },
    redeliveries: [],
    replays: [],
    triesOfSchedule: 3,
    latestAfterMs: 5_000,
    mayForgetUnanswered: false,
    ...change,
  });
}

test('a delivery that is there once, with the bytes that were sent, and once in each list is as it must be', () => {
  expect(judge()).toEqual([]);
});

test('a failover may have told anew what was sent, and what came last is there', () => {
  const told = { mayForgetUnanswered: true, arrivals: [arrival('{"old":1}'), arrival()] };
  expect(judge(told)).toEqual([]);
  expect(judge({ ...told, arrivals: [arrival('{"old":1}')] })).toHaveLength(1);
});

test.each<[string, Change, string | RegExp]>([
  ['a delivery that no store has', { rows: [], lists: [] }, `${ID} is neither in Redis nor in the history`],
  [
    'a delivery with two rows',
    { rows: [row(), row({ createdAt: 700 })] },
    `the history has ${ID} 2 times: of 550 and 700`,
  ],
  ['a delivery without its body', { rows: [row({ body: null })] }, `the history has no body of ${ID}`],
  ['other bytes than were sent', { rows: [row({ body: '{}' })] }, /other bytes of .* than were sent: {}, not {"id"/],
  ['a list without it', { lists: [list([])] }, `the list did not show ${ID}`],
  ['a list of its receiver without it', { lists: [list([], 'wh_1')] }, `the list did not show ${ID}`],
  ['a list that shows it twice', { lists: [list([ID, ID])] }, `the list showed ${ID} twice`],
  [
    'a list with a delivery of another workspace',
    { rows: [row(), row({ id: OTHER_ID, endpointId: 'wh_2' })], lists: [list([OTHER_ID, ID].sort().reverse())] },
    `the list showed ${OTHER_ID}, which isn't its own`,
  ],
])('%s is a violation', (_case, change, sentence) => {
  const [first, ...others] = judge(change);
  expect(others).toEqual([]);
  expect(first).toMatch(sentence);
});
