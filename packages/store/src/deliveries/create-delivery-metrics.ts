import { DISABLED_REASONS, NOTICE_EVENTS, type DeliveryEvent, type DisabledReason } from '@herald/core';
import { createCounter, type MetricsRegistry } from '@herald/runtime/metrics';

/** A delivery that ended. `event` is absent when Redis lost the transition; `reason` is one of a closed set. */
export type Settlement = {
  readonly event?: DeliveryEvent;
  readonly status: 'delivered' | 'failed' | 'canceled';
  readonly reason?: string;
};

/** Counts of deliveries and endpoints that both processes keep. */
export function createDeliveryMetrics(registry: MetricsRegistry) {
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
    // An alert fires at the first notice that is lost.
    NOTICE_EVENTS.flatMap((event) =>
      ['schedule_exhausted', 'too_old'].map((reason) => ({ event, outcome: 'failed', reason })),
    ),
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
    DISABLED_REASONS.map((reason) => ({ reason })),
  );
  return {
    created: (event: DeliveryEvent, count: number) => {
      created({ event }, count);
    },
    settled: ({ event, status, reason }: Settlement, count?: number) => {
      settled({ event: event ?? 'unknown', outcome: status, reason: reason ?? '' }, count);
    },
    /** A redelivery succeeded after the delivery had failed or been canceled. */
    recovered: (event: DeliveryEvent) => {
      recovered({ event });
    },
    replayed: (count: number) => {
      replayed({}, count);
    },
    endpointDisabled: (reason: DisabledReason) => {
      disabled({ reason });
    },
  };
}
export type DeliveryMetrics = ReturnType<typeof createDeliveryMetrics>;
