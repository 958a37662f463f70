import { GROUP_LUA } from '@herald/queue';
import type { Keyspace } from '../keyspace/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import { defineScript } from '../scripts/script.ts';
import { FORMER_BREAKER, FORMER_SETTINGS } from './former-keys.ts';

const TAKE_OVER_BREAKERS_LUA = /* lua */ `
-- Copy a former version's breakers and pauses of destinations to their groups. May run twice.
-- KEYS[1..n] breakers (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3..n+2] ids of the destinations
-- Returns nothing.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
for index, key in ipairs(KEYS) do
  local id, known = ARGV[index + 2], {}
  local values = redis.call('HMGET', key, 'fails', 'open', 'wait', 'probe', 'hold')
  for at, name in ipairs({ 'fails', 'open', 'wait', 'probe', 'hold' }) do
    if values[at] then
      known[#known + 1] = name
      known[#known + 1] = values[at]
    end
  end
  if #known > 0 then
    local group = prefix .. 'g:' .. id
    redis.call('HSET', group, unpack(known))
    local ttl = redis.call('PTTL', key)
    if ttl >= 0 then redis.call('PEXPIRE', group, ttl) end
    local state = readGroup(id)
    if state.place then place(id, state, now) end
  end
end
`;

const TAKE_OVER_PAUSE_LUA = /* lua */ `
-- Keep a queue paused that an operator has paused.
-- KEYS[1] settings of the former queue (hash)   KEYS[2] settings of the queue (hash)
-- Returns 1 when it is paused, else 0.
if redis.call('HEXISTS', KEYS[1], 'paused') == 0 then return 0 end
redis.call('HSET', KEYS[2], 'paused', '1')
return 1
`;

/** Breakers of one script: Redis does nothing else meanwhile. */
const PAGE = 100;

/** Keeps paused queues paused. */
export async function takeOverPauses(redis: RedisClient, { shards }: Keyspace): Promise<void> {
  const takeOver = defineScript(redis, TAKE_OVER_PAUSE_LUA);
  await Promise.all(shards.map(({ prefix, queue }) => takeOver([prefix + FORMER_SETTINGS, queue.settings], [])));
}

/** Keeps open breakers open, and paused destinations paused. */
export async function takeOverBreakers(redis: RedisClient, { shards }: Keyspace, now: () => number): Promise<void> {
  const takeOver = defineScript(redis, TAKE_OVER_BREAKERS_LUA);
  for await (const { names } of walkKeys(redis, `{*}:${FORMER_BREAKER}*`)) {
    for (const { prefix } of shards) {
      const start = prefix + FORMER_BREAKER;
      const breakers = names.filter((name) => name.startsWith(start));
      for (let from = 0; from < breakers.length; from += PAGE) {
        const page = breakers.slice(from, from + PAGE);
        const ids = page.map((name) => name.slice(start.length));
        await takeOver(page, [prefix, now(), ...ids]);
      }
    }
  }
}
