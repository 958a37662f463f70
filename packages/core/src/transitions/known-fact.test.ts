import { digestOf, judgeDifference, type KnownFact } from './known-fact.ts';
import { TransitionReport } from './transition-report.ts';

const report = (fields: object): TransitionReport => TransitionReport.parse(fields);
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
