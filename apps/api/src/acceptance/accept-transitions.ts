import {
  DomainError,
  factKeyOf,
  InvalidTransitionError,
  NotFoundError,
  TaskIdText,
  TaskStatus,
  TransitionIdText,
  UnavailableError,
  type TaskId,
  type WorkspaceId,
} from '@herald/core';
import { FACT_LIMIT, type CommitReply, type TransitionStore } from '@herald/store/transitions/transition-store';
import type { Subscriptions } from '@herald/store/endpoints/receiver-store';
import { z } from 'zod';

import {
  decideAll,
  type Decided,
  type DecideDeps,
  type Decisions,
  type ReportedTransition,
  type Slot,
} from './decide-transitions.ts';
import type { Reports } from '../reports/create-reports.ts';
import type { RecentTasks } from './recent-tasks.ts';

/** The answer to a report. */
export const AcceptedTransition = z
  .strictObject({
    transitionId: TransitionIdText,
    taskId: TaskIdText,
    status: TaskStatus.meta({ description: 'The status of the Task now.' }),
    duplicate: z.boolean().meta({ description: 'The fact was known before; nothing was emitted.' }),
  })
  .meta({ id: 'AcceptedTransition' });
export type AcceptedTransition = z.infer<typeof AcceptedTransition>;

export type AcceptTransitionsDeps = DecideDeps & {
  readonly findTaskWorkspace: (id: TaskId) => Promise<WorkspaceId | undefined>;
  readonly transitions: TransitionStore;
  readonly subscriptions: {
    readonly find: (workspaceId: WorkspaceId) => Promise<Subscriptions>;
    readonly forget: (workspaceId: WorkspaceId) => void;
  };
  readonly recentTasks: RecentTasks;
  readonly report: Reports['transitions'];
};

const NOTHING_TO_COMMIT: CommitReply = { kind: 'accepted', canceled: 0 };

type Result = AcceptedTransition | DomainError;

/**
 * Rounds of deciding anew when something changed between reading and writing. So many that a workspace whose receivers change
 * many times a second still gets its transitions accepted.
 */
const ROUNDS = 30;
/** Tasks taken at a time: a batch of 500 in one go would keep everybody else waiting, here and in Redis. */
const TASKS_AT_A_TIME = 20;

/**
 * Accepts reported transitions: reads each Task once, decides its reports in their order, and commits each with a
 * script that refuses when anything it was decided on has changed; then it is decided anew. Once a result is returned
 * the transition is durable, and its deliveries are in the queue.
 * @returns one result per report, in order; a foreseen fault is a value, so that one bad report spoils no other
 */
export function createAcceptTransitions(deps: AcceptTransitionsDeps) {
  return async function acceptTransitions(reports: readonly ReportedTransition[]): Promise<readonly Result[]> {
    // Filled: what maps over holes leaves them out.
    const results = Array<Result | undefined>(reports.length).fill(undefined);
    let open: readonly Slot[] = reports.map((report, index) => ({ ...report, index }));
    for (let round = 0; open.length > 0 && round < ROUNDS; round++) {
      const byTask = [...Map.groupBy(open, ({ taskId }) => taskId)];
      const conflicts: Slot[] = [];
      for (let start = 0; start < byTask.length; start += TASKS_AT_A_TIME) {
        const settled = await Promise.all(
          byTask
            .slice(start, start + TASKS_AT_A_TIME)
            .map(([taskId, slots]) => acceptForTask(deps, taskId, slots, results)),
        );
        conflicts.push(...settled.flat());
      }
      open = conflicts;
    }
    return results.map((found, index) => {
      const result = found ?? new UnavailableError('the Task is changing too fast; report it again');
      if (result instanceof DomainError) deps.report.refused(reports[index]?.taskId ?? '', result);
      return result;
    });
  };
}
export type AcceptTransitions = ReturnType<typeof createAcceptTransitions>;

/** Decides and commits the reports about one Task; returns those that must be decided anew. */
async function acceptForTask(
  deps: AcceptTransitionsDeps,
  taskId: TaskId,
  slots: readonly Slot[],
  results: (Result | undefined)[],
): Promise<readonly Slot[]> {
  const workspaceId = await deps.findTaskWorkspace(taskId);
  if (workspaceId === undefined) {
    for (const { index } of slots) results[index] = new NotFoundError('task', taskId);
    return [];
  }
  const subscriptions = await deps.subscriptions.find(workspaceId);
  const remembered = decideOnRemembered(deps, taskId, slots, subscriptions);
  const { decided, faults } = remembered ?? (await decideOnRead(deps, workspaceId, taskId, slots, subscriptions));
  for (const [{ index }, fault] of faults) results[index] = fault;
  const conflicts = await settle(deps, workspaceId, decided, results);
  if (remembered) deps.recentTasks.noteUse(conflicts.length === 0);
  if (conflicts.length > 0) deps.subscriptions.forget(workspaceId);
  return conflicts;
}

/** Only what writes something is decided on a Task that may have changed: the commit finds out. Else undefined. */
function decideOnRemembered(
  deps: AcceptTransitionsDeps,
  taskId: TaskId,
  slots: readonly Slot[],
  subscriptions: Subscriptions,
): Decisions | undefined {
  const task = deps.recentTasks.take(taskId);
  if (!task) return undefined;
  const decisions = decideAll(deps, slots, { task, knownFacts: new Set() }, subscriptions);
  const isSafe = decisions.faults.length === 0 && decisions.decided.every(({ verdict }) => verdict.kind === 'accepted');
  return isSafe ? decisions : undefined;
}

async function decideOnRead(
  deps: AcceptTransitionsDeps,
  workspaceId: WorkspaceId,
  taskId: TaskId,
  slots: readonly Slot[],
  subscriptions: Subscriptions,
): Promise<Decisions> {
  const factKeys = [...new Set(slots.map(({ report }) => factKeyOf(report)))];
  const found = await deps.transitions.findTask(workspaceId, taskId, factKeys);
  if (!found) return { decided: [], faults: slots.map((slot) => [slot, new NotFoundError('task', taskId)]) };
  return decideAll(deps, slots, found, subscriptions);
}

/** Commits what was decided, in its order; returns the reports that must be decided anew. */
async function settle(
  { transitions, recentTasks, report }: AcceptTransitionsDeps,
  workspaceId: WorkspaceId,
  decided: readonly Decided[],
  results: (Result | undefined)[],
): Promise<readonly Slot[]> {
  const replies = await Promise.all(
    decided.map(async ({ commit }) => (commit ? await transitions.commit(commit) : NOTHING_TO_COMMIT)),
  );
  const conflicts: Slot[] = [];
  for (const [index, { slot, verdict, task, emission }] of decided.entries()) {
    const reply = replies[index] ?? NOTHING_TO_COMMIT;
    if (reply.kind === 'conflict') {
      conflicts.push(slot);
      continue;
    }
    if (reply.kind === 'full') {
      results[slot.index] = new InvalidTransitionError(`a Task takes at most ${FACT_LIMIT} checkpoints and actions`);
      continue;
    }
    const duplicate = verdict.kind === 'duplicate';
    const result = { transitionId: verdict.transitionId, taskId: slot.taskId, status: task.status, duplicate };
    results[slot.index] = result;
    report.accepted({
      ...result,
      workspaceId,
      ...(emission && { event: emission.event }),
      deliveries: emission?.targets.length ?? 0,
      canceled: reply.canceled,
    });
  }
  const last = decided.at(-1);
  if (last && replies.every(({ kind }) => kind === 'accepted')) recentTasks.put(last.task);
  return conflicts;
}
