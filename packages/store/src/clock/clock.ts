import { warning, type Finding } from '@herald/runtime/findings/finding';

/** Redis' time, which decides for every process, whatever the clock of its machine says. */
export type Clock = {
  /** Epoch ms, a whole number. No I/O. */
  readonly now: () => number;
  /** How far this machine's clock is ahead of Redis' time, in ms; negative: behind. */
  readonly skewMs: () => number;
};

/** An answer of Redis to TIME, and the monotonic times before the question and after the answer. All in ms. */
export type TimeSample = { readonly redisMs: number; readonly askedAt: number; readonly answeredAt: number };

/** A larger difference from Redis' time is told to operators, in ms. */
export const SKEW_LIMIT_MS = 500;
/** How fast two clocks may drift apart: a time server slews a clock by 500 ppm at most. */
const DRIFT = 0.0005;

/**
 * Creates a clock that follows Redis' time. The answer to TIME was true at some moment between question and answer,
 * which bounds the distance to the monotonic clock from both sides. Each sample narrows these bounds, so that a slow
 * answer does no harm. The time never depends on this machine's clock, which may jump.
 * @param clocks in ms: `monotonic` never jumps, `wallClock` is this machine's clock (epoch)
 */
export function createMonotonicClock(first: TimeSample, clocks: Record<'monotonic' | 'wallClock', () => number>) {
  /** Bounds of Redis' time minus the monotonic time. */
  let known = boundsOf(first);
  let learntAt = first.answeredAt;
  const middle = () => (known.low + known.high) / 2;
  const now = () => Math.floor(clocks.monotonic() + middle());
  return {
    now,
    skewMs: () => Math.round(clocks.wallClock() - now()),
    /** Takes a sample in. Returns by how many ms Redis' time jumped: 0, unless the sample contradicts earlier ones. */
    learn(sample: TimeSample): number {
      const seen = boundsOf(sample);
      const drift = DRIFT * (sample.answeredAt - learntAt);
      const low = Math.max(seen.low, known.low - drift);
      const high = Math.min(seen.high, known.high + drift);
      learntAt = sample.answeredAt;
      if (low <= high) {
        known = { low, high };
        return 0;
      }
      const before = middle();
      // The clock jumps by as little as the sample demands: a slow one says nothing more.
      const width = Math.min(seen.high - seen.low, known.high - known.low + 2 * drift);
      known =
        seen.low > known.high ? { low: seen.low, high: seen.low + width } : { low: seen.high - width, high: seen.high };
      return Math.round(middle() - before);
    },
  };
}

function boundsOf({ redisMs, askedAt, answeredAt }: TimeSample) {
  return { low: redisMs - answeredAt, high: redisMs - askedAt };
}

/**
 * Finds that a machine's clock differs too much from Redis' time.
 * @param skewMs how far the machine's clock is ahead; negative: behind
 */
export function judgeSkew(skewMs: number): Finding[] {
  if (Math.abs(skewMs) <= SKEW_LIMIT_MS) return [];
  const difference = `${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;
  const sentence = `this machine's clock is ${difference} Redis' time, which Herald follows; certificates and logs go by this machine's clock: let both machines follow a time server (NTP)`;
  return [warning('clock_off', sentence)];
}
