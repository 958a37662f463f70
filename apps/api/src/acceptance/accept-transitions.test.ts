import { newTaskId, UnavailableError, WorkspaceFullError, type KnownFact, type TransitionReport } from '@herald/core';
import type { CommitReply, TransitionCommit } from '@herald/store/tasks/transition-store';
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
function build(answer?: (commit: TransitionCommit) => CommitReply, task = TASK, version = '0') {
  const state = {
    task,
    knownFacts: new Map<string, KnownFact>(),
    reads: 0,
    commits: 0,
    isNoted: false,
    told: [] as object[],
    refused: [] as string[],
    listened: [] as string[],
  };
  const commit = (asked: TransitionCommit): CommitReply => {
    state.commits++;
    if (answer) return answer(asked);
    const { task, newRevision, change, factKey, digest, isRaised, emission } = asked;
    if (task.revision !== state.task.revision) return { kind: 'conflict' };
    if (factKey !== undefined && state.knownFacts.has(factKey) && !isRaised) return { kind: 'conflict' };
    const { checkpoint: _, ...fields } = change;
    state.task = { ...state.task, ...fields, revision: newRevision };
    const sequence = emission ? (change.sequence ?? 0) : 0;
    if (factKey !== undefined) state.knownFacts.set(factKey, { sequence, ...(digest !== undefined && { digest }) });
    return ACCEPTED;
  };
  const accept = createAcceptTransitions({
    findTaskWorkspace: () => Promise.resolve(TASK.workspaceId),
    transitions: {
      findTask: () => {
        state.reads++;
        return Promise.resolve({ task: state.task, knownFacts: new Map(state.knownFacts) });
      },
      commit: (asked) => Promise.resolve(commit(asked)),
      noteDifference: () => {
        const isFirst = !state.isNoted;
        state.isNoted = true;
        return Promise.resolve(isFirst);
      },
    },
    subscriptions: { find: () => Promise.resolve({ version, receivers: [] }), forget: () => undefined },
    recentTasks: createRecentTasks(),
    tellListeners: (_workspaceId, { event }) => void state.listened.push(event),
    report: {
      accepted: () => undefined,
      differed: (facts) => void state.told.push(facts),
      refused: (_taskId, { code }) => void state.refused.push(code),
    },
    requestId: () => undefined,
    actionUrl: () => 'https://app.example.com/',
    now: () => 0,
  });
  const report = (...reports: TransitionReport[]) => accept(reports.map((each) => ({ taskId: TASK.id, report: each })));
  return { report, state };
}

