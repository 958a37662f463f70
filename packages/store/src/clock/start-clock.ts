import type { Logger } from '@herald/runtime/log/logger';
import { oneAtATime } from '@herald/runtime/async/one-at-a-time';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { createMonotonicClock, SKEW_LIMIT_MS, type TimeSample } from './clock.ts';

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
export type RunningClock = Awaited<ReturnType<typeof startClock>>;

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
