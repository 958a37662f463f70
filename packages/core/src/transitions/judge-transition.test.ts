import type { ErrorCode } from '../codes/problem-codes.ts';
import { DomainError, InvalidTransitionError } from '../errors.ts';
import { type Decision, TASK_STATUSES, type TaskResult, type TaskState, type TaskStatus } from '../tasks/task.ts';
import { factOf } from './fact.ts';
import { type JudgeContext, judgeResolution, judgeTransition, type TransitionVerdict } from './judge-transition.ts';
import { TransitionReport } from './transition-report.ts';

type ReportType = TransitionReport['type'];

const outcome = { summary: 'so far' };
const KNOWN: JudgeContext = { known: { sequence: 3 } };

function taskThatIs(status: TaskStatus, changes: Partial<TaskState> = {}): TaskState {
  return { id: 'task_1', workspaceId: 'ws_1', sequence: 7, revision: 'r9', status, ...changes };
}

function actionRequired(actionVersion: number): TransitionReport {
  return TransitionReport.parse({
    type: 'action_required',
    actionVersion,
    approvalRequests: [
      { id: 'side', title: 'Also?' },
      { id: 'main', primary: true, title: 'Pay?' },
    ],
    outcome,
  });
}

function checkpoint(checkpointId: string, canonical: boolean, material: boolean): TransitionReport {
  return { type: 'checkpoint', checkpointId, canonical, material, outcome };
}

const REPORTS: Record<ReportType, TransitionReport> = {
  start: { type: 'start' },
  checkpoint: checkpoint('c1', true, true),
  action_required: actionRequired(2),
  done: { type: 'done' },
  canceled: { type: 'canceled' },
};

