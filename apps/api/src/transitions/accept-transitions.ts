import {
  destinationOf,
  DomainError,
  factKeyOf,
  InvalidTransitionError,
  judgeTransition,
  NotFoundError,
  renderWebhookBody,
  TaskIdText,
  TaskStatus,
  TransitionIdText,
  UnavailableError,
  wantsEvent,
  type ActionUrl,
  type TaskEventName,
  type TaskId,
  type TransitionReport,
  type TransitionVerdict,
  type WorkspaceId,
} from '@herald/core';
import {
  FACT_LIMIT,
  newRevision,
  type CommitReply,
  type Emission,
  type LastCheckpoint,
  type Subscriptions,
  type TaskRecord,
  type TransitionStore,
} from '@herald/infra';
import { z } from 'zod';

import type { AcceptanceReport } from './create-acceptance-report.ts';

/** One fact about a Task, as somebody reports it. */
export type ReportedTransition = {
  readonly taskId: TaskId;
  readonly report: TransitionReport;
  /** The trace in which it is reported (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /** Whose Task it must be; absent when the reporter is the executor, which reports for every workspace. */
  readonly workspaceId?: WorkspaceId;
  /** See `judgeTransition`. */
  readonly impliesStart?: boolean;
};

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

export type AcceptTransitionsDeps = {
  readonly findTaskWorkspace: (id: TaskId) => Promise<WorkspaceId | undefined>;
  readonly transitions: TransitionStore;
  readonly subscriptions: {
    readonly find: (workspaceId: WorkspaceId) => Promise<Subscriptions>;
    readonly forget: (workspaceId: WorkspaceId) => void;
  };
  readonly report: Pick<AcceptanceReport, 'accepted' | 'refused'>;
  /** Of the request that is being answered. */
  readonly requestId: () => string | undefined;
  readonly actionUrl: ActionUrl;
  readonly now: () => number;
};

const NOTHING_TO_COMMIT: CommitReply = { kind: 'accepted', canceled: 0 };

type Slot = ReportedTransition & { readonly index: number };
type Result = AcceptedTransition | DomainError;
type Decided = {
  readonly slot: Slot;
  readonly verdict: TransitionVerdict;
  readonly task: TaskRecord;
  readonly emission?: Emission;
  readonly committed: Promise<CommitReply>;
};

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
 * the transition is durable, and its jobs are in line.
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
  const factKeys = [...new Set(slots.map(({ report }) => factKeyOf(report)))];
  const [found, subscriptions] =
    workspaceId === undefined
      ? [undefined, undefined]
      : await Promise.all([
          deps.transitions.findTask(workspaceId, taskId, factKeys),
          deps.subscriptions.find(workspaceId),
        ]);
  const acceptedAt = deps.now();
  const decisions: Decided[] = [];
  let task = found?.task;
  const knownFacts = new Set(found?.knownFacts);
  for (const slot of slots) {
    if (!task || !subscriptions || (slot.workspaceId !== undefined && slot.workspaceId !== task.workspaceId)) {
      results[slot.index] = new NotFoundError('task', taskId);
      continue;
    }
    try {
      const decided = decide(deps, { slot, task, knownFacts, subscriptions, now: acceptedAt });
      decisions.push(decided);
      if (decided.verdict.kind === 'accepted') knownFacts.add(decided.verdict.factKey);
      task = decided.task;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      results[slot.index] = error;
    }
  }
  return await settle(deps, workspaceId, decisions, results);
}

type DecideInput = {
  readonly slot: Slot;
  readonly task: TaskRecord;
  readonly knownFacts: ReadonlySet<string>;
  readonly subscriptions: Subscriptions;
  readonly now: number;
};

