import { GROUP_LUA } from '../groups/group-lua.ts';
import { LOOK_LUA } from './look-lua.ts';

const ROW_LUA = /* lua */ `
local function rowOf(group, seen, waitingForRate)
  local state = seen.state
  return {
    group, seen.total, seen.due, state.inWork, state.isOpen and 1 or 0, state.fails, state.probeAt, state.heldUntil, state.suspectUntil,
    seen.id or '', seen.dueAt or 0, waitingForRate or 0, state.limit or 0,
  }
end
`;

export const LIST_GROUPS_LUA = /* lua */ `
-- Lists groups with waiting jobs, those with the most first. Reads only, and of very many groups only some.
-- KEYS[1] later (zset): names the slot
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] the most groups to return
-- Returns for each {name, waiting jobs, due ones among them, jobs in work, 1 when its breaker is open, else 0, jobs
-- without an answer in a row, when the next probe may go (ms), paused until (ms), suspect until (ms), the job that goes
-- first, when that is due (ms), 0, its limit while that is below the configured one, else 0}.
local prefix, now, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
${GROUP_LUA}
${LOOK_LUA}
${ROW_LUA}
local rows = {}
for _, entry in ipairs((standing())) do
  local seen = lookAt(entry[1], now)
  if seen.id then rows[#rows + 1] = rowOf(entry[1], seen) end
end
table.sort(rows, function(a, b) return a[2] > b[2] or (a[2] == b[2] and a[1] < b[1]) end)
local first = {}
for index = 1, math.min(limit, #rows) do first[index] = rows[index] end
return first
`;

export const FIND_GROUP_LUA = /* lua */ `
-- Reads one group, as one of its lanes sees it.
-- KEYS[1] group (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] group or lane
-- Returns a row of LIST_GROUPS_LUA, with '' and 0 where no job waits; its last number but one are the due jobs of the
-- lane that wait for a token. An empty list when the group is unknown.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
${LOOK_LUA}
${ROW_LUA}
local group, rate, name = splitLane(ARGV[3])

-- While the group lets nothing usual through, or the bucket is full, the rate is not what they wait for.
local function countWaitingForRate(state)
  if not rate or waitUntilOf(group, state) > now then return 0 end
  local tokens, due = readBucket(group, rate, name, now), 0
  if tokens >= tonumber(rate) then return 0 end
  for class = 1, 2 do due = due + redis.call('ZCOUNT', prefix .. 'q:' .. ARGV[3], class * CLASS, class * CLASS + now) end
  return math.max(0, due - tokens)
end

local seen = lookAt(group, now)
if not seen.id and redis.call('EXISTS', KEYS[1]) == 0 then return {} end
return rowOf(group, seen, countWaitingForRate(seen.state))
`;
