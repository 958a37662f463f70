import { newTaskId, UnavailableError, type TransitionReport } from '@herald/core';
import type { CommitReply, TransitionCommit } from '@herald/store/transitions/transition-store';
import type { TaskRecord } from '@herald/store/tasks/task-record';
import { createAcceptTransitions } from './accept-transitions.ts';
import { createRecentTasks } from './recent-tasks.ts';

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
const ACCEPTED: CommitReply = { kind: 'accepted', canceled: 0 };

/** One API process over one Task, which is what `task` says now; a commit is answered by `answer`, or as the script would. */
function build(answer?: (commit: TransitionCommit) => CommitReply) {
  const state = { task: TASK, knownFacts: new Set<string>(), reads: 0, commits: 0 };
  const commit = (asked: TransitionCommit): CommitReply => {
    state.commits++;
    if (answer) return answer(asked);
    const { task, newRevision, change, factKey = '' } = asked;
    if (task.revision !== state.task.revision || state.knownFacts.has(factKey)) return { kind: 'conflict' };
    const { checkpoint: _, ...fields } = change;
    state.task = { ...state.task, ...fields, revision: newRevision };
    state.knownFacts.add(factKey);
    return ACCEPTED;
  };
  const accept = createAcceptTransitions({
    findTaskWorkspace: () => Promise.resolve(TASK.workspaceId),
    transitions: {
      findTask: () => {
        state.reads++;
        return Promise.resolve({ task: state.task, knownFacts: new Set(state.knownFacts) });
      },
      commit: (asked) => Promise.resolve(commit(asked)),
    },
    subscriptions: { find: () => Promise.resolve({ version: '0', receivers: [] }), forget: () => undefined },
    recentTasks: createRecentTasks(),
    report: { accepted: () => undefined, refused: () => undefined },
    requestId: () => undefined,
    actionUrl: () => 'https://app.example.com/',
    now: () => 0,
  });
  const report = (...reports: TransitionReport[]) => accept(reports.map((each) => ({ taskId: TASK.id, report: each })));
  return { report, state };
}

function checkpoint(checkpointId: string): TransitionReport {
  return { type: 'checkpoint', checkpointId, canonical: true, material: true };
}

describe('a Task that changes between the look and the commit', () => {
  const amid = (conflicts: number) => {
    let left = conflicts;
    return build(() => (left-- > 0 ? { kind: 'conflict' } : ACCEPTED));
  };

  test('is decided anew, many times if need be', async () => {
    const { report } = amid(20);
    expect(await report({ type: 'canceled' })).toMatchObject([{ status: 'canceled', duplicate: false }]);
  });

  test('for ever is a fault of the moment, and never no result at all', async () => {
    const [result] = await amid(Infinity).report({ type: 'canceled' });
    expect(result).toBeInstanceOf(UnavailableError);
  });
});

describe('a Task that this process changed last', () => {
  test('is not read again, nor is one that several reports of one batch change', async () => {
    const { report, state } = build();
    await report(checkpoint('c1'));
    await report(checkpoint('c2'), checkpoint('c3'));
    expect(await report(checkpoint('c4'))).toMatchObject([{ status: 'running', duplicate: false }]);
    expect(state).toMatchObject({ reads: 1, commits: 4, task: { sequence: 4 } });
  });

  test('is read and decided anew when another process has changed it since', async () => {
    const { report, state } = build();
    await report(checkpoint('c1'));
    state.task = { ...state.task, status: 'canceled', revision: 'of another process' };
    expect(await report(checkpoint('c2'))).toMatchObject([{ code: 'invalid_transition' }]);
    expect(state.reads).toBe(2);
  });

  test('is read before anything is refused or called a duplicate', async () => {
    const { report, state } = build();
    await report(checkpoint('c1'));
    expect(await report(checkpoint('c1'))).toMatchObject([{ duplicate: true }]);
    expect(await report(checkpoint('c2'), checkpoint('c2'))).toMatchObject([{ duplicate: false }, { duplicate: true }]);
    expect(await report({ type: 'start' })).toMatchObject([{ code: 'invalid_transition' }]);
    expect(state.task.sequence).toBe(2);
  });
});