/** Decides one report and starts its commit. The next report of the same Task is decided on what this one leaves. */
function decide(deps: AcceptTransitionsDeps, { slot, task, knownFacts, subscriptions, now }: DecideInput): Decided {
  const { report, impliesStart = false, traceparent } = slot;
  const isKnownFact = knownFacts.has(factKeyOf(report));
  const verdict = judgeTransition(task, report, { isKnownFact, impliesStart });
  const change = verdict.kind === 'accepted' ? verdict.change : verdict.fill;
  if (!change) return { slot, verdict, task, committed: Promise.resolve(NOTHING_TO_COMMIT) };
  const emission =
    verdict.kind === 'accepted' && verdict.event
      ? toEmission(deps, { ...verdict, event: verdict.event }, report, task, subscriptions, now)
      : undefined;
  const newTaskRevision = newRevision();
  const checkpoint = toLastCheckpoint(report, now);
  const fullChange = { ...change, ...(checkpoint && { checkpoint }) };
  const committed = deps.transitions.commit({
    task,
    newRevision: newTaskRevision,
    subscriptionVersion: subscriptions.version,
    now,
    change: fullChange,
    ...(verdict.kind === 'accepted' && { factKey: verdict.factKey }),
    ...(emission && { emission: traceparent === undefined ? emission : { ...emission, traceparent } }),
  });
  // Looked at in order later; until then a rejection must not count as unhandled.
  committed.catch(() => undefined);
  return {
    slot,
    verdict,
    task: { ...task, ...fullChange, revision: newTaskRevision, updatedAt: now },
    committed,
    ...(emission && { emission }),
  };
}

function toLastCheckpoint(report: TransitionReport, at: number): LastCheckpoint | undefined {
  if (report.type !== 'checkpoint') return undefined;
  const { checkpointId, canonical, material, outcome } = report;
  return { checkpointId, canonical, material, at, ...(outcome && { outcome }) };
}

function toEmission(
  { actionUrl, requestId: currentRequestId }: AcceptTransitionsDeps,
  { transitionId, event, change }: Extract<TransitionVerdict, { kind: 'accepted' }> & { event: TaskEventName },
  report: TransitionReport,
  task: TaskRecord,
  { receivers }: Subscriptions,
  createdAt: number,
): Emission {
  const { callback } = task;
  const requestId = currentRequestId();
  const endpoints = [
    ...receivers,
    ...(callback ? [{ ...callback, enabled: true, destination: destinationOf(task.workspaceId, callback.url) }] : []),
  ];
  return {
    transitionId,
    event,
    body: renderWebhookBody({
      ...{ transitionId, event, createdAt, report, actionUrl },
      ...{ sequence: change.sequence, taskId: task.id, status: change.status },
    }),
    ...(requestId !== undefined && { requestId }),
    targets: endpoints
      .filter((endpoint) => wantsEvent(endpoint, event))
      .map(({ id, destination, enabled }) => ({ endpointId: id, destination, enabled })),
  };
}

/** Waits for the commits, in their order; returns the reports that must be decided anew. */
async function settle(
  { subscriptions, report }: AcceptTransitionsDeps,
  workspaceId: WorkspaceId | undefined,
  decisions: readonly Decided[],
  results: (Result | undefined)[],
): Promise<readonly Slot[]> {
  if (workspaceId === undefined) return [];
  const conflicts: Slot[] = [];
  for (const { slot, verdict, task, emission, committed } of decisions) {
    const commit = await committed;
    if (commit.kind === 'conflict') {
      conflicts.push(slot);
      continue;
    }
    if (commit.kind === 'full') {
      results[slot.index] = new InvalidTransitionError(`a Task takes at most ${FACT_LIMIT} checkpoints and actions`);
      continue;
    }
    const duplicate = verdict.kind === 'duplicate';
    const result = { transitionId: verdict.transitionId, taskId: slot.taskId, status: task.status, duplicate };
    results[slot.index] = result;
    const deliveries = emission?.targets.length ?? 0;
    report.accepted({
      ...result,
      workspaceId,
      ...(emission && { event: emission.event }),
      deliveries,
      canceled: commit.canceled,
    });
  }
  if (conflicts.length > 0) subscriptions.forget(workspaceId);
  return conflicts;
}
