import type { TaskEventName } from '@herald/core';
import type { Report } from '../tests/support/reports.ts';
import type { KnownEndpoint } from './known-endpoint.ts';

/** A transition that was answered with 2xx. Times are epoch ms. */
export type AcceptedFact = {
  readonly transitionId: string;
  readonly taskId: string;
  readonly workspaceId: string;
  readonly event: TaskEventName;
  /** It was accepted between these times: of the first request for it, and of the first 2xx. */
  readonly from: number;
  readonly by: number;
  /** Repeats its report. */
  readonly report: Report;
};

/** A redelivery that was answered with 202. */
export type AskedRedelivery = { readonly deliveryId: string; readonly endpoint: KnownEndpoint; readonly from: number };

/** A replay that was answered with 202, of deliveries failed or canceled since a time. Times are epoch ms. */
export type AskedReplay = {
  readonly id: string;
  readonly endpoint: KnownEndpoint;
  readonly from: number;
  readonly since: number;
};

/** The answers that the run got. From these follows which deliveries must arrive. */
export type Ledger = {
  readonly facts: ReadonlyMap<string, AcceptedFact>;
  /** A known transition stays as it was first accepted. */
  accept(fact: AcceptedFact): void;
  readonly redeliveries: AskedRedelivery[];
  readonly replays: AskedReplay[];
  readonly counts: {
    reports: number;
    repeated: number;
    refused: number;
    /** Of those: the history was away. */
    historyAway: number;
    unanswered: number;
    /** Reports of the flooding workspace that were refused because it is full. */
    full: number;
    /** Registrations, changes, removals and rotations of receivers. */
    changes: number;
  };
  /** Answers that the contract doesn't allow. */
  readonly violations: string[];
};

export function createLedger(): Ledger {
  const facts = new Map<string, AcceptedFact>();
  return {
    facts,
    accept(fact) {
      if (!facts.has(fact.transitionId)) facts.set(fact.transitionId, fact);
    },
    redeliveries: [],
    replays: [],
    violations: [],
    counts: { reports: 0, repeated: 0, refused: 0, historyAway: 0, unanswered: 0, full: 0, changes: 0 },
  };
}
