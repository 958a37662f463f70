import {
  DomainError,
  eventOf,
  factKeyOf,
  InvalidTransitionError,
  isTerminal,
  NotFoundError,
  resultFieldsOf,
  type TaskId,
  TaskIdText,
  TaskStatus,
  TransitionIdText,
  type TransitionReport,
  UnavailableError,
  type WorkspaceId,
} from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async';
import type { Logger } from '@herald/runtime/log';
import type { Subscriptions } from '@herald/store/endpoints/receiver-store';
import type { Keyspace } from '@herald/store/keys/keys';
import { isListened } from '@herald/store/endpoints/endpoint-record';
import type { ListenedEvent } from '@herald/store/listening/listeners';
import type { AwaitReplication } from '@herald/store/redis/await-replication';
import type { TaskRecord } from '@herald/store/tasks/task-record';
import { type CommitReply, FACT_LIMIT, type TransitionStore } from '@herald/store/tasks/transition-store';
import { z } from 'zod';
import type { Reports } from '../report.ts';
import { decideAll, type Decided, type DecideDeps, type ReportedTransition, type Slot } from './decide-transitions.ts';

/** The answer to a report. */
export const AcceptedTransition = z
  .strictObject({
    transitionId: TransitionIdText,
    taskId: TaskIdText,
    status: TaskStatus,
    duplicate: z.boolean().meta({ description: 'The fact was known before. Nothing was emitted.' }),
    differs: z
      .literal(true)
      .meta({ description: 'Only on a duplicate: this report says something else than the one that counts.' })
      .exactOptional(),
  })
  .meta({ id: 'AcceptedTransition', description: '`status` is that of the Task now.' });
export type AcceptedTransition = z.infer<typeof AcceptedTransition>;

type AcceptTransitionsDeps = DecideDeps & {
  readonly findTaskWorkspace: (id: TaskId) => Promise<WorkspaceId | undefined>;
  readonly transitions: TransitionStore;
  /** May be out of date: the commit checks the version. */
  readonly subscriptions: {
    readonly find: (workspaceId: WorkspaceId) => Promise<Subscriptions>;
    readonly forget: (workspaceId: WorkspaceId) => void;
  };
  readonly recentTasks: RecentTasks;
  /** Called after the commit of an event, if somebody may listen. Nobody waits for it. */
  readonly tellListeners: (workspaceId: WorkspaceId, event: ListenedEvent) => void;
  readonly report: Reports['transitions'];
};

const NOTHING_TO_COMMIT: CommitReply = { kind: 'accepted', canceled: 0 };

type Result = AcceptedTransition | DomainError;

/**
 * How often a report is decided anew when something changed between reading and writing. This is enough for a workspace
 * whose receivers change many times a second.
 */
const ROUNDS = 30;
/** Tasks in work at a time. A batch of 500 at once would delay every other request, here and in Redis. */
const TASKS_AT_A_TIME = 20;

/**
 * Accepts reported transitions. It reads each Task once, decides its reports in order, and commits each with a script.
 * The script refuses when something has changed that the decision was based on; then the report is decided anew. Once a
 * result is returned, the transition is durable and its deliveries are in the queue.
 * @returns one result per report, in order. A foreseen fault is a value, so that one bad report spoils no other.
 */
