import { ARRIVAL_BINS, ATTEMPT_BINS, failedOf, SHARD_FIELDS } from './attempt-fields.ts';
import { addCounts, type CountedBucket } from './counter-layout.ts';

const MINUTE_MS = 60_000;

/** What the counters of a shard, or of all, say of deliveries and attempts. */
export function toServiceCounts(counts: readonly number[]) {
  const of = (field: number) => counts[field] ?? 0;
  return {
    accepted: of(SHARD_FIELDS.accepted),
    delivered: ARRIVAL_BINS.sum(counts) + of(SHARD_FIELDS.deliveredLater),
    failedAttempts: of(SHARD_FIELDS.failed),
  };
}

/** What was counted in the last whole minute and the present one, and in how many seconds. */
function lately(minutes: readonly CountedBucket[], at: number) {
  const counts = minutes.slice(-2).reduce<number[]>((sum, bucket) => addCounts(sum, bucket.counts), []);
  return { counts, seconds: (MINUTE_MS + (at % MINUTE_MS)) / 1_000 };
}

/** The attempts a second of a receiver, from its counters. @param at epoch ms */
export function toSentPerSecond(minutes: readonly CountedBucket[], at: number): number {
  const { counts, seconds } = lately(minutes, at);
  return (ATTEMPT_BINS.sum(counts) + failedOf(counts)) / seconds;
}

/** Of the last whole minute and the present one. @param at epoch ms */
export function toServiceRates(minutes: readonly CountedBucket[], at: number) {
  const { counts, seconds } = lately(minutes, at);
  const { accepted, delivered, failedAttempts } = toServiceCounts(counts);
  const attempts = delivered + failedAttempts;
  const [p50Ms, p99Ms] = [ARRIVAL_BINS.quantile(counts, 0.5), ARRIVAL_BINS.quantile(counts, 0.99)];
  return {
    acceptedPerSecond: accepted / seconds,
    deliveredPerSecond: delivered / seconds,
    ...(attempts > 0 && { successRate: delivered / attempts }),
    ...(p50Ms !== undefined && { arrivalP50Ms: p50Ms }),
    ...(p99Ms !== undefined && { arrivalP99Ms: p99Ms }),
  };
}

type Rates = Pick<ReturnType<typeof toServiceRates>, 'acceptedPerSecond' | 'deliveredPerSecond'>;

/** When what is due will be sent if all goes on like this, in ms; undefined: never, since as much comes as goes. */
export function timeToEmpty(due: number, { acceptedPerSecond, deliveredPerSecond }: Rates): number | undefined {
  if (due === 0) return 0;
  const fewerPerSecond = deliveredPerSecond - acceptedPerSecond;
  return fewerPerSecond > 0 ? Math.round((due / fewerPerSecond) * 1_000) : undefined;
}