function checkpoint(checkpointId: string, more: object = {}): TransitionReport {
  const outcome = { summary: `at ${checkpointId}` };
  return { type: 'checkpoint', checkpointId, canonical: true, material: true, outcome, ...more };
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

describe('a report that was refused, and comes twice in one batch', () => {
  const refusing = (reply: CommitReply, task = TASK) =>
    build(({ change }) => (change.status === 'done' ? ACCEPTED : reply), task);
  const WHEN_FULL: CommitReply = { kind: 'no_room', error: new WorkspaceFullError('pending', 1) };

  test('is no duplicate: for want of room both are refused, and so is what comes after them', async () => {
    const { report } = refusing(WHEN_FULL, { ...TASK, status: 'queued' });
    const codes = await report({ type: 'start' }, checkpoint('c1'), checkpoint('c1'), checkpoint('c2'));
    expect(codes).toMatchObject(new Array(4).fill({ code: 'workspace_full' }));
  });

  test('is no duplicate: of a Task that knows too many facts both are refused, and its end is accepted', async () => {
    const { report } = refusing({ kind: 'full' });
    const results = await report(checkpoint('c1'), checkpoint('c1'), { type: 'done' });
    expect(results).toMatchObject([
      { code: 'invalid_transition' },
      { code: 'invalid_transition' },
      { status: 'done', duplicate: false },
    ]);
  });

  test('is a duplicate of the first, once that is committed in another round', async () => {
    let conflicts = 1;
    const { report } = build(() => (conflicts-- > 0 ? { kind: 'conflict' } : ACCEPTED));
    expect(await report(checkpoint('c1'), checkpoint('c1'))).toMatchObject([{ duplicate: false }, { duplicate: true }]);
  });
});

describe('a report that comes again with other contents', () => {
  const other = checkpoint('c1', { outcome: { summary: 'something else' } });

  test('is a duplicate that differs, and operators are told once per Task, also of a batch', async () => {
    const { report, state } = build();
    await report(checkpoint('c1'), checkpoint('c2'));
    expect(await report(checkpoint('c1'))).toEqual([expect.not.objectContaining({ differs: true })]);
    expect(state.told).toEqual([]);
    const [first, second] = await report(other, checkpoint('c2', { material: false }));
    expect([first, second]).toMatchObject([
      { duplicate: true, differs: true },
      { duplicate: true, differs: true },
    ]);
    await report(other);
    expect(state.told).toEqual([Object.assign({ workspaceId: 'ws_1' }, first)]);
    expect(state.task.sequence).toBe(2);
  });

  test('is found in the batch that has the first one, too', async () => {
    const { report } = build();
    expect(await report(checkpoint('c1'), other)).toMatchObject([
      { duplicate: false },
      { duplicate: true, differs: true },
    ]);
  });
});

describe('a checkpoint that emitted nothing and comes again as one that emits', () => {
  const draft = checkpoint('c1', { canonical: false });

  test('is accepted once, whether its Task is remembered or read', async () => {
    const { report, state } = build();
    await report(draft);
    expect(await report(checkpoint('c1'))).toMatchObject([{ duplicate: false }]);
    expect(await report(checkpoint('c1'))).toMatchObject([{ duplicate: true }]);
    expect(await report(draft)).toMatchObject([{ duplicate: true, differs: true }]);
    expect(state.task.sequence).toBe(1);
  });

  test('is accepted once in one batch', async () => {
    const { report, state } = build();
    await report(checkpoint('c0'));
    const results = await report(draft, checkpoint('c1'), checkpoint('c1'), checkpoint('c2'));
    expect(results.map((result) => 'duplicate' in result && result.duplicate)).toEqual([false, false, true, false]);
    expect(state.task.sequence).toBe(3);
  });
});

describe('a done on a Task that is canceled', () => {
  const canceled: TaskRecord = { ...TASK, status: 'canceled' };

  test('is refused and counted as such, and leaves its usage', async () => {
    const { report, state } = build(undefined, canceled);
    const results = await report({ type: 'done', result: 1, usage: 5 }, { type: 'done', usage: 6 });
    expect(results).toMatchObject([{ code: 'invalid_transition' }, { code: 'invalid_transition' }]);
    expect(state.task).toMatchObject({ status: 'canceled', usage: 5, sequence: 0 });
    expect(state.task).not.toHaveProperty('result');
    expect(state.refused).toEqual(['invalid_transition', 'invalid_transition']);
    expect(state.commits).toBe(1);
  });

  test('is decided anew when the Task changes meanwhile', async () => {
    let conflicts = 3;
    const commits: TransitionCommit[] = [];
    const { report } = build((asked) => {
      commits.push(asked);
      return conflicts-- > 0 ? { kind: 'conflict' } : ACCEPTED;
    }, canceled);
    expect(await report({ type: 'done', usage: 5 })).toMatchObject([{ code: 'invalid_transition' }]);
    expect(commits.map(({ change }) => change)).toEqual(Array.from({ length: 4 }, () => ({ usage: 5 })));
  });
});

describe('listeners', () => {
  const listenedTo = (until: number, answer?: () => CommitReply) => build(answer, TASK, `token:${until}`);

  test('are told of each event once, after its commit, while somebody listens', async () => {
    const { report, state } = listenedTo(1);
    await report(checkpoint('c1'), checkpoint('c1'), checkpoint('c2', { material: false }), { type: 'done' });
    await report({ type: 'done' });
    expect(state.listened).toEqual(['task.check_in', 'task.done']);
  });

  test.each([
    ['nobody ever listened', () => build()],
    ['the time that the version tells has come', () => listenedTo(0)],
    ['nothing was committed', () => listenedTo(1, () => ({ kind: 'full' }))],
  ])('are told nothing when %s', async (_when, start) => {
    const { report, state } = start();
    await report(checkpoint('c1'));
    expect(state.listened).toEqual([]);
  });
});
