import { closeRedis, connectRedis, createDutyStore, createKeyspace, type RedisClient } from '@herald/infra';

const AT_A_TIME = 1_000;
const DAY_MS = 86_400_000;
/** A transition with pending deliveries is looked at so often, in ms. */
const AUDIT_EVERY_MS = 600_000;
/** BullMQ scores a delayed job by its time in ms, shifted by 12 bits. */
const DELAYED_SCORE_FACTOR = 4_096;

/** Deliveries that wait for their next attempt. */
export type DelayedDeliveries = {
  /** Does what workers would have done about them by now, had they been there all the time. */
  readonly catchUp: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/**
 * Turns every delivery of the line into one whose first attempt failed, and that is due in a day; no worker may run. Their
 * transitions come up for an audit spread over time, as those of deliveries do that were accepted at different times.
 */
export async function delayPending(redisUrl: string): Promise<DelayedDeliveries> {
  const redis = await connectRedis({
    target: { kind: 'single', url: redisUrl },
    use: 'background',
    name: 'herald-bench',
    onError: () => undefined,
  });
  const [keys] = createKeyspace(1).shards;
  if (!keys) throw new Error('one shard has keys');
  const line = `${keys.bullPrefix}:deliveries`;
  const now = Date.now();
  let delayed = 0;
  for (let ids = await take(redis, line); ids.length > 0; ids = await take(redis, line)) {
    await Promise.all(
      ids.flatMap((id) => {
        const dueAt = now + DAY_MS + delayed++;
        return [
          redis.zadd(`${line}:delayed`, dueAt * DELAYED_SCORE_FACTOR, id),
          redis.hset(`${line}:${id}`, 'delay', String(dueAt - now), 'ats', '1', 'atm', '1'),
          redis.hset(keys.delivery(id), 'due', String(dueAt), 'n', '1'),
        ];
      }),
    );
  }
  await redis.del(`${line}:marker`);
  const transitions = await redis.zrange(keys.open, 0, '-1');
  for (let start = 0; start < transitions.length; start += AT_A_TIME) {
    const dueOf = (index: number) => now + ((start + index) / transitions.length) * AUDIT_EVERY_MS;
    const some = transitions.slice(start, start + AT_A_TIME);
    await redis.zadd(keys.open, ...some.flatMap((id, index) => [Math.round(dueOf(index)), id]));
  }
  const duties = createDutyStore({ redis, keys });
  return {
    async catchUp() {
      const at = Date.now();
      const claim = () => duties.claimAudits(at, at + AUDIT_EVERY_MS, AT_A_TIME);
      for (let due = await claim(); due.length === AT_A_TIME;) due = await claim();
    },
    close: () => closeRedis(redis),
  };
}

async function take(redis: RedisClient, line: string): Promise<string[]> {
  return (await redis.lpop(`${line}:wait`, AT_A_TIME)) ?? [];
}
