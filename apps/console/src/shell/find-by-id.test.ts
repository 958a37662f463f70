import { findPage } from './find-by-id.ts';

test.each([
  [' dlv_1a ', '/console/deliveries/dlv_1a'],
  ['task_1a', '/console/tasks/task_1a'],
  ['wh_1a', '/console/receivers/wh_1a'],
  ['ws_1a', undefined],
  ['dlv_../x', undefined],
])('%s leads to %s', (id, page) => {
  expect(findPage(id)).toBe(page);
});
