import { LANE_LUA } from '../groups/lane-lua.ts';

/** Groups to look at in each ring, and in `later`, at most: Redis does nothing else meanwhile. */
const LOOKED_AT_A_RING = 80;
const LOOKED_AT_LATER = 200;

/**
 * For scripts that only read. Needs GROUP_LUA. Has LANE_LUA.
 *
 * `standing()` finds groups with waiting jobs: of very many only those that are served soonest. Returns a list of
 * {name, place ('0' to '3', 'later'), its turn or until when it stands there (ms)}, the number of groups with waiting jobs, and the
 * number of ready groups that are not in the list.
 *
 * `lookAt(group, now)` reads one group: `state` (see readGroup); `total` waiting jobs; `due` ones among them; `mayGo`,
 * those of the due ones that wait only for a worker or a slot; `since` and, for background jobs, `backgroundSince`,
 * when the first of these could go; `id` and `dueAt` of the job that goes first. The jobs of its lanes count too. Those
 * that wait for a token are due, may not go, and go first from the time of that token.
 */
export const LOOK_LUA = /* lua */ `${LANE_LUA}
local hasLanes = redis.call('EXISTS', prefix .. 'lanes') == 1

local function standing()
  local found, seen, total, readyLeft = {}, {}, 0, 0
  local function add(place, key, limit)
    local rows, count = redis.call('ZRANGE', key, 0, limit - 1, 'WITHSCORES'), redis.call('ZCARD', key)
    for index = 1, #rows, 2 do
      -- A lane stands for its group, which may stand somewhere too. So may a slow group that is ready.
      local group = splitLane(rows[index])
      if seen[group] then total = total - 1 else found[#found + 1] = { group, place, tonumber(rows[index + 1]) } end
      seen[group] = true
    end
    total = total + count
    return count - #rows / 2
  end
  for ring = 0, 3 do readyLeft = readyLeft + add(tostring(ring), prefix .. 'ready:' .. ring, ${LOOKED_AT_A_RING}) end
  add('later', prefix .. 'later', ${LOOKED_AT_LATER})
  return found, total, readyLeft
end

-- The lanes of a group that have waiting jobs, each with its tokens, and the scores of all their markers.
local function readLanes(group, now)
  local lanes, markers = {}, {}
  for _, lane in ipairs(hasLanes and lanesOf(group) or {}) do
    local _, rate, name = splitLane(lane)
    local tokens, tokenAt = readBucket(group, rate, name, now)
    lanes[#lanes + 1] = { key = prefix .. 'q:' .. lane, tokens = tokens, tokenAt = tokenAt }
    for class = 0, 2 do
      local score = redis.call('ZSCORE', prefix .. 'q:' .. group, '~' .. class .. '~' .. rate .. '~' .. name)
      if score then markers[#markers + 1] = tonumber(score) end
    end
  end
  return lanes, markers
end

-- The first job from a score on, and its score. markers: how many there are.
local function firstJob(key, from, markers)
  local found = redis.call('ZRANGE', key, from, '+inf', 'BYSCORE', 'LIMIT', 0, markers + 1, 'WITHSCORES')
  for index = 1, #found, 2 do
    if not isMarker(found[index]) then return found[index], tonumber(found[index + 1]) end
  end
end

-- Members with scores from least to most that are no markers.
local function countJobs(key, least, most, markers)
  local count = redis.call('ZCOUNT', key, least, most)
  for _, score in ipairs(markers) do
    if score >= least and score <= most then count = count - 1 end
  end
  return count
end

local function goesBefore(seen, class, dueAt, now)
  if not seen.id then return true end
  if dueAt > now then return dueAt < seen.dueAt end
  return seen.dueAt > now or class < seen.class or (class == seen.class and dueAt < seen.dueAt)
end

-- Adds the jobs of a group or a lane to what is seen of the group. markers: their scores   tokens: as many may go
-- tokenAt: since or from when (ms)
local function addJobs(seen, key, now, waitUntil, isProbing, markers, tokens, tokenAt)
  local total = redis.call('ZCARD', key) - #markers
  seen.total = seen.total + total
  local id, score = firstJob(key, '-inf', #markers)
  while id do
    local class = math.floor(score / CLASS)
    local dueAt = score - class * CLASS
    local goesAt = class == 0 and dueAt or math.max(dueAt, tokenAt)
    -- Due jobs go first, by class; otherwise the job that is due soonest.
    if goesBefore(seen, class, goesAt, now) then seen.id, seen.class, seen.dueAt = id, class, goesAt end
    if dueAt <= now then
      local count = total == 1 and 1 or countJobs(key, class * CLASS, class * CLASS + now, markers)
      local since = class == 0 and dueAt or math.max(goesAt, waitUntil)
      seen.due = seen.due + count
      if since <= now then
        if class > 0 then
          count = math.min(count, tokens)
          -- A probe goes alone.
          if isProbing then count = math.min(count, math.max(0, 1 - seen.mayGo)) end
          tokens = tokens - count
        end
        seen.mayGo = seen.mayGo + count
        if class == 2 then seen.backgroundSince = math.min(seen.backgroundSince or since, since)
        else seen.since = math.min(seen.since or since, since) end
      end
    end
    if total == 1 or class == 2 then break end
    id, score = firstJob(key, (class + 1) * CLASS, #markers)
  end
end

local function lookAt(group, now)
  local state = readGroup(group)
  local seen = { state = state, total = 0, due = 0, mayGo = 0 }
  local waitUntil, isProbing = waitUntilOf(group, state), state.isOpen and not isExpress(group)
  local lanes, markers = readLanes(group, now)
  addJobs(seen, prefix .. 'q:' .. group, now, waitUntil, isProbing, markers, math.huge, 0)
  for _, lane in ipairs(lanes) do addJobs(seen, lane.key, now, waitUntil, isProbing, {}, lane.tokens, lane.tokenAt) end
  return seen
end
`;
