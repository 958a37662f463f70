import { transitionIdOf } from '../ids/ids.ts';
import { factOf } from './fact.ts';
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
