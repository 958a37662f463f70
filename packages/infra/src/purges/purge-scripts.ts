import { SETTLE_LUA } from '../deliveries/delivery-scripts.ts';

export const PURGE_LUA = /* lua */ `
-- End the pending ones among some deliveries of an endpoint that was disabled or removed. Of one that is enabled and has
-- got another destination, move those that wait in the former one's backlog; what is leased there is just being sent.
-- KEYS[1] endpoint (hash)   KEYS[2..n+1] deliveries (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] retention (ms)   ARGV[4] destination id, or ''
-- ARGV[5..n+4] their ids
-- Returns {id, event, reason} of each that was ended; none when the endpoint is enabled.
${SETTLE_LUA}
local ended = {}
local endpoint = redis.call('HMGET', KEYS[1], 'on', 'dstWas')
if endpoint[1] == '1' then
  if not endpoint[2] or endpoint[2] == ARGV[4] then return ended end
  local former = ARGV[1] .. 'b:' .. endpoint[2]
  for index = 5, #ARGV do
    local score = redis.call('ZSCORE', former, ARGV[index])
    if score and tonumber(score) <= tonumber(ARGV[2]) then
      redis.call('ZREM', former, ARGV[index])
      redis.call('ZADD', ARGV[1] .. 'b:' .. ARGV[4], 'NX', score, ARGV[index])
      redis.call('ZADD', ARGV[1] .. 'backlogs', 'LT', ARGV[2], ARGV[4])
    end
  end
  return ended
end
-- Told here: it may have been removed since the caller looked.
local reason = endpoint[1] and 'receiver_disabled' or 'receiver_removed'
for index = 2, #KEYS do
  local id = ARGV[index + 3]
  if redis.call('HGET', KEYS[index], 's') == 'pending' then
    redis.call('HDEL', KEYS[index], 'owe')
    redis.call('ZREM', ARGV[1] .. 'owed', id)
    redis.call('ZREM', ARGV[1] .. 'b:' .. ARGV[4], id)
    local event = redis.call('HGET', ARGV[1] .. 'x:' .. redis.call('HGET', KEYS[index], 'x'), 'ev') or ''
    settle(ARGV[1], id, 'canceled', reason, ARGV[2], ARGV[3])
    ended[#ended + 1] = { id, event, reason }
  end
end
return ended
`;
