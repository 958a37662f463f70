import { DomainError } from '../errors.ts';
import type { Decision, TaskState } from '../tasks/task.ts';
import { judgeResolution } from './judge-resolution.ts';

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
