import { sayNone } from './list-deliveries.ts';

const limit = 50;

test.each([
  [{ limit, status: 'failed' }, 'No failed deliveries.'],
  [{ limit, notices: true, status: 'failed' }, 'No failed notices.'],
  [{ limit, workspace: 'ws_x' }, 'No deliveries of ws_x.'],
  [{ limit, receiver: 'wh_1', status: 'pending', event: 'task.done' }, 'No pending task.done deliveries of wh_1.'],
  [{ limit, workspace: 'ws_x', httpStatus: '5xx' }, 'No deliveries of ws_x answered 5xx.'],
  [{ limit, workspace: 'ws_x', error: 'too_old' }, 'No deliveries of ws_x with too_old.'],
  [{ limit, task: 'task_1', since: 0 }, 'No deliveries of task_1 since 1970-01-01T00:00:00.000Z.'],
] as const)('nothing of %j: %s', (wanted, sentence) => {
  expect(sayNone(wanted)).toBe(sentence);
});
