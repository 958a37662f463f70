import type { RedisClient } from '@herald/store/redis/connect-redis';
import { ARRIVAL_BINS, ATTEMPT_BINS, fieldsOf } from '@herald/store/stats/counter-layout';
import { COUNT_LUA } from '@herald/store/stats/count-lua';
import { shardKeys } from '../../tests/support/delivery-state.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

// Counts what would have happened in a past minute, as the scripts of the service count.
// KEYS[1] counters   ARGV[1] the minute (ms)   ARGV[2..] field and how much, in turn
const COUNT_PAST_LUA = /* lua */ `
${COUNT_LUA}
local counts = {}
for index = 2, #ARGV, 2 do counts[tonumber(ARGV[index])] = tonumber(ARGV[index + 1]) end
count(KEYS[1], tonumber(ARGV[1]), counts)
`;

/** Gives an endpoint and the service a day of history: busy by day, quiet by night, and an outage in between. */
export async function seedHistory(redis: RedisClient, endpointId: `wh_${string}`): Promise<void> {
  const keys = shardKeys();
  const count = async (key: string, at: number, counts: readonly (readonly [field: number, count: number])[]) => {
    const some = counts.filter(([, each]) => each > 0).flat();
    if (some.length > 0) await redis.eval(COUNT_PAST_LUA, 1, key, at, ...some);
  };
  const now = Date.now();
  for (let ago = DAY_MINUTES; ago >= 1; ago--) {
    const at = now - ago * MINUTE_MS;
    const busy =
      1.2 + Math.sin((ago / DAY_MINUTES) * 2 * Math.PI) + 0.35 * Math.sin(ago / 37) + 0.2 * Math.sin(ago / 7);
    const delivered = Math.max(1, Math.round(busy * 16));
    const failed = ago > 250 && ago < 330 ? Math.round(delivered / 2) : ago % 41 === 0 ? 1 : 0;
    const { field: failedAttempt, shardField } = fieldsOf({
      isSuccess: false,
      durationMs: 0,
      arrivedAfterMs: undefined,
    });
    const slow = Math.round(delivered / 12);
    await count(keys.endpointStats(endpointId), at, [
      [ATTEMPT_BINS.fieldOf(60 + 20 * busy), delivered - slow],
      [ATTEMPT_BINS.fieldOf(190 + 70 * busy), slow],
      [failedAttempt, failed],
    ]);
    await count(keys.shardStats, at, [
      [0, delivered + failed],
      [ARRIVAL_BINS.fieldOf(40 + 20 * busy), delivered - slow],
      [ARRIVAL_BINS.fieldOf(200 + 90 * busy), slow],
      [shardField, failed],
    ]);
  }
}
