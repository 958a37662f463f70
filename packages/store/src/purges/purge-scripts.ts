import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { SETTLE_LUA } from '../deliveries/delivery-scripts.ts';
import { LEAVE_FORMER_LUA, PLACES_LUA } from '../keyspace/places-lua.ts';

export const PURGE_LUA = /* lua */ `
-- End the pending deliveries of a disabled or removed endpoint, and take them out of the queue. One that is in work
-- leaves when its worker is done. If the endpoint is enabled and has another destination or rate, move the deliveries
-- that wait in the groups of former ones; those in work there are being sent. A second run changes nothing.
-- KEYS[1] endpoint (hash)   KEYS[2..n+1] deliveries (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] ttl, see retain   ARGV[5..n+4] delivery ids
-- ARGV[4] groups in which they may wait, joined by |, besides those that the endpoint names
-- Returns {id, event, reason} of each delivery that it ended; none when the endpoint is enabled.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
${ENQUEUE_LUA}
${SETTLE_LUA}
${PLACES_LUA}
${LEAVE_FORMER_LUA}
local ended, places, on = {}, placesOf(KEYS[1]), redis.call('HGET', KEYS[1], 'on')
if on == '1' then
  local entries, workspace = {}, redis.call('HGET', KEYS[1], 'ws')
  for id, score in pairs(leaveFormer(places, { unpack(ARGV, 5) }, now)) do
    entries[#entries + 1] = { places[1], id, score, workspace }
  end
  enqueue(entries, now, 'NX')
  return ended
end
for place in string.gmatch(ARGV[4], '[^|]+') do places[#places + 1] = place end
-- Decided here: the endpoint may have been removed since the caller read it.
local gone, lines = {}, {}
local reason = on and 'receiver_disabled' or 'receiver_removed'
for index = 2, #KEYS do
  local id = ARGV[index + 3]
  local facts = redis.call('HMGET', KEYS[index], 's', 'owe', 'x', 'o', 'e')
  if facts[1] == 'pending' then
    redis.call('HDEL', KEYS[index], 'owe')
    local event = redis.call('HGET', prefix .. 'x:' .. facts[3], 'ev') or ''
    local line = settle(id, facts[3], 'canceled', reason, ARGV[2], ARGV[3], facts[4] and facts[5])
    if line then lines[line] = true end
    ended[#ended + 1] = { id, event, reason }
    gone[#gone + 1] = id
  elseif not facts[2] then
    -- An earlier run ended it without knowing where it waits.
    gone[#gone + 1] = id
  end
end
-- The first place of an endpoint that was removed is '', for which resharding enqueues its deliveries.
for _, place in ipairs(places) do dequeue(place, gone, now) end
-- Once, and not for each that ended: the endpoint may be enabled before the next of a line is reached.
for line in pairs(lines) do advance(line, now) end
return ended
`;
