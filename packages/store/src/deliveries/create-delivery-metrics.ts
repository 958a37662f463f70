import type { DisabledReason, EventName } from '@herald/core';
import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** A delivery that ended. The event is absent when Redis forgot the transition. */
export type Settlement = {
  readonly event?: EventName;
  readonly status: 'delivered' | 'failed' | 'canceled';
  /** Why it failed or was canceled: of a closed set. */
  readonly reason?: string;
};

/** What both processes do with deliveries and endpoints. */
export type DeliveryMetrics = {
  readonly created: (event: EventName, count: number) => void;
  readonly settled: (settlement: Settlement, count?: number) => void;
  /** A redelivery brought what had failed or been canceled before. */
  readonly recovered: (event: EventName) => void;
  readonly replayed: (count: number) => void;
  readonly endpointDisabled: (reason: DisabledReason) => void;
};

export function createDeliveryMetrics(registry: MetricsRegistry): DeliveryMetrics {
  const created = createCounter(
    registry,
    'herald_deliveries_created_total',
    'Deliveries created: one for each endpoint that an accepted transition goes to, or that is sent a test event.',
    ['event'],
  );
  const settled = createCounter(
    registry,
    'herald_deliveries_settled_total',
    'Deliveries that ended, by how and why. A replayed delivery ends once more.',
    ['event', 'outcome', 'reason'],
  );
  const recovered = createCounter(
    registry,
    'herald_deliveries_recovered_total',
    'Deliveries that had failed or been canceled, and were delivered by a redelivery.',
    ['event'],
  );
  const replayed = createCounter(
    registry,
    'herald_deliveries_replayed_total',
    'Deliveries that replays set pending again.',
    [],
    [{}],
  );
  const disabled = createCounter(
    registry,
    'herald_endpoints_disabled_total',
    'Receivers and callbacks that were disabled, by reason.',
    ['reason'],
    [{ reason: 'gone' }, { reason: 'failing' }, { reason: 'by_request' }],
  );
  return {
    created: (event, count) => {
      created({ event }, count);
    },
    settled: ({ event, status, reason }, count) => {
      settled({ event: event ?? 'unknown', outcome: status, reason: reason ?? '' }, count);
    },
    recovered: (event) => {
      recovered({ event });
    },
    replayed: (count) => {
      replayed({}, count);
    },
    endpointDisabled: (reason) => {
      disabled({ reason });
    },
  };
}
