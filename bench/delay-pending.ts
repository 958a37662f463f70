import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { defineScript } from '@herald/store/scripts/script';
import { ENQUEUE_LUA, GROUP_LUA, scoreOf } from '@herald/queue';

const AT_A_TIME = 1_000;
const DAY_MS = 86_400_000;

const DELAY_LUA = /* lua */ `
-- Let the first attempt of waiting deliveries of one group have failed, so that they are due later, one after the other.
-- KEYS[1] the group's waiting deliveries (zset)
-- ARGV[1] prefix   ARGV[2] group   ARGV[3] now (ms)   ARGV[4] score of the first   ARGV[5] at most so many
-- Returns how many.
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
local now, entries = tonumber(ARGV[3]), {}
for index, id in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', CLASS + now, 'BYSCORE', 'LIMIT', 0, ARGV[5])) do
  local score = tonumber(ARGV[4]) + index
  redis.call('HSET', prefix .. 'd:' .. id, 'due', score - CLASS, 'n', 1)
  entries[index] = { ARGV[2], id, score }
end
enqueue(entries, now)
return #entries
`;

/** Makes every waiting delivery one with a failed first attempt, due in a day. No worker may run. */
export async function delayPending(redisUrl: string): Promise<void> {
  const redis = await connectRedis({
    target: { kind: 'single', url: redisUrl },
    use: 'background',
    name: 'herald-bench',
    onError: () => undefined,
  });
  try {
    const [keys] = createKeyspace(1).shards;
    if (!keys) throw new Error('one shard has keys');
    const delay = defineScript(redis, DELAY_LUA);
    const now = Date.now();
    let delayed = 0;
    for (const key of await redis.keys(keys.queue.waiting('*'))) {
      const group = key.slice(keys.queue.waiting('').length);
      for (let some = AT_A_TIME; some === AT_A_TIME; delayed += some) {
        const score = scoreOf('usual', now + DAY_MS + delayed);
        some = Number(await delay([key], [keys.prefix, group, now, score, AT_A_TIME]));
      }
    }
  } finally {
    await closeRedis(redis);
  }
}
