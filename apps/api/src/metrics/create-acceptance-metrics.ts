import { EVENT_NAMES, type TaskEventName } from '@herald/core';
import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** What executors report and customers ask for. */
export type AcceptanceMetrics = {
  /** Absent: a transition that emits nothing. */
  readonly accepted: (event: TaskEventName | undefined) => void;
  readonly repeated: () => void;
  /** @param code a problem's stable code */
  readonly refused: (code: string) => void;
  readonly testSent: (outcome: 'delivered' | 'not_delivered' | 'unavailable') => void;
  readonly redeliveryRequested: () => void;
  readonly replayRequested: () => void;
};

const NO_EVENT = 'none';

export function createAcceptanceMetrics(registry: MetricsRegistry): AcceptanceMetrics {
  const accepted = createCounter(
    registry,
    'herald_transitions_accepted_total',
    'Transitions accepted, by the event that they emit; duplicates apart.',
    ['event'],
    [...EVENT_NAMES.filter((event) => event !== 'webhook.test'), NO_EVENT].map((event) => ({ event })),
  );
  const repeated = createCounter(
    registry,
    'herald_transitions_duplicate_total',
    'Reports of transitions that were known before.',
    [],
    [{}],
  );
  const refused = createCounter(
    registry,
    'herald_transitions_refused_total',
    'Reports of transitions that were refused, by the code of the problem.',
    ['code'],
  );
  const tests = createCounter(
    registry,
    'herald_test_events_total',
    'Test operations, by how they ended.',
    ['outcome'],
    ['delivered', 'not_delivered', 'unavailable'].map((outcome) => ({ outcome })),
  );
  const redeliveries = createCounter(
    registry,
    'herald_redeliveries_total',
    'Redeliveries that were asked for.',
    [],
    [{}],
  );
  const replays = createCounter(registry, 'herald_replays_total', 'Replays that were asked for.', [], [{}]);
  return {
    accepted: (event) => {
      accepted({ event: event ?? NO_EVENT });
    },
    repeated: () => {
      repeated({});
    },
    refused: (code) => {
      refused({ code });
    },
    testSent: (outcome) => {
      tests({ outcome });
    },
    redeliveryRequested: () => {
      redeliveries({});
    },
    replayRequested: () => {
      replays({});
    },
  };
}
