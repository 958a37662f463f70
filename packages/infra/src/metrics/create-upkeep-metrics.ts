import { createCounter } from './create-counter.ts';
import type { MetricsRegistry } from './create-metrics-registry.ts';

const SWEEP_FINDS = ['jobs_owed', 'redelivery_owed', 'job_missing', 'test_unsent'] as const;
/** What a sweeper can find: duties that whoever had them left undone. */
export type SweepFind = (typeof SWEEP_FINDS)[number];

const OWN_FAULTS = ['delivery', 'backlog'] as const;
export type OwnFaultPlace = (typeof OWN_FAULTS)[number];

/** What a worker repairs, and what goes wrong inside it. */
export type UpkeepMetrics = {
  readonly found: (kind: SweepFind, count?: number) => void;
  readonly sweepFailed: () => void;
  readonly ownFault: (place: OwnFaultPlace) => void;
  readonly queueFailed: (queue: string) => void;
  readonly jobStalled: (queue: string) => void;
  readonly lineHung: () => void;
};

export function createUpkeepMetrics(registry: MetricsRegistry): UpkeepMetrics {
  const found = createCounter(
    registry,
    'herald_sweeper_found_total',
    'Duties that a sweeper found undone, and did.',
    ['kind'],
    SWEEP_FINDS.map((kind) => ({ kind })),
  );
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
  const queues = [{ queue: 'deliveries' }, { queue: 'tests' }];
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
    "Jobs taken up again because their worker's lock had ended.",
    ['queue'],
    queues,
  );
  const hung = createCounter(
    registry,
    'herald_line_hung_total',
    'Times that work was due and nothing was fetched.',
    [],
    [{}],
  );
  return {
    found: (kind, count) => {
      found({ kind }, count);
    },
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
    lineHung: () => {
      hung({});
    },
  };
}
