import { findPage, isTransition, pageOfTransition } from './find-by-id.ts';

test.each([
  [' dlv_1a ', '/console/deliveries/dlv_1a'],
  ['task_1a', '/console/tasks/task_1a'],
  ['wh_1a', '/console/receivers/wh_1a'],
  ['ws_1a', undefined],
  ['dlv_../x', undefined],
])('%s leads to %s', (id, page) => {
  expect(findPage(id)).toBe(page);
});

test('the id in the body of an event leads to its Task, or to the delivery of a test event', () => {
  expect(isTransition(` trn_${'a2'.repeat(16)} `)).toBe(true);
  expect(['trn_a', `trn_${'A2'.repeat(16)}`, 'task_1a'].filter(isTransition)).toEqual([]);
  expect(pageOfTransition([{ id: 'dlv_1', taskId: 'task_1' }])).toBe('/console/tasks/task_1');
  expect(pageOfTransition([{ id: 'dlv_1', taskId: null }])).toBe('/console/deliveries/dlv_1');
  expect(pageOfTransition([])).toBeUndefined();
});