/** The status that follows, `duplicate`, or the code of the refusal. */
function answer(state: TaskState, report: TransitionReport, context: JudgeContext): string {
  try {
    const verdict = judgeTransition(state, report, context);
    return verdict.kind === 'accepted' ? verdict.change.status : verdict.kind;
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}

function accepted(state: TaskState, report: TransitionReport): Extract<TransitionVerdict, { kind: 'accepted' }> {
  const verdict = judgeTransition(state, report, {});
  if (verdict.kind !== 'accepted') throw new Error('expected the report to be accepted');
  return verdict;
}

// Every state by every report (DESIGN section 2).
const no = 'invalid_transition';
const MACHINE: Record<TaskStatus, Record<ReportType, TaskStatus | ErrorCode>> = {
  queued: { start: 'running', checkpoint: no, action_required: no, done: no, canceled: 'canceled' },
  running: {
    start: no,
    checkpoint: 'running',
    action_required: 'requires_action',
    done: 'done',
    canceled: 'canceled',
  },
  requires_action: {
    start: no,
    checkpoint: 'requires_action',
    action_required: 'requires_action',
    done: 'done',
    canceled: 'canceled',
  },
  done: { start: no, checkpoint: no, action_required: no, done: no, canceled: no },
  canceled: { start: no, checkpoint: no, action_required: no, done: no, canceled: no },
};

function everyCell<T>(machine: Record<TaskStatus, Record<ReportType, T>>) {
  return TASK_STATUSES.flatMap((status) =>
    (Object.keys(REPORTS) as ReportType[]).map((type) => ({ status, type, leadsTo: machine[status][type] })),
  );
}

test.each(everyCell(MACHINE))('a new $type on a Task that is $status → $leadsTo', ({ status, type, leadsTo }) => {
  expect(answer(taskThatIs(status), REPORTS[type], {})).toBe(leadsTo);
});

test.each([
  ['queued', 'done', 'a Task that is queued takes no done; report its start first'],
  ['done', 'checkpoint', 'a Task that is done takes no checkpoint'],
] as const)('a Task that is %s refuses a %s: %s', (status, type, sentence) => {
  expect(() => judgeTransition(taskThatIs(status), REPORTS[type], {})).toThrow(new InvalidTransitionError(sentence));
});

test.each(everyCell(MACHINE))('a known $type on a Task that is $status changes nothing', ({ status, type }) => {
  const { transitionId } = factOf('task_1', REPORTS[type]);
  const verdict = judgeTransition(taskThatIs(status), REPORTS[type], KNOWN);
  expect(verdict).toStrictEqual({ kind: 'duplicate', transitionId });
});

test.each(everyCell({ ...MACHINE, queued: { ...MACHINE.queued, done: 'done' } }))(
  'where a start is implied, a $type on a Task that is $status → $leadsTo',
  ({ status, type, leadsTo }) => {
    const context = { impliesStart: true };
    expect(answer(taskThatIs(status), REPORTS[type], context)).toBe(leadsTo);
  },
);

test.each<{ status: TaskStatus; open: number; reported: number; known: boolean; leadsTo: string }>([
  { status: 'requires_action', open: 2, reported: 3, known: false, leadsTo: 'requires_action' },
  { status: 'requires_action', open: 2, reported: 900, known: false, leadsTo: 'requires_action' },
  { status: 'requires_action', open: 2, reported: 2, known: true, leadsTo: 'duplicate' },
  { status: 'requires_action', open: 2, reported: 1, known: false, leadsTo: 'stale_action_version' },
  { status: 'requires_action', open: 2, reported: 1, known: true, leadsTo: 'duplicate' },
  { status: 'running', open: 2, reported: 3, known: false, leadsTo: 'requires_action' },
  { status: 'running', open: 2, reported: 2, known: true, leadsTo: 'duplicate' },
  { status: 'running', open: 2, reported: 1, known: false, leadsTo: 'stale_action_version' },
  { status: 'done', open: 2, reported: 1, known: false, leadsTo: 'invalid_transition' },
  { status: 'done', open: 2, reported: 2, known: true, leadsTo: 'duplicate' },
])(
  'action version $reported (known: $known) on a Task that is $status with version $open → $leadsTo',
  ({ status, open, reported, known, leadsTo }) => {
    const state = taskThatIs(status, { action: { version: open, primary: 'main', approvals: ['main'] } });
    expect(answer(state, actionRequired(reported), known ? KNOWN : {})).toBe(leadsTo);
  },
);

test.each([
  { says: false, has: { apiResolvable: false } },
  { says: true, has: {} },
  { says: undefined, has: {} },
])(
  'a higher action version replaces the open action with its own requests; of $says it keeps $has',
  ({ says, has }) => {
    const state = taskThatIs('requires_action', { action: { version: 1, primary: 'old', approvals: ['old'] } });
    const action = { version: 2, primary: 'main', approvals: ['side', 'main'], ...has };
    const report = { ...actionRequired(2), ...(says !== undefined && { apiResolvable: says }) };
    expect(accepted(state, report).change).toStrictEqual({
      status: 'requires_action',
      sequence: 8,
      action,
      interim: outcome,
    });
  },
);

test.each<{ report: TransitionReport; event: string | undefined; sequence: number; status?: TaskStatus }>([
  { report: REPORTS.start, event: undefined, sequence: 7, status: 'queued' },
  { report: checkpoint('c1', true, true), event: 'task.check_in', sequence: 8 },
  { report: checkpoint('c1', true, false), event: undefined, sequence: 7 },
  { report: checkpoint('c1', false, true), event: undefined, sequence: 7 },
  { report: checkpoint('c1', false, false), event: undefined, sequence: 7 },
  { report: REPORTS.action_required, event: 'task.requires_action', sequence: 8 },
  { report: REPORTS.done, event: 'task.done', sequence: 8 },
  { report: REPORTS.canceled, event: 'task.canceled', sequence: 8 },
])('after sequence 7, $report emits $event and leaves $sequence', ({ report, event, sequence, status = 'running' }) => {
  const verdict = accepted(taskThatIs(status), report);
  const { transitionId, key } = factOf('task_1', report);
  expect(verdict.event).toBe(event);
  expect('event' in verdict).toBe(event !== undefined);
  expect(verdict.change.sequence).toBe(sequence);
  expect(verdict).toMatchObject({ transitionId, factKey: key });
});

test('over a whole life the emitted sequences are 1, 2, 3, … without a gap', () => {
  const life = [
    REPORTS.start,
    checkpoint('c1', false, false),
    checkpoint('c2', true, true),
    actionRequired(1),
    checkpoint('c3', true, false),
    actionRequired(2),
    checkpoint('c4', true, true),
    REPORTS.done,
  ];
  let state = taskThatIs('queued', { sequence: 0 });
  const emitted = life.flatMap((report) => {
    const { event, change } = accepted(state, report);
    state = { ...state, ...change };
    return event ? [`${change.sequence} ${event}`] : [];
  });
  expect(emitted).toEqual([
    '1 task.check_in',
    '2 task.requires_action',
    '3 task.requires_action',
    '4 task.check_in',
    '5 task.done',
  ]);
});

test.each<{ type: ReportType; status: TaskStatus; change: object }>([
  { type: 'start', status: 'queued', change: { status: 'running', sequence: 7 } },
  { type: 'checkpoint', status: 'running', change: { status: 'running', sequence: 8, interim: outcome } },
  { type: 'done', status: 'running', change: { status: 'done', sequence: 8 } },
  { type: 'canceled', status: 'queued', change: { status: 'canceled', sequence: 8 } },
])('a $type sets $change and nothing else', ({ type, status, change }) => {
  const state = taskThatIs(status, { action: { version: 1, primary: 'main', approvals: ['main'] } });
  expect(accepted(state, REPORTS[type]).change).toStrictEqual(change);
});

const everything: TaskResult = { result: { answer: 42 }, outcome, usage: { tokens: 1 } };

test.each<{ when: string; has: TaskResult; said: TaskResult; fill: TaskResult | undefined; differs?: true }>([
  { when: 'nothing and all is said', has: {}, said: everything, fill: everything },
  { when: 'nothing and a part is said', has: {}, said: { usage: null }, fill: { usage: null } },
  { when: 'nothing and nothing is said', has: {}, said: {}, fill: undefined },
  {
    when: 'everything already',
    has: everything,
    said: { result: 1, outcome: { summary: 'x' }, usage: 2 },
    fill: undefined,
    differs: true,
  },
  { when: 'everything already, said alike', has: everything, said: structuredClone(everything), fill: undefined },
  { when: 'a result', has: { result: 1 }, said: everything, fill: { outcome, usage: { tokens: 1 } }, differs: true },
  { when: 'the result null', has: { result: null }, said: { result: 1 }, fill: undefined, differs: true },
  {
    when: 'the result 0 and the usage ""',
    has: { result: 0, usage: '' },
    said: everything,
    fill: { outcome },
    differs: true,
  },
  {
    when: 'an outcome',
    has: { outcome: { summary: 'first' } },
    said: everything,
    fill: { result: { answer: 42 }, usage: { tokens: 1 } },
    differs: true,
  },
])('a repeated done fills only what is missing in a done Task that has $when', ({ has, said, fill, differs }) => {
  const report: TransitionReport = { type: 'done', ...said };
  const verdict = judgeTransition(taskThatIs('done', has), report, KNOWN);
  const { transitionId } = factOf('task_1', report);
  expect(verdict).toStrictEqual({
    kind: 'duplicate',
    transitionId,
    ...(fill && { fill }),
    ...(differs && { differs }),
  });
});

test('a repeated done fills nothing in a Task whose payloads were erased', () => {
  const report: TransitionReport = { type: 'done', ...everything };
  const verdict = judgeTransition(taskThatIs('done', { erasedAt: 1 }), report, KNOWN);
  expect(verdict).toStrictEqual({ kind: 'duplicate', transitionId: factOf('task_1', report).transitionId });
});

test('the first done sets result, outcome and usage, as far as they are said', () => {
  const status = { status: 'done', sequence: 8 };
  const changeOf = (said: TaskResult) => accepted(taskThatIs('running'), { type: 'done', ...said }).change;
  expect(changeOf(everything)).toStrictEqual({ ...status, ...everything });
  expect(changeOf({ result: null })).toStrictEqual({ ...status, result: null });
  expect(changeOf({})).toStrictEqual(status);
});

test('a legacy close and the executor’s later done are one transition', () => {
  const closed = judgeTransition(taskThatIs('queued'), { type: 'done' }, { impliesStart: true });
  const later = judgeTransition(taskThatIs('done'), { type: 'done', result: 1 }, KNOWN);
  const { transitionId } = factOf('task_1', { type: 'done' });
  expect(closed).toMatchObject({ kind: 'accepted', transitionId });
  expect(later).toEqual({ kind: 'duplicate', transitionId, fill: { result: 1 } });
});

test.each<{ when: string; report: TransitionReport; interim: object | undefined }>([
  { when: 'a canonical checkpoint', report: checkpoint('c1', true, true), interim: outcome },
  { when: 'a canonical one that is not material', report: checkpoint('c1', true, false), interim: outcome },
  { when: 'one that is not canonical', report: checkpoint('c1', false, true), interim: undefined },
  {
    when: 'a canonical one without an outcome',
    report: { type: 'checkpoint', checkpointId: 'c1', canonical: true, material: false },
    interim: undefined,
  },
  { when: 'an action', report: actionRequired(1), interim: outcome },
  { when: 'a done, whose outcome is final', report: { type: 'done', outcome }, interim: undefined },
])('the outcome so far after $when is $interim', ({ report, interim }) => {
  const { change } = accepted(taskThatIs('running'), report);
  expect(change.interim).toEqual(interim);
  // What is absent is not written, and erases nothing.
  expect('interim' in change).toBe(interim !== undefined);
});

test('of an outcome so far only the public-safe part is kept', () => {
  const report: TransitionReport = {
    type: 'checkpoint',
    checkpointId: 'c1',
    canonical: true,
    material: false,
    outcome: { summary: 'half', progress: 0.5, toolOutput: 'internal' },
  };
  expect(accepted(taskThatIs('running'), report).change.interim).toStrictEqual({ summary: 'half', progress: 0.5 });
});

describe('a checkpoint that emitted nothing and comes again canonical and material', () => {
  const raised = checkpoint('c1', true, true);
  const silent: JudgeContext = { known: { sequence: 0, digest: '0000000' } };
  const { transitionId, key: factKey } = factOf('task_1', raised);

  test.each(['running', 'requires_action'] as const)('emits, under its own id, from a Task that is %s', (status) => {
    expect(judgeTransition(taskThatIs(status), raised, silent)).toMatchObject({
      kind: 'accepted',
      transitionId,
      factKey,
      event: 'task.check_in',
      isRaised: true,
      change: { status, sequence: 8, interim: outcome },
    });
  });

  test.each(['done', 'canceled'] as const)('is a duplicate that differs on a Task that is %s', (status) => {
    const verdict = judgeTransition(taskThatIs(status), raised, silent);
    expect(verdict).toStrictEqual({ kind: 'duplicate', transitionId, differs: true });
    // Whatever a former version kept of it.
    expect(judgeTransition(taskThatIs(status), raised, { known: { sequence: 0 } })).toStrictEqual(verdict);
  });

  test('emits no second time, nor does one that emits nothing still', () => {
    expect(judgeTransition(taskThatIs('running'), raised, KNOWN)).toMatchObject({ kind: 'duplicate' });
    for (const [canonical, material] of [
      [true, false],
      [false, true],
    ] as const) {
      const again = judgeTransition(taskThatIs('running'), checkpoint('c1', canonical, material), silent);
      expect(again).toMatchObject({ kind: 'duplicate' });
    }
  });
});

describe('a done on a Task that is canceled', () => {
  const late = (has: TaskResult, said: TaskResult) =>
    judgeTransition(taskThatIs('canceled', has), { type: 'done', ...said }, {});

  test('is refused with the reason, and leaves its usage and nothing else', () => {
    const verdict = late({}, everything);
    expect(verdict).toMatchObject({ kind: 'refused', fill: { usage: { tokens: 1 } } });
    if (verdict.kind !== 'refused') throw new Error('it is refused');
    expect(Object.keys(verdict.fill)).toEqual(['usage']);
    expect(verdict.error.code).toBe('invalid_transition');
    expect(verdict.error.message).toBe(
      'Task task_1 was closed as canceled before this done came, and stays canceled. Of this report only the usage is kept, unless the Task had one already',
    );
  });

  test.each<{ when: string; has: TaskResult; said: TaskResult }>([
    { when: 'it has no usage', has: {}, said: { result: 1 } },
    { when: 'the Task has one', has: { usage: 0 }, said: { usage: 1 } },
  ])('leaves nothing when $when', ({ has, said }) => {
    expect(() => late(has, said)).toThrow('was closed as canceled before this done came');
  });
});

test('judging changes neither the Task nor the report', () => {
  const state = taskThatIs('running');
  const report = actionRequired(3);
  const before = structuredClone({ state, report });
  judgeTransition(state, report, {});
  expect({ state, report }).toEqual(before);
});

describe('judge resolution', () => {
  const action = { version: 2, primary: 'main', approvals: ['main', 'side'] };

  function taskThatIs(status: TaskState['status']): TaskState {
    return { id: 'task_1', workspaceId: 'ws_1', sequence: 3, revision: 'r5', status, action };
  }

  function decided(decision: string): Decision {
    return { approvalId: 'main', actionVersion: 2, decision, decidedAt: 1 };
  }

  /** The status it leads to, `duplicate`, or the code of the refusal. */
  function answer(
    state: TaskState,
    approvalId: string,
    actionVersion: number,
    earlier?: Decision,
    mayAny = false,
  ): string {
    try {
      const verdict = judgeResolution(state, approvalId, { decision: 'approve', actionVersion }, earlier, mayAny);
      return verdict.kind === 'accepted' ? verdict.status : verdict.kind;
    } catch (error) {
      if (error instanceof DomainError) return error.code;
      throw error;
    }
  }

  type Case = {
    when: string;
    status: TaskState['status'];
    approvalId?: string;
    version?: number;
    earlier?: Decision;
    leadsTo: string;
  };

  test.each<Case>([
    { when: 'the primary request', status: 'requires_action', leadsTo: 'running' },
    { when: 'another request', status: 'requires_action', approvalId: 'side', leadsTo: 'requires_action' },
    { when: 'a request nobody made', status: 'requires_action', approvalId: 'x', leadsTo: 'approval_not_found' },
    { when: 'an older version', status: 'requires_action', version: 1, leadsTo: 'stale_action_version' },
    { when: 'a version that is still to come', status: 'requires_action', version: 3, leadsTo: 'stale_action_version' },
    {
      when: 'an older version of a request nobody made',
      status: 'requires_action',
      version: 1,
      approvalId: 'x',
      leadsTo: 'stale_action_version',
    },
    { when: 'the same decision again', status: 'requires_action', earlier: decided('approve'), leadsTo: 'duplicate' },
    { when: 'the same decision again', status: 'running', earlier: decided('approve'), leadsTo: 'duplicate' },
    {
      when: 'another decision than before',
      status: 'requires_action',
      earlier: decided('reject'),
      leadsTo: 'invalid_transition',
    },
    {
      when: 'another decision than before',
      status: 'running',
      earlier: decided('reject'),
      leadsTo: 'invalid_transition',
    },
    { when: 'a request that nobody waits for any more', status: 'running', leadsTo: 'invalid_transition' },
    { when: 'an older version', status: 'running', version: 1, leadsTo: 'stale_action_version' },
    { when: 'the primary request', status: 'done', leadsTo: 'task_closed' },
    { when: 'the primary request', status: 'canceled', leadsTo: 'task_closed' },
    { when: 'the same decision again', status: 'done', earlier: decided('approve'), leadsTo: 'task_closed' },
    { when: 'an older version', status: 'canceled', version: 1, leadsTo: 'task_closed' },
  ])(
    'resolving $when of a Task that is $status → $leadsTo',
    ({ status, approvalId = 'main', version = 2, earlier, leadsTo }) => {
      expect(answer(taskThatIs(status), approvalId, version, earlier)).toBe(leadsTo);
    },
  );

  test.each(['queued', 'running'] as const)('a Task that is %s and never asked knows no current version', (status) => {
    const state: TaskState = { id: 'task_1', workspaceId: 'ws_1', sequence: 0, revision: 'r1', status };
    expect(answer(state, 'main', 1)).toBe('stale_action_version');
  });

  test('what is not resolvable by the API is resolved only by those who may resolve anything, and its places come first', () => {
    const state = { ...taskThatIs('requires_action'), action: { ...action, apiResolvable: false } as const };
    expect(answer(state, 'main', 2)).toBe('not_api_resolvable');
    expect(answer(state, 'side', 2)).toBe('not_api_resolvable');
    expect(answer(state, 'main', 2, decided('approve'))).toBe('not_api_resolvable');
    expect(answer(state, 'main', 1)).toBe('stale_action_version');
    expect(answer(state, 'x', 2)).toBe('approval_not_found');
    expect(answer(state, 'main', 2, undefined, true)).toBe('running');
    expect(answer({ ...state, status: 'done' }, 'main', 2)).toBe('task_closed');
  });
});
