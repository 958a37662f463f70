import { digestOf, factOf, judgeDifference, type KnownFact } from './fact.ts';
import { transitionIdOf } from '../ids/ids.ts';
import { TransitionReport } from './transition-report.ts';

const outcome = { summary: 'so far' };
const report = (fields: unknown): TransitionReport => TransitionReport.parse(fields);

const start = report({ type: 'start' });
const checkpoint = report({ type: 'checkpoint', checkpointId: 'c1', canonical: true, material: true, outcome });
const action = report({
  type: 'action_required',
  actionVersion: 1,
  approvalRequests: [{ id: 'a1', primary: true, title: 'Pay?' }],
  outcome,
});
const done = report({ type: 'done', result: 42, outcome, usage: { tokens: 1 } });
const canceled = report({ type: 'canceled' });

// DESIGN section 3: Task id, event, and checkpoint id, action version or `terminal`; for ever, as receivers deduplicate by it.
test.each([
  { said: start, key: 'start', event: undefined, parts: ['start', 'start'] },
  { said: checkpoint, key: 'checkpoint:c1', event: 'task.check_in', parts: ['task.check_in', 'c1'] },
  { said: action, key: 'action:1', event: 'task.requires_action', parts: ['task.requires_action', '1'] },
  { said: done, key: 'done', event: 'task.done', parts: ['task.done', 'terminal'] },
  { said: canceled, key: 'canceled', event: 'task.canceled', parts: ['task.canceled', 'terminal'] },
])('the fact $key emits $event, and its id follows from $parts', ({ said, key, event, parts: [name, detail] }) => {
  const transitionId = transitionIdOf('task_1', String(name), String(detail));
  expect(factOf('task_1', said)).toStrictEqual({ transitionId, key, ...(event && { event }) });
});

test.each([
  [true, true, 'task.check_in'],
  [true, false, undefined],
  [false, true, undefined],
  [false, false, undefined],
])('a checkpoint with canonical %p and material %p emits %s, and is the same fact', (canonical, material, event) => {
  const fact = factOf('task_1', report({ type: 'checkpoint', checkpointId: 'c1', canonical, material, outcome }));
  const { transitionId, key } = factOf('task_1', checkpoint);
  expect(fact).toStrictEqual({ transitionId, key, ...(event && { event }) });
});

test.each<{ when: string; one: TransitionReport; other: TransitionReport }>([
  { when: 'a close by the legacy path, and the executor’s done', one: report({ type: 'done' }), other: done },
  {
    when: 'one checkpoint with two outcomes',
    one: checkpoint,
    other: { ...checkpoint, outcome: { summary: 'changed' } } as TransitionReport,
  },
  {
    when: 'one action version with two contents',
    one: action,
    other: { ...action, apiResolvable: true, outcome: { summary: 'changed' } } as TransitionReport,
  },
])('$when are the same fact', ({ one, other }) => {
  expect(factOf('task_1', one)).toEqual(factOf('task_1', other));
});

test('different facts, and the same fact about different Tasks, have different ids and keys', () => {
  const reports = [
    start,
    checkpoint,
    { ...checkpoint, checkpointId: 'c2' } as TransitionReport,
    { ...checkpoint, checkpointId: '1' } as TransitionReport,
    { ...checkpoint, checkpointId: 'terminal' } as TransitionReport,
    { ...checkpoint, checkpointId: 'start' } as TransitionReport,
    action,
    { ...action, actionVersion: 2 } as TransitionReport,
    done,
    canceled,
  ];
  const ids = ['task_1', 'task_2'].flatMap((taskId) => reports.map((said) => factOf(taskId, said).transitionId));
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(reports.map((said) => factOf('task_1', said).key)).size).toBe(reports.length);
});

const BARE = { type: 'checkpoint', checkpointId: 'c1', canonical: true, material: false };
const CHECKPOINT = { ...BARE, outcome: { summary: 'so far', notes: { a: 1, b: [2, 3] } } };
const ACTION = {
  type: 'action_required',
  actionVersion: 1,
  approvalRequests: [{ id: 'pay', primary: true, title: 'Pay?' }],
  outcome: { summary: 'waiting' },
};

function differsFrom(first: object, again: object, sequence = 1): boolean {
  const digest = digestOf(report(first));
  return judgeDifference({}, report(again), { sequence, ...(digest !== undefined && { digest }) });
}

test('a digest has seven digits, and is the same for ever, since Tasks keep it', () => {
  expect(digestOf(report(CHECKPOINT))).toBe('8170646');
  expect(digestOf(report(ACTION))).toMatch(/^\d{7}$/);
});

test.each([{ type: 'start' }, { type: 'done', result: 1 }, { type: 'canceled' }])('$type needs no digest', (fields) => {
  expect(digestOf(report(fields))).toBeUndefined();
});

test.each<[string, object, object]>([
  ['the same words', CHECKPOINT, CHECKPOINT],
  ['other orders of keys', CHECKPOINT, { ...CHECKPOINT, outcome: { notes: { b: [2, 3], a: 1 }, summary: 'so far' } }],
  ['defaults left out or said', ACTION, { ...ACTION, decisionItems: [], apiResolvable: false }],
])('a report that comes again in %s does not differ', (_, first, again) => {
  expect(differsFrom(first, again)).toBe(false);
});

test.each<[string, object, object]>([
  ['another outcome', CHECKPOINT, { ...CHECKPOINT, outcome: { summary: 'changed' } }],
  ['no outcome', CHECKPOINT, BARE],
  ['an internal field changed', CHECKPOINT, { ...CHECKPOINT, outcome: { ...CHECKPOINT.outcome, notes: 'new' } }],
  ['another flag', CHECKPOINT, { ...CHECKPOINT, canonical: false }],
  [
    'another order of a list',
    CHECKPOINT,
    { ...CHECKPOINT, outcome: { summary: 'so far', notes: { a: 1, b: [3, 2] } } },
  ],
  ['other decision items', ACTION, { ...ACTION, decisionItems: [{ id: 'yes', label: 'Yes' }] }],
  ['another title', ACTION, { ...ACTION, approvalRequests: [{ id: 'pay', primary: true, title: 'Pay now?' }] }],
])('a report that comes again with %s differs', (_, first, again) => {
  expect(differsFrom(first, again)).toBe(true);
});

test('one that emits differs from one that emitted nothing, also where no digest was kept', () => {
  expect(judgeDifference({}, report({ ...CHECKPOINT, material: true }), { sequence: 0 })).toBe(true);
});

test.each([CHECKPOINT, ACTION, { type: 'start' }, { type: 'canceled' }])(
  'nothing is said to differ of a $type without a digest',
  (fields) => {
    const known: KnownFact = { sequence: 1 };
    expect(judgeDifference({ result: 1 }, report(fields), known)).toBe(false);
  },
);

test.each([
  { said: {}, differs: false },
  { said: { result: { b: 2, a: 1 }, usage: 5 }, differs: false },
  { said: { outcome: { summary: 'fills a gap' } }, differs: false },
  { said: { result: { a: 1 } }, differs: true },
  { said: { usage: null }, differs: true },
])('a done that says $said on a Task with a result and a usage differs: $differs', ({ said, differs }) => {
  const have = { result: { a: 1, b: 2 }, usage: 5 };
  expect(judgeDifference(have, report({ type: 'done', ...said }), { sequence: 1 })).toBe(differs);
});
