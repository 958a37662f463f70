import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

const OWN_FAULTS = ['delivery'] as const;
export type OwnFaultPlace = (typeof OWN_FAULTS)[number];

/** What a worker repairs, and what goes wrong inside it. */
export type UpkeepMetrics = {
  readonly sweepFailed: () => void;
  readonly ownFault: (place: OwnFaultPlace) => void;
  readonly queueFailed: (queue: string) => void;
  readonly jobStalled: (queue: string) => void;
};

export function createUpkeepMetrics(registry: MetricsRegistry): UpkeepMetrics {
  const sweepFailures = createCounter(
    registry,
    'herald_sweeper_failures_total',
    'Sweeps that failed; the next round tries anew.',
    [],
    [{}],
  );
  const ownFaults = createCounter(
    registry,
    'herald_own_faults_total',
    'Faults of our own or of Redis while a delivery was in work; it comes again, no try spent.',
    ['place'],
    OWN_FAULTS.map((place) => ({ place })),
  );
  const queues = [{ queue: 'deliveries' }];
  const queueErrors = createCounter(
    registry,
    'herald_queue_errors_total',
    'Errors that BullMQ reported.',
    ['queue'],
    queues,
  );
  const stalled = createCounter(
    registry,
    'herald_jobs_stalled_total',
    "Deliveries that waited again because their worker's lease had ended.",
    ['queue'],
    queues,
  );
  return {
    sweepFailed: () => {
      sweepFailures({});
    },
    ownFault: (place) => {
      ownFaults({ place });
    },
    queueFailed: (queue) => {
      queueErrors({ queue });
    },
    jobStalled: (queue) => {
      stalled({ queue });
    },
  };
}
