import {
  InvalidTransitionError,
  type KnownFact,
  newTaskId,
  RESULT_FIELDS,
  type TransitionReport,
  UnavailableError,
  WorkspaceFullError,
} from '@herald/core';
import { createKeyspace } from '@herald/store/keys/keys';
import type { WriteProof } from '@herald/store/redis/await-replication';
import type { TaskRecord } from '@herald/store/tasks/task-record';
import type { CommitReply, TransitionCommit } from '@herald/store/tasks/transition-store';
import {
  type AcceptedTransition,
  createAcceptReplicated,
  createAcceptTransitions,
  createRecentTasks,
} from './accept-transitions.ts';

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
    said: [] as string[],
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
      // As the store does it, without what of the result nobody says.
      findTask: (_workspaceId, _id, _factKeys, said) => {
        state.reads++;
        state.said.push(...said);
        const unsaid = RESULT_FIELDS.filter((name) => !said.includes(name)).map((name) => [name, undefined]);
        const task: TaskRecord = { ...state.task, ...(Object.fromEntries(unsaid) as object) };
        return Promise.resolve({ task, knownFacts: new Map(state.knownFacts) });
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

describe('the result of a closed Task', () => {
  const closed: TaskRecord = { ...TASK, status: 'done', sequence: 1, result: { large: 1 }, usage: 5 };
  const report = async (...reports: TransitionReport[]) => {
    const { report, state } = build(undefined, closed);
    state.knownFacts.set('done', { sequence: 1 }).set('checkpoint:c1', { sequence: 1 });
    return { results: await report(...reports), said: state.said, task: state.task };
  };

  test.each<[string, TransitionReport[], string[]]>([
    ['a checkpoint and a cancellation', [checkpoint('c1'), checkpoint('c2'), { type: 'canceled' }], []],
    ['a done that says nothing', [{ type: 'done' }], []],
    ['a done with usage', [{ type: 'done', usage: 5 }], ['usage']],
    [
      'several that say something else',
      [
        { type: 'done', usage: 5 },
        { type: 'done', result: 1 },
      ],
      ['usage', 'result'],
    ],
  ])('is read for %s as far as they say something of it', async (_, reports, expected) => {
    const { said, task } = await report(...reports);
    expect(said).toEqual(expected);
    expect(task).toEqual(closed);
  });

  test('decides whether a repeated done differs, and what it fills in', async () => {
    const outcome = { summary: 'done' };
    const { results, task } = await report(
      ...[{ type: 'done', result: { large: 1 } } as const, { type: 'done', result: { large: 2 } } as const],
      { type: 'done', usage: 5, outcome },
    );
    expect(results.map((result) => 'differs' in result)).toEqual([false, true, false]);
    expect(task).toMatchObject({ ...closed, outcome, revision: expect.not.stringMatching(/^r$/) as string });
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

describe('accept replicated', () => {
  const TASK_ID = newTaskId(0);
  const KEYSPACE = createKeyspace(1);
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const ACCEPTED: AcceptedTransition = { transitionId: 'trn_1', taskId: TASK_ID, status: 'running', duplicate: false };

  /** What comes of a report that was accepted like this, and which proofs were asked for. */
  async function accept(report: TransitionReport, result: AcceptedTransition | InvalidTransitionError, isThere = true) {
    const proofs: WriteProof[] = [];
    const acceptReplicated = createAcceptReplicated({
      acceptTransitions: () => Promise.resolve([result]),
      findTaskWorkspace: () => Promise.resolve('ws_1'),
      awaitReplication: (proof) => {
        proofs.push(proof);
        return Promise.resolve(isThere);
      },
      keyspace: KEYSPACE,
      logger: silent,
    });
    const [answer] = await acceptReplicated([{ taskId: TASK_ID, report }]);
    return { answer, proofs };
  }

  const START: TransitionReport = { type: 'start' };
  const checkpoint = (material: boolean): TransitionReport => ({
    type: 'checkpoint',
    checkpointId: 'c1',
    canonical: true,
    material,
    outcome: { summary: 'so far' },
  });
  const DIFFERENT = { ...ACCEPTED, duplicate: true, differs: true } as const;

  test.each<{ when: string; report: TransitionReport; result: AcceptedTransition; field: string; least: number }>([
    { when: 'a start', report: START, result: ACCEPTED, field: 'start', least: 0 },
    { when: 'a silent checkpoint', report: checkpoint(false), result: ACCEPTED, field: 'checkpoint:c1', least: 0 },
    // It may have been known as a silent one before.
    { when: 'one that emits', report: checkpoint(true), result: ACCEPTED, field: 'checkpoint:c1', least: 1 },
    { when: 'one that differs', report: checkpoint(true), result: DIFFERENT, field: 'checkpoint:c1', least: 1 },
    {
      when: 'one that a closed Task knows as silent',
      report: checkpoint(true),
      result: { ...DIFFERENT, status: 'done' },
      field: 'checkpoint:c1',
      least: 0,
    },
  ])(
    '$when is replicated once the fact has a sequence of at least $least',
    async ({ report, result, field, least }) => {
      const { answer, proofs } = await accept(report, result);
      expect(answer).toBe(result);
      expect(proofs).toEqual([{ key: KEYSPACE.of('ws_1').facts(TASK_ID), field, least }]);
    },
  );

  test('what too few replicas have is unavailable, and what was refused needs no replica', async () => {
    expect((await accept(START, ACCEPTED, false)).answer).toMatchObject({ code: 'unavailable' });
    const refusal = new InvalidTransitionError('no');
    expect(await accept(START, refusal, false)).toEqual({ answer: refusal, proofs: [] });
  });
});

describe('recent tasks', () => {
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
});
