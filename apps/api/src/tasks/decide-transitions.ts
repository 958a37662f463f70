import {
  type ActionUrl,
  DomainError,
  type EndpointOrdering,
  factKeyOf,
  judgeTransition,
  type KnownFact,
  NotFoundError,
  orderingTimeoutOf,
  renderWebhookBody,
  type TaskEventName,
  type TaskId,
  type TransitionReport,
  type TransitionVerdict,
  wantsEvent,
  type WorkspaceId,
} from '@herald/core';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { Subscriptions } from '@herald/store/endpoints/receiver-store';
import { newRevision } from '@herald/store/redis/random-token';
import type { LastCheckpoint, TaskRecord } from '@herald/store/tasks/task-record';
import type { Emission, Target, TransitionCommit } from '@herald/store/tasks/transition-store';

/** A report of one fact about a Task. */
export type ReportedTransition = {
  readonly taskId: TaskId;
  readonly report: TransitionReport;
  /** The trace of the request (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /** The workspace that the Task must belong to. Absent: an executor reports, for any workspace. */
  readonly workspaceId?: WorkspaceId;
  /** It cancels a Task of a workspace that is being erased. */
  readonly isErasure?: true;
  /** See `judgeTransition`. */
  readonly impliesStart?: boolean;
};

export type DecideDeps = {
  /** The id of the current request. */
  readonly requestId: () => string | undefined;
  readonly actionUrl: ActionUrl;
  readonly now: () => number;
};

/** A report, and its place among those that came with it. */
export type Slot = ReportedTransition & { readonly index: number };
export type Decided = {
  readonly slot: Slot;
  readonly verdict: TransitionVerdict;
  /** The Task after the transition. */
  readonly task: TaskRecord;
  /** Absent: there is nothing to write. */
  readonly commit?: TransitionCommit;
};
/** The decided reports about one Task, and those that are refused. */
type Decisions = {
  readonly decided: readonly Decided[];
  readonly faults: readonly (readonly [Slot, DomainError])[];
};

type Found = { readonly task: TaskRecord; readonly knownFacts: ReadonlyMap<string, KnownFact> };

/** Decides reports about one Task, each on the state that the one before leaves. Writes nothing. */
export function decideAll(
  deps: DecideDeps,
  slots: readonly Slot[],
  found: Found,
  subscriptions: Subscriptions,
): Decisions {
  const now = deps.now();
  const knownFacts = new Map(found.knownFacts);
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
      noteFact(knownFacts, decision.verdict);
      task = decision.task;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      faults.push([slot, error]);
    }
  }
  return { decided, faults };
}

function noteFact(knownFacts: Map<string, KnownFact>, verdict: TransitionVerdict): void {
  if (verdict.kind !== 'accepted') return;
  const { factKey, digest, event, change } = verdict;
  knownFacts.set(factKey, { sequence: event ? change.sequence : 0, ...(digest !== undefined && { digest }) });
}

type DecideInput = Found & { readonly slot: Slot; readonly subscriptions: Subscriptions; readonly now: number };

function decide(deps: DecideDeps, input: DecideInput): Decided {
  const { slot, task, knownFacts, subscriptions, now } = input;
  const { report, impliesStart = false } = slot;
  const verdict = judgeTransition(task, report, { known: knownFacts.get(factKeyOf(report)), impliesStart });
  const isAccepted = verdict.kind === 'accepted';
  const stateChange = isAccepted ? verdict.change : verdict.fill;
  if (!stateChange) return { slot, verdict, task };
  const emission = isAccepted && verdict.event ? toEmission(deps, input, verdict, verdict.event) : undefined;
  const revision = newRevision();
  const checkpoint = toLastCheckpoint(report, now);
  const change = { ...stateChange, ...(checkpoint && { checkpoint }) };
  return {
    slot,
    verdict,
    task: { ...task, ...change, revision, updatedAt: now },
    commit: {
      task,
      newRevision: revision,
      subscriptionVersion: subscriptions.version,
      now,
      change,
      ...(isAccepted && toFact(verdict)),
      ...(emission && { emission }),
      ...(slot.isErasure && { isErasure: slot.isErasure }),
    },
  };
}

type Accepted = Extract<TransitionVerdict, { kind: 'accepted' }>;

function toFact({ factKey, digest, isRaised }: Accepted) {
  return { factKey, ...(digest !== undefined && { digest }), ...(isRaised && { isRaised }) };
}

function toLastCheckpoint(report: TransitionReport, at: number): LastCheckpoint | undefined {
  if (report.type !== 'checkpoint') return undefined;
  const { checkpointId, canonical, material, outcome } = report;
  return { checkpointId, canonical, material, at, ...(outcome && { outcome }) };
}

function toEmission(
  deps: DecideDeps,
  { slot: { report, traceparent }, task, subscriptions, now }: DecideInput,
  { transitionId, change: { sequence, status } }: Accepted,
  event: TaskEventName,
): Emission {
  const { id: taskId, callback } = task;
  const { actionUrl } = deps;
  const requestId = deps.requestId();
  const body = { transitionId, event, createdAt: now, report, actionUrl, sequence, taskId, status };
  const endpoints = [...subscriptions.receivers, ...(callback ? [{ ...callback, enabled: true }] : [])];
  return {
    transitionId,
    event,
    body: renderWebhookBody(body),
    ...(requestId !== undefined && { requestId }),
    ...(traceparent !== undefined && { traceparent }),
    targets: endpoints.filter((endpoint) => wantsEvent(endpoint, event)).map(toTarget),
  };
}

function toTarget(endpoint: EndpointOrdering & Pick<EndpointRecord, 'id' | 'enabled'>): Target {
  const { id, enabled } = endpoint;
  const orderingTimeoutMs = orderingTimeoutOf(endpoint);
  return { endpointId: id, enabled, ...(orderingTimeoutMs !== undefined && { orderingTimeoutMs }) };
}
