import { oneAtATime } from '@herald/runtime/async';
import { warning, type Finding } from '@herald/runtime/finding';
import type { Logger } from '@herald/runtime/log';
import { mastersOf, type RedisClient } from './connect-redis.ts';
import type { Connections } from './open-connections.ts';

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
const SKEW_LIMIT_MS = 500;
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

/** How often Redis is asked for its time, in ms. */
const EVERY_MS = 5_000;
/** A slower answer says little, and the question is repeated, in ms. */
const SLOW_MS = 100;
const MOST_TRIES = 3;
const monotonic = () => performance.now();

/**
 * Follows Redis' time until stopped. While Redis is away, the clock runs on by itself. Logs when this machine's clock
 * leaves the limit or returns, and when Redis' time jumps: another server answers, or its clock was set.
 * @throws Error when Redis doesn't tell its time
 */
export async function startClock(redis: RedisClient, logger?: Logger) {
  const clock = createMonotonicClock(await readTime(redis), { monotonic, wallClock: Date.now });
  let isSkewed = false;
  const watchSkew = () => {
    const skewMs = clock.skewMs();
    if (Math.abs(skewMs) > SKEW_LIMIT_MS === isSkewed) return;
    isSkewed = !isSkewed;
    if (isSkewed) logger?.warn('clock.off', { skewMs });
    else logger?.info('clock.right_again', { skewMs });
  };
  // While Redis is away, a look waits for it, and what is known holds.
  const refresh = oneAtATime(async () => {
    const sample = await readTime(redis).catch(() => undefined);
    const byMs = sample ? clock.learn(sample) : 0;
    if (Math.abs(byMs) > SKEW_LIMIT_MS) logger?.warn('clock.redis_jumped', { byMs });
  });
  watchSkew();
  // By itself: a question that goes to Redis beside others learns the time less exactly.
  const timer = setInterval(() => {
    watchSkew();
    void refresh();
  }, EVERY_MS);
  return {
    now: clock.now,
    skewMs: clock.skewMs,
    /** Looks at Redis' time now, as after a reconnection, which may lead to another server. Never rejects. */
    refresh,
    stop: () => {
      clearInterval(timer);
    },
  };
}
type RunningClock = Awaited<ReturnType<typeof startClock>>;

async function readTime(redis: RedisClient): Promise<TimeSample> {
  for (let tries = 1; ; tries++) {
    const sample = await askTime(redis);
    if (sample.answeredAt - sample.askedAt <= SLOW_MS || tries === MOST_TRIES) return sample;
  }
}

/** Of a cluster, the median of its masters: one whose clock is wrong, or that is away, decides nothing. */
async function askTime(redis: RedisClient): Promise<TimeSample> {
  const asked = await Promise.allSettled(
    mastersOf(redis).map(async (master) => {
      const askedAt = monotonic();
      const [seconds, micros] = await master.time();
      return { redisMs: Number(seconds) * 1_000 + Number(micros) / 1_000, askedAt, answeredAt: monotonic() };
    }),
  );
  const samples = asked.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  samples.sort((one, other) => one.redisMs - one.answeredAt - (other.redisMs - other.answeredAt));
  const median = samples[Math.floor((samples.length - 1) / 2)];
  if (median) return median;
  const failure = asked.find(({ status }) => status === 'rejected');
  throw failure?.status === 'rejected' ? failure.reason : new Error('no master of Redis is known');
}

/** Starts the clock of a process, with its lines in the log. */
export async function openClock(redis: RedisClient, connections: Connections, logger: Logger): Promise<RunningClock> {
  const clock = await startClock(redis, logger);
  // After a failover another server may answer.
  connections.onReconnect(() => void clock.refresh());
  return clock;
}
