import { findPlaces, isTransition, pageOfTransition } from './find-by-id.ts';

const RECEIVERS = [
  { id: 'wh_1', url: 'https://hooks.acme.example/herald', description: 'Production' },
  { id: 'wh_2', url: 'https://billing.acme.example/', description: '' },
];

test.each([
  [' dlv_1a ', ['/console/deliveries/dlv_1a']],
  ['task_1a', ['/console/tasks/task_1a']],
  ['wh_1a', ['/console/receivers/wh_1a']],
  ['ws_1a', []],
  ['dlv_../x', []],
  ['', []],
  ['ACME', ['/console/receivers/wh_1', '/console/receivers/wh_2']],
  ['product', ['/console/receivers/wh_1']],
  ['5xx', ['/console/deliveries?http=5xx']],
  ['503', ['/console/deliveries?http=503']],
  ['failed', expect.arrayContaining(['/console/deliveries?status=failed', '/console/deliveries?error=tls_failed'])],
  ['requires', ['/console/deliveries?event=task.requires_action']],
  ['expired', ['/console/deliveries?error=tls_expired']],
  ['tls_not_tls', ['/console/deliveries?error=tls_not_tls']],
])('%p leads to %j', (text, pages) => {
  expect(findPlaces(text, RECEIVERS).map(({ page }) => page)).toEqual(pages);
});

test('the id in the body of an event leads to its Task, or to the delivery of a test event', () => {
  expect(isTransition(` trn_${'a2'.repeat(16)} `)).toBe(true);
  expect(['trn_a', `trn_${'A2'.repeat(16)}`, 'task_1a'].filter(isTransition)).toEqual([]);
  expect(pageOfTransition([{ id: 'dlv_1', taskId: 'task_1' }])).toBe('/console/tasks/task_1');
  expect(pageOfTransition([{ id: 'dlv_1', taskId: null }])).toBe('/console/deliveries/dlv_1');
  expect(pageOfTransition([])).toBeUndefined();
});
