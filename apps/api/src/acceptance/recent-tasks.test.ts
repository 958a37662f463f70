import type { TaskRecord } from '@herald/store/tasks/task-record';
import { createRecentTasks } from './recent-tasks.ts';

const TASK: TaskRecord = {
  id: 'task_1',
  workspaceId: 'ws_1',
  executionWorkspaceId: 'ws_1',
  status: 'running',
  sequence: 0,
  revision: 'r',
  createdAt: 0,
  updatedAt: 0,
};

test('a Task is given out once, until it is put back', () => {
  const recent = createRecentTasks();
  recent.put(TASK);
  expect([recent.take('task_1'), recent.take('task_1')]).toEqual([TASK, undefined]);
});

test('of what it came to nothing is remembered: it may be large, and decides nothing', () => {
  const recent = createRecentTasks();
  const checkpoint = { checkpointId: 'c1', canonical: true, material: true, at: 0, outcome: { summary: 'so far' } };
  recent.put({ ...TASK, checkpoint, interim: { summary: 'so far' } });
  expect(recent.take('task_1')).toStrictEqual(TASK);
});

test.each<Partial<TaskRecord>>([
  { status: 'done' },
  { input: {} },
  { outcome: { summary: 'all' } },
  { usage: 0 },
  { result: 'some' },
])('one with %j is not remembered: it is over, or may be large', (more) => {
  const recent = createRecentTasks();
  recent.put({ ...TASK, ...more });
  expect(recent.take('task_1')).toBeUndefined();
});

test('what others keep changing is hardly remembered, and again when they leave it alone', () => {
  const recent = createRecentTasks();
  const take = () => {
    recent.put(TASK);
    return recent.take('task_1') !== undefined;
  };
  const takeMany = () => Array.from({ length: 160 }, take).filter(Boolean).length;
  for (let use = 0; use < 100; use++) recent.noteUse(false);
  expect(takeMany()).toBe(10);
  for (let use = 0; use < 100; use++) recent.noteUse(true);
  expect(takeMany()).toBe(160);
});
