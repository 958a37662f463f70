import { newTaskId, type Endpoint } from '@herald/core';
import type { LastCheckpoint, TaskRecord } from '@herald/store/tasks/task-record';
import { toTaskView } from './task-view.ts';

const TASK: TaskRecord = {
  id: newTaskId(0),
  workspaceId: 'ws_1',
  executionWorkspaceId: 'ws_1',
  status: 'running',
  sequence: 0,
  revision: 'r',
  createdAt: 0,
  updatedAt: 0,
};
const CHECKPOINT: LastCheckpoint = {
  checkpointId: 'c1',
  canonical: true,
  material: true,
  at: 0,
  outcome: { summary: 'of a checkpoint', toolOutput: 'internal' },
};
const interim = { summary: 'so far' };

test.each<{ when: string; task: Partial<TaskRecord>; shown: string | undefined }>([
  { when: 'a Task without any', task: {}, shown: undefined },
  { when: 'a final one beside one so far', task: { outcome: { summary: 'final' }, interim }, shown: 'final' },
  { when: 'one so far, behind it another checkpoint', task: { interim, checkpoint: CHECKPOINT }, shown: 'so far' },
  {
    when: 'one so far, behind it a draft',
    task: { interim, checkpoint: { ...CHECKPOINT, canonical: false } },
    shown: 'so far',
  },
  { when: 'a canonical checkpoint of a former version', task: { checkpoint: CHECKPOINT }, shown: 'of a checkpoint' },
  {
    when: 'a draft of a former version',
    task: { checkpoint: { ...CHECKPOINT, canonical: false } },
    shown: undefined,
  },
])('of $when the view shows $shown', ({ task, shown }) => {
  const { outcome } = toTaskView({ ...TASK, ...task }, undefined);
  expect(outcome).toEqual(shown === undefined ? null : { summary: shown });
});

describe('the callback in the view', () => {
  const callback = { id: 'cb_1', url: 'https://hooks.example.com/in', events: ['task.done'] } as const;
  const task: TaskRecord = { ...TASK, callback };
  const endpoint: Endpoint = { ...callback, workspaceId: 'ws_1', description: '', enabled: true, createdAt: 0 };
  const { url, events } = callback;
  const unordered = { ordering: 'none', orderingTimeoutSeconds: 86_400, orderingTimeout: '24h' };

  test.each<{ when: string; endpoint: Endpoint | undefined; shown: object }>([
    { when: 'is enabled', endpoint, shown: { url, events, enabled: true, ...unordered } },
    {
      when: 'was disabled',
      endpoint: { ...endpoint, enabled: false, disabledAt: 5_000, disabledReason: 'gone' },
      shown: {
        ...{ url, events, enabled: false, disabledAt: '1970-01-01T00:00:05.000Z', disabledReason: 'gone' },
        ...unordered,
      },
    },
    {
      when: 'is in order',
      endpoint: { ...endpoint, ordering: 'task', orderingTimeoutMs: 5_400_000 },
      shown: { url, events, enabled: true, ordering: 'task', orderingTimeoutSeconds: 5_400, orderingTimeout: '90m' },
    },
    { when: 'is lost', endpoint: undefined, shown: { url, events, enabled: false, ...unordered } },
  ])('of a Task whose record of it $when is $shown', ({ endpoint, shown }) => {
    expect(toTaskView(task, endpoint).callback).toStrictEqual(shown);
  });

  test('is absent on a Task that has none', () => {
    expect(toTaskView(TASK, undefined)).not.toHaveProperty('callback');
  });
});
