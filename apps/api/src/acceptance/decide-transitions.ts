import {
  destinationOf,
  DomainError,
  factKeyOf,
  judgeTransition,
  NotFoundError,
  renderWebhookBody,
  wantsEvent,
  type ActionUrl,
  type TaskEventName,
  type TaskId,
  type TransitionReport,
  type TransitionVerdict,
  type WorkspaceId,
} from '@herald/core';
import { newRevision } from '@herald/store/redis/revision';
import type { Emission, TransitionCommit } from '@herald/store/transitions/transition-store';
import type { LastCheckpoint, TaskRecord } from '@herald/store/tasks/task-record';
import type { Subscriptions } from '@herald/store/endpoints/receiver-store';

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

export type DecideDeps = {
  /** Of the request that is being answered. */
  readonly requestId: () => string | undefined;
  readonly actionUrl: ActionUrl;
  readonly now: () => number;
};

/** A report, and its place among those that came with it. */
export type Slot = ReportedTransition & { readonly index: number };
export type Decided = {
  readonly slot: Slot;
  readonly verdict: TransitionVerdict;
  /** As it leaves it. */
  readonly task: TaskRecord;
  readonly emission?: Emission;
  /** Absent: there is nothing to write. */
  readonly commit?: TransitionCommit;
};
/** Reports about one Task, each decided on what the one before leaves, and those that can't be. */
export type Decisions = {
  readonly decided: readonly Decided[];
  readonly faults: readonly (readonly [Slot, DomainError])[];
};

/** Decides reports about one Task as it was found. Nothing is written. */
export function decideAll(
  deps: DecideDeps,
  slots: readonly Slot[],
  found: { readonly task: TaskRecord; readonly knownFacts: ReadonlySet<string> },
  subscriptions: Subscriptions,
): Decisions {
  const now = deps.now();
  const knownFacts = new Set(found.knownFacts);
  const decided: Decided[] = [];
  const faults: [Slot, DomainError][] = [];
  let { task } = found;
  for (const slot of slots) {
    if (slot.workspaceId !== undefined && slot.workspaceId !== task.workspaceId) {
      faults.push([slot, new NotFoundError('task', task.id)]);
      continue;
    }
    try {
      const decision = decide(deps, { slot, task, knownFacts, subscriptions, now });
      decided.push(decision);
      if (decision.verdict.kind === 'accepted') knownFacts.add(decision.verdict.factKey);
      task = decision.task;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      faults.push([slot, error]);
    }
  }
  return { decided, faults };
}

type DecideInput = {
  readonly slot: Slot;
  readonly task: TaskRecord;
  readonly knownFacts: ReadonlySet<string>;
  readonly subscriptions: Subscriptions;
  readonly now: number;
};

/** Decides one report. The next report of the same Task is decided on what this one leaves. */
function decide(deps: DecideDeps, { slot, task, knownFacts, subscriptions, now }: DecideInput): Decided {
  const { report, impliesStart = false, traceparent } = slot;
  const isKnownFact = knownFacts.has(factKeyOf(report));
  const verdict = judgeTransition(task, report, { isKnownFact, impliesStart });
  const change = verdict.kind === 'accepted' ? verdict.change : verdict.fill;
  if (!change) return { slot, verdict, task };
  const emission =
    verdict.kind === 'accepted' && verdict.event
      ? toEmission(deps, { ...verdict, event: verdict.event }, report, task, subscriptions, now)
      : undefined;
  const newTaskRevision = newRevision();
  const checkpoint = toLastCheckpoint(report, now);
  const fullChange = { ...change, ...(checkpoint && { checkpoint }) };
  return {
    slot,
    verdict,
    task: { ...task, ...fullChange, revision: newTaskRevision, updatedAt: now },
    commit: {
      task,
      newRevision: newTaskRevision,
      subscriptionVersion: subscriptions.version,
      now,
      change: fullChange,
      ...(verdict.kind === 'accepted' && { factKey: verdict.factKey }),
      ...(emission && { emission: traceparent === undefined ? emission : { ...emission, traceparent } }),
    },
    ...(emission && { emission }),
  };
}

function toLastCheckpoint(report: TransitionReport, at: number): LastCheckpoint | undefined {
  if (report.type !== 'checkpoint') return undefined;
  const { checkpointId, canonical, material, outcome } = report;
  return { checkpointId, canonical, material, at, ...(outcome && { outcome }) };
}

function toEmission(
  { actionUrl, requestId: currentRequestId }: DecideDeps,
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
      transitionId,
      event,
      createdAt,
      report,
      actionUrl,
      sequence: change.sequence,
      taskId: task.id,
      status: change.status,
    }),
    ...(requestId !== undefined && { requestId }),
    targets: endpoints
      .filter((endpoint) => wantsEvent(endpoint, event))
      .map(({ id, destination, enabled }) => ({ endpointId: id, destination, enabled })),
  };
}
