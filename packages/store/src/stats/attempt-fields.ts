import { FIELDS } from './counter-layout.ts';
import { createDurationBins } from './duration-bins.ts';

// What the counters of an endpoint, and those of a shard, count.

/** The field of an endpoint's failed attempts, behind those of the durations of the successful ones. */
const FAILED = FIELDS - 1;
/** Up to 19 s, more than the usual deadline; the last one is open. */
export const ATTEMPT_BINS = createDurationBins({ first: 0, count: FAILED, factor: 1.6 });

/** Fields of a shard: deliveries accepted, failed attempts, deliveries that did not arrive at once. */
export const SHARD_FIELDS = { accepted: 0, failed: 1, deliveredLater: 2 } as const;
/** From acceptance to arrival, of deliveries that arrived at once: up to 8 minutes; the last one is open. */
export const ARRIVAL_BINS = createDurationBins({ first: 3, count: FIELDS - 3, factor: 2 });

/** What an attempt came to. Durations are in ms. */
export type CountedAttempt = {
  readonly isSuccess: boolean;
  readonly durationMs: number;
  /** From acceptance to now, of a delivery that arrives at once. */
  readonly arrivedAfterMs: number | undefined;
};

/** The field that an attempt counts for among those of its endpoint, and that among those of the shard. */
export function fieldsOf({ isSuccess, durationMs, arrivedAfterMs }: CountedAttempt) {
  if (!isSuccess) return { field: FAILED, shardField: SHARD_FIELDS.failed };
  const shardField = arrivedAfterMs === undefined ? SHARD_FIELDS.deliveredLater : ARRIVAL_BINS.fieldOf(arrivedAfterMs);
  return { field: ATTEMPT_BINS.fieldOf(durationMs), shardField };
}

/** The failed attempts of an endpoint's bucket. */
export function failedOf(counts: readonly number[]): number {
  return counts[FAILED] ?? 0;
}
