import { deliveryIdOf } from '@herald/core';
import { judgePastLists } from './judge-run.ts';
import { createKnownEndpoint } from './known-endpoint.ts';
import type { AcceptedFact } from './ledger.ts';
import type { PastList } from './start-readers.ts';
import type { Walk } from './walk-list.ts';

const SINCE = 10_000;
const STARTED_AT = 25_000;

const fact = (change: Partial<AcceptedFact> = {}): AcceptedFact => ({
  transitionId: 'trn_1',
  taskId: 'task_1',
  workspaceId: 'ws_1',
  event: 'task.done',
  report: { type: 'done' },
  from: 20_000,
  by: 20_100,
  ...change,
});

const endpointOf = (id: string) =>
  createKnownEndpoint({ id, workspaceId: 'ws_1', path: `/${id}`, secret: undefined, events: [], host: 0 });

const walkOf = (...ids: string[]): Walk => ({
  entries: ids.map((id) => ({ id, createdAt: 'then' })),
  isWhole: true,
  pages: 1,
  partial: 0,
});

const list = (change: Partial<PastList> = {}): PastList => ({
  name: 'the list',
  workspaceId: 'ws_1',
  since: SINCE,
  startedAt: STARTED_AT,
  endedAt: 26_000,
  walk: walkOf(),
  ...change,
});

type Case = {
  readonly given?: Partial<AcceptedFact>;
  readonly list?: Partial<PastList>;
  readonly mayBeStale?: boolean;
};

const [FIRST, SECOND] = [endpointOf('wh_1'), endpointOf('wh_2')];
const ids = [deliveryIdOf('trn_1', 'wh_1'), deliveryIdOf('trn_1', 'wh_2')].sort().reverse();

function judge({ given = {}, list: change = {}, mayBeStale = false }: Case): string[] {
  const known = fact(given);
  return judgePastLists([list(change)], new Map([[known.transitionId, known]]), [FIRST, SECOND], mayBeStale);
}

test('what was accepted before a list was read is missed, for a workspace at each of its receivers', () => {
  expect(judge({}).sort()).toEqual(ids.map((id) => `the list did not show ${id}`).sort());
  expect(judge({ list: { receiver: SECOND } })).toEqual([`the list did not show ${deliveryIdOf('trn_1', 'wh_2')}`]);
  expect(judge({ list: { walk: walkOf(...ids) } })).toEqual([]);
});

test.each<[string, Case]>([
  ['accepted while it was read', { given: { by: STARTED_AT + 1 } }],
  ['accepted before the time that it covers, or about then', { given: { from: SINCE + 1_999 } }],
  ['of another workspace', { given: { workspaceId: 'ws_2' } }],
  ['of another event than it was asked for', { list: { event: 'task.check_in' } }],
  ['there in truth, when a server may have answered what was true before', { mayBeStale: true }],
])('nothing is missed that is %s', (_case, change) => {
  expect(judge(change)).toEqual([]);
});

test('a delivery that is shown twice is a violation, also where servers may be stale', () => {
  const [id = ''] = ids;
  expect(judge({ mayBeStale: true, list: { walk: walkOf(id, id) } })).toEqual([`the list showed ${id} twice`]);
});

test('a list is not found when its receiver may be gone, also if its removal was answered later', () => {
  const receiver = endpointOf('wh_3');
  expect(judge({ list: { receiver, walk: undefined } })).toEqual(['the list was not found']);
  receiver.exists.change({ value: false, from: 25_500, by: 29_000, until: 29_000 });
  expect(judge({ list: { receiver, walk: undefined } })).toEqual([]);
});
