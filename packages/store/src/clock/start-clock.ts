import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { createMonotonicClock, type Clock, type MonotonicClockDeps, type TimeSample } from './clock.ts';

export type StartClockDeps = {
  readonly redis: RedisClient;
  readonly report: ClockReport;
  /** Default: this process'. */
  readonly clocks?: MonotonicClockDeps;
};

/** What is told of a clock. Times are in ms. */
export type ClockReport = {
  /** This machine's clock differs from Redis' time by more than it should; told once, until it is right again. */
  readonly skewed: (skewMs: number) => void;
  readonly rightAgain: (skewMs: number) => void;
  /** Redis' time jumped: another server answers, or somebody set its clock. */
  readonly redisJumped: (byMs: number) => void;
};

export type RunningClock = Clock & {
  /** Looks at Redis' time now, as when the connection was made again and may lead to another server. Never rejects. */
  readonly refresh: () => Promise<void>;
  readonly stop: () => void;
};

/** A larger difference is told to operators, in ms. */
export const SKEW_LIMIT_MS = 500;
/** How often Redis' time is looked at, in ms. */
const EVERY_MS = 5_000;
/** An answer that took longer is slow, in ms. */
const SLOW_MS = 100;
const MOST_TRIES = 3;
const CLOCKS: MonotonicClockDeps = { monotonic: () => performance.now(), wallClock: Date.now };

/**
 * Follows Redis' time until stopped. While Redis is away it goes on by itself.
 * @throws when Redis doesn't tell its time
 */
export async function startClock({ redis, report, clocks = CLOCKS }: StartClockDeps): Promise<RunningClock> {
  const clock = createMonotonicClock(await readTime(redis, clocks.monotonic), clocks);
  let isSkewed = false;
  const judgeSkew = () => {
    const skewMs = clock.skewMs();
    if (Math.abs(skewMs) > SKEW_LIMIT_MS === isSkewed) return;
    isSkewed = !isSkewed;
    if (isSkewed) report.skewed(skewMs);
    else report.rightAgain(skewMs);
  };
  const look = async () => {
    const jumpMs = clock.learn(await readTime(redis, clocks.monotonic));
    if (Math.abs(jumpMs) > SKEW_LIMIT_MS) report.redisJumped(jumpMs);
  };
  let looking: Promise<void> | undefined;
  const refresh = () => {
    // One at a time: while Redis is away a look waits for it. What is known holds meanwhile.
    looking ??= look()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  judgeSkew();
  const timer = setInterval(() => {
    judgeSkew();
    void refresh();
  }, EVERY_MS);
  return {
    now: clock.now,
    skewMs: clock.skewMs,
    refresh,
    stop: () => {
      clearInterval(timer);
    },
  };
}

/** A slow answer says little: it is asked again, a few times. */
async function readTime(redis: RedisClient, monotonic: () => number): Promise<TimeSample> {
  for (let tries = 1; ; tries++) {
    const sample = await askTime(redis, monotonic);
    if (sample.answeredAt - sample.askedAt <= SLOW_MS || tries === MOST_TRIES) return sample;
  }
}

/** Of a cluster the median of what its masters say: one whose clock is wrong, or that is away, decides nothing. */
async function askTime(redis: RedisClient, monotonic: () => number): Promise<TimeSample> {
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