export function createAcceptTransitions(deps: AcceptTransitionsDeps) {
  const { findTaskWorkspace, transitions, subscriptions, recentTasks, tellListeners, report } = deps;

  /** Uses a remembered Task, which may be out of date, only for decisions that all write: the commit detects it. */
  const decideOnRemembered = (taskId: TaskId, slots: readonly Slot[], current: Subscriptions) => {
    const task = recentTasks.take(taskId);
    if (!task) return undefined;
    const decisions = decideAll(deps, slots, { task, knownFacts: new Map() }, current);
    const isSafe =
      decisions.faults.length === 0 && decisions.decided.every(({ verdict }) => verdict.kind === 'accepted');
    return isSafe ? decisions : undefined;
  };

  const decideOnRead = async (
    workspaceId: WorkspaceId,
    taskId: TaskId,
    slots: readonly Slot[],
    current: Subscriptions,
  ) => {
    const factKeys = [...new Set(slots.map((slot) => factKeyOf(slot.report)))];
    const said = [...new Set(slots.flatMap((slot) => resultFieldsOf(slot.report)))];
    const found = await transitions.findTask(workspaceId, taskId, factKeys, said);
    if (found) return decideAll(deps, slots, found, current);
    return { decided: [], faults: slots.map((slot) => [slot, new NotFoundError('task', taskId)] as const) };
  };

  /** Commits decisions in order. Returns the reports that must be decided anew. */
  const commitAll = async (workspaceId: WorkspaceId, decided: readonly Decided[], results: (Result | undefined)[]) => {
    const replies = await Promise.all(
      decided.map(async ({ commit }) => (commit ? await transitions.commit(commit) : NOTHING_TO_COMMIT)),
    );
    const conflicts: Slot[] = [];
    let differing: AcceptedTransition | undefined;
    let noRoom: DomainError | undefined;
    for (const [index, { slot, verdict, task, commit }] of decided.entries()) {
      // Those behind one that was refused for want of room were decided on it, and in order they come after it.
      if (noRoom) {
        results[slot.index] = noRoom;
        continue;
      }
      const reply = replies[index] ?? NOTHING_TO_COMMIT;
      // What has nothing to commit may repeat one of this batch that wasn't committed.
      const isOnUncommitted = !commit && replies.slice(0, index).some(({ kind }) => kind !== 'accepted');
      if (reply.kind === 'conflict' || isOnUncommitted) {
        conflicts.push(slot);
        continue;
      }
      if (reply.kind === 'full') {
        results[slot.index] = new InvalidTransitionError(`a Task takes at most ${FACT_LIMIT} checkpoints and actions`);
        continue;
      }
      if (reply.kind === 'no_room') {
        noRoom = reply.error;
        results[slot.index] = noRoom;
        continue;
      }
      if (verdict.kind === 'refused') {
        results[slot.index] = verdict.error;
        continue;
      }
      const result = toResult(verdict, task);
      results[slot.index] = result;
      if (result.differs) differing ??= result;
      report.accepted({
        ...result,
        workspaceId,
        ...(commit?.emission && { event: commit.emission.event }),
        deliveries: commit?.emission?.targets.length ?? 0,
        canceled: reply.canceled,
      });
      if (commit?.emission && isListened(commit.subscriptionVersion, commit.now)) {
        tellListeners(workspaceId, commit.emission);
      }
    }
    const last = decided.at(-1);
    if (last && replies.every(({ kind }) => kind === 'accepted')) recentTasks.put(last.task);
    if (differing && (await transitions.noteDifference(workspaceId, differing.taskId))) {
      report.differed({ ...differing, workspaceId });
    }
    return conflicts;
  };

  /** Decides and commits the reports about one Task. Returns those that must be decided anew. */
  const acceptForTask = async (taskId: TaskId, slots: readonly Slot[], results: (Result | undefined)[]) => {
    const workspaceId = await findTaskWorkspace(taskId);
    if (workspaceId === undefined) {
      for (const { index } of slots) results[index] = new NotFoundError('task', taskId);
      return [];
    }
    const current = await subscriptions.find(workspaceId);
    const remembered = decideOnRemembered(taskId, slots, current);
    const { decided, faults } = remembered ?? (await decideOnRead(workspaceId, taskId, slots, current));
    for (const [{ index }, fault] of faults) results[index] = fault;
    const conflicts = await commitAll(workspaceId, decided, results);
    if (remembered) recentTasks.noteUse(conflicts.length === 0);
    if (conflicts.length > 0) subscriptions.forget(workspaceId);
    return conflicts;
  };

  return async function acceptTransitions(reports: readonly ReportedTransition[]): Promise<readonly Result[]> {
    // `map` skips holes, so the array is filled.
    const results = Array<Result | undefined>(reports.length).fill(undefined);
    let open: readonly Slot[] = reports.map((reported, index) => ({ ...reported, index }));
    for (let round = 0; open.length > 0 && round < ROUNDS; round++) {
      const byTask = [...Map.groupBy(open, ({ taskId }) => taskId)];
      const conflicts: Slot[] = [];
      for (let start = 0; start < byTask.length; start += TASKS_AT_A_TIME) {
        const some = byTask.slice(start, start + TASKS_AT_A_TIME);
        const settled = await Promise.all(some.map(([taskId, slots]) => acceptForTask(taskId, slots, results)));
        conflicts.push(...settled.flat());
      }
      open = conflicts;
    }
    return results.map((found, index) => {
      const result = found ?? new UnavailableError('the Task is changing too fast; report it again');
      if (result instanceof DomainError) report.refused(reports[index]?.taskId ?? '', result);
      return result;
    });
  };
}

