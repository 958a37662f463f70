import { newTaskId, UnavailableError } from '@herald/core';
import type { TaskRecord } from '@herald/infra';
import { createAcceptTransitions } from './accept-transitions.ts';

const task: TaskRecord = {
  ...{ id: newTaskId(0), workspaceId: 'ws_1', executionWorkspaceId: 'ws_1', status: 'running' },
  ...{ sequence: 0, revision: 'r', createdAt: 0, updatedAt: 0 },
};

/** Accepts for a Task that another writer changes just before each of the first so many commits. */
function acceptAmid(conflicts: number) {
  let commits = 0;
  const accept = createAcceptTransitions({
    findTaskWorkspace: () => Promise.resolve(task.workspaceId),
    transitions: {
      findTask: () => Promise.resolve({ task, knownFacts: [] }),
      commit: () => Promise.resolve(++commits <= conflicts ? { kind: 'conflict' } : { kind: 'accepted', canceled: 0 }),
    } as never,
    subscriptions: { find: () => Promise.resolve({ version: '0', receivers: [] }), forget: () => undefined },
    report: { accepted: () => undefined, refused: () => undefined },
    requestId: () => undefined,
    actionUrl: () => 'https://app.example.com/',
    now: () => 0,
  });
  return accept([{ taskId: task.id, report: { type: 'canceled' } }]);
}

test('what changed meanwhile is decided anew, many times if need be', async () => {
  expect(await acceptAmid(20)).toMatchObject([{ taskId: task.id, status: 'canceled', duplicate: false }]);
});

test('a Task that never stops changing is a fault of the moment, and never no result at all', async () => {
  const [result] = await acceptAmid(Infinity);
  expect(result).toBeInstanceOf(UnavailableError);
});
