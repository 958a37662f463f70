import { GROUP_LUA } from '../groups/group-lua.ts';
import { LOOK_LUA } from './look-lua.ts';

export const READ_QUEUE_STATE_LUA = /* lua */ `
-- Reads how much waits in a queue, and for how long. Reads only, and of very many groups only some.
-- KEYS[1] settings (hash)   KEYS[2] leases (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)
-- Returns {1 when it is paused, else 0, {waiting jobs, those that may go now, since when the first of these may go (ms)
-- or 0}, {held leases, ended leases, end of the first lease (ms) or 0}, {groups, those not looked at, ready ones among
-- the latter}, for each health in the order flowing, breaker_open, paused {groups, due jobs, when the oldest of these
-- was due (ms) or 0}}.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
${LOOK_LUA}
local settings = redis.call('HMGET', KEYS[1], 'paused', 'n')
local ended = redis.call('ZCOUNT', KEYS[2], '-inf', now)
local firstLease = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
local flowing, open, paused = { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }
local mayGo, oldest = 0, math.huge

-- Since when a worker could have had its first job.
local function sinceOf(seen, place, at)
  -- A background job waits since the last turn of its group.
  local since = math.min(seen.since or math.huge, math.max(seen.backgroundSince or math.huge, place == 'later' and 0 or seen.state.servedAt))
  if seen.state.place ~= 'f' then return since end
  -- The group waits for its own slots until the time at which to look again.
  return at <= now and at or math.huge
end

local function healthOf(state)
  if state.isOpen then return open end
  return state.heldUntil > now and paused or flowing
end

local groups, total, readyLeft = standing()
for _, entry in ipairs(groups) do
  local group = entry[1]
  local seen = lookAt(group, now)
  mayGo = mayGo + seen.mayGo
  oldest = math.min(oldest, sinceOf(seen, entry[2], entry[3]))
  if seen.id and not isExpress(group) then
    local health = healthOf(seen.state)
    health[1], health[2] = health[1] + 1, health[2] + seen.due
    if seen.dueAt <= now and (health[3] == 0 or seen.dueAt < health[3]) then health[3] = seen.dueAt end
  end
end
return {
  settings[1] and 1 or 0, { tonumber(settings[2]) or 0, mayGo, oldest == math.huge and 0 or oldest },
  { redis.call('ZCARD', KEYS[2]) - ended, ended, tonumber(firstLease[2]) or 0 }, { total, total - #groups, readyLeft }, flowing, open, paused,
}
`;