function toResult(verdict: Exclude<Decided['verdict'], { kind: 'refused' }>, task: TaskRecord): AcceptedTransition {
  const duplicate = verdict.kind === 'duplicate';
  return {
    transitionId: verdict.transitionId,
    taskId: task.id,
    status: task.status,
    duplicate,
    ...(duplicate && verdict.differs && { differs: verdict.differs }),
  };
}

export type AcceptTransitions = ReturnType<typeof createAcceptTransitions>;

type AcceptReplicatedDeps = {
  readonly acceptTransitions: AcceptTransitions;
  readonly findTaskWorkspace: (id: TaskId) => Promise<WorkspaceId | undefined>;
  readonly awaitReplication: AwaitReplication;
  readonly keyspace: Keyspace;
  readonly logger: Logger;
};

/**
 * Waits until the replicas have each accepted transition. One that they do not have in time is `unavailable`, although
 * it may be stored: reported again, it is a duplicate. A duplicate waits too, because the replicas may lack its fact.
 */
export function createAcceptReplicated(deps: AcceptReplicatedDeps): AcceptTransitions {
  const { acceptTransitions, findTaskWorkspace, awaitReplication, keyspace, logger } = deps;
  return async function acceptReplicated(reports) {
    const results = await acceptTransitions(reports);
    return await Promise.all(
      results.map(async (result, index) => {
        const reported = reports[index];
        if (result instanceof DomainError || !reported) return result;
        const { taskId, report } = reported;
        const workspaceId = reported.workspaceId ?? (await findTaskWorkspace(taskId));
        const fact = { field: factKeyOf(report), least: leastSequence(report, result) };
        const isReplicated =
          workspaceId !== undefined &&
          (await awaitReplication({ key: keyspace.of(workspaceId).facts(taskId), ...fact }));
        if (isReplicated) return result;
        logger.warn('transition.unreplicated', { transitionId: result.transitionId, taskId });
        return new UnavailableError('too few replicas of Redis have the transition yet; report it again');
      }),
    );
  };
}

/**
 * The sequence that the fact has at least. One that emits has a sequence, whatever was known of it before. Only a
 * closed Task keeps a checkpoint that emitted nothing as it is.
 */
function leastSequence(report: TransitionReport, { differs, status }: AcceptedTransition): number {
  return eventOf(report) && !(differs && isTerminal(status)) ? 1 : 0;
}

const LIMIT = 20_000;
/** How many of the latest uses say whether it pays. */
const LATEST = 64;
/** One in so many uses is made although it doesn't pay, to see whether it does by now. */
const ONE_IN = 16;

type RecentTasks = ReturnType<typeof createRecentTasks>;

/**
 * Remembers Tasks as this process left them, so that the next transition needs no look at them first. What it says may be old: the
 * commit checks the revision and refuses, and then the Task is read. Where other processes change the same Tasks that happens
 * often; then nothing is remembered for most.
 */
export function createRecentTasks() {
  const tasks = createBoundedMap<TaskId, TaskRecord>(LIMIT);
  let shareOfRight = 1;
  let passedOver = 0;
  return {
    /** Whoever takes a Task and changes it puts it back as it is then. */
    take(id: TaskId): TaskRecord | undefined {
      const task = tasks.get(id);
      tasks.delete(id);
      return task && shareOfRight < 0.5 && ++passedOver % ONE_IN !== 0 ? undefined : task;
    },
    /** Only small ones that may go on are kept. */
    put({ checkpoint: _checkpoint, interim: _interim, ...task }: TaskRecord): void {
      const isLarge = [task.input, task.action, task.result, task.outcome, task.usage].some(
        (part) => part !== undefined,
      );
      if (!isLarge && !isTerminal(task.status)) tasks.set(task.id, task);
    },
    /** Whether a Task that was taken was right. */
    noteUse(wasRight: boolean): void {
      shareOfRight += (Number(wasRight) - shareOfRight) / LATEST;
    },
  };
}

/** Remembers what `load` finds. It asks again for what was not found, and for what the caller forgets. */
export function createLookupCache<Key, Value>(limit: number, load: (key: Key) => Promise<Value>) {
  const cache = createBoundedMap<Key, Value>(limit);
  return {
    find: async (key: Key): Promise<Value> => {
      const known = cache.get(key);
      if (known !== undefined) return known;
      const found = await load(key);
      if (found !== undefined) cache.set(key, found);
      return found;
    },
    forget: (key: Key): void => {
      cache.delete(key);
    },
  };
}
