import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { SETTLE_LUA } from '../deliveries/delivery-scripts.ts';

/** Fields of a transition that tell nothing of its content. */
const KEPT = ['open', 'ev', 'ws', 'task', 'at', 'req', 'eps', 'trace', 'erased', 'b'];

export const ERASE_TRANSITION_LUA = /* lua */ `#!lua flags=allow-oom
-- Erase the body of a transition, cancel its pending deliveries and drop its pending redeliveries: without a body there
-- is nothing to send. One in work is being sent; its worker leaves out the answer when it records the attempt. A second
-- run changes nothing.
-- KEYS[1] transition (hash)   KEYS[2..n+1] its deliveries (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] ttl, see retain   ARGV[4] when its Task was erased (ms)
-- ARGV[5] transition id   ARGV[6..n+5] delivery ids
-- Returns {event, number of deliveries that it canceled}; event: '' when the transition has expired.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
${ENQUEUE_LUA}
${SETTLE_LUA}
local event = redis.call('HGET', KEYS[1], 'ev')
if not event then return { '', 0 } end
redis.call('HSETNX', KEYS[1], 'erased', ARGV[4])
local counted = redis.call('HMGET', KEYS[1], 'ws', 'b')
if counted[2] then
  local at, body = timeOf(KEYS[1]), redis.call('HSTRLEN', KEYS[1], 'body')
  redis.call('HSET', KEYS[1], 'b', counted[2] - body)
  noteBytes(counted[1], -body, at > 0 and at or nil)
end
local kept, canceled = {}, 0
for _, name in ipairs({ ${KEPT.map((name) => `'${name}'`).join(', ')} }) do kept[name] = true end
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if not kept[name] then redis.call('HDEL', KEYS[1], name) end
end

for index = 6, #ARGV do
  local key, id = KEYS[index - 4], ARGV[index]
  local facts = redis.call('HMGET', key, 's', 'owe', 'e', 'o')
  if facts[2] then redis.call('HDEL', key, 'owe') end
  if facts[1] == 'pending' then
    local line = settle(id, ARGV[5], 'canceled', 'payload_erased', ARGV[2], ARGV[3], facts[4] and facts[3])
    if line then advance(line, now) end
    canceled = canceled + 1
  elseif facts[2] then
    -- The redelivery kept it from expiring.
    retain(id, ARGV[2], ARGV[3], true)
  end
  if facts[1] == 'pending' or facts[2] then dequeue(groupOf(facts[3]), { id }, now) end
end
if (tonumber(redis.call('HGET', KEYS[1], 'open')) or 0) <= 0 then retainTransition(KEYS[1], now, ARGV[3], true) end
writeAccounts()
return { event, canceled }
`;
