import type { TaskEventName } from '@herald/core';
import type { Report } from '../tests/support/reports.ts';

/** A receiver or a callback, as the run knows it. */
export type KnownEndpoint = {
  readonly id: string;
  readonly workspaceId: string;
  /** Path of its url: what arrives there is its own. */
  readonly path: string;
  readonly secret: string;
  /** None: every event. */
  readonly events: readonly string[];
};

/** A transition that was answered with 2xx. */
export type AcceptedFact = {
  readonly transitionId: string;
  readonly taskId: string;
  readonly event: TaskEventName;
  /** Everybody who was subscribed at that moment. */
  readonly endpoints: readonly KnownEndpoint[];
  /** What states it once more. */
  readonly report: Report;
};

/** What the run was told, from which follows what must arrive. */
export type Ledger = {
  readonly facts: ReadonlyMap<string, AcceptedFact>;
  accept(fact: AcceptedFact): void;
  readonly counts: { reports: number; repeated: number; refused: number; unanswered: number };
  /** Answers that the contract doesn't foresee. */
  readonly violations: string[];
};

export function createLedger(): Ledger {
  const facts = new Map<string, AcceptedFact>();
  return {
    facts,
    accept: (fact) => facts.set(fact.transitionId, fact),
    counts: { reports: 0, repeated: 0, refused: 0, unanswered: 0 },
    violations: [],
  };
}
