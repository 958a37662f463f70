import { GROUP_LUA, TURN } from '../groups/group-lua.ts';
import { LANE_LUA } from '../groups/lane-lua.ts';

/** Jobs that a group gives in one turn, so that a group with many waiting jobs doesn't keep the others waiting. */
const JOBS_A_TURN = 4;
/** Turns that have passed, of which one reserve forgets at most so many: Redis does nothing else meanwhile. */
const TURNS_FORGOTTEN = 100;
/** Groups of `later` that one reserve looks at, at most: Redis does nothing else meanwhile. */
const GROUPS_LOOKED_AT = 100;
/** How long a group that keeps a worker waiting is suspect, unless an answer comes first, in ms. */
const SUSPECT_MS = 10_000;

/**
 * @param loadLua defines `local function load(prefix, id)`, which returns what the worker needs of a job: any value
 * that a script may reply
 */
export function createReserveScript(loadLua: string): string {
  return /* lua */ `
-- Takes due jobs from the groups that are ready, in turn, under leases. The jobs of a worker that dies come back when
-- the leases end.
-- KEYS[1] leases (zset)   KEYS[2] settings (hash)   KEYS[3] later (zset)   KEYS[4..7] rings (zset)   KEYS[8..11] their
-- wake marks (zset)   KEYS[12..15] their turns (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] leases end (ms)   ARGV[4] nonce, unique among reserves   ARGV[5] limit of
-- a group
-- ARGV[6..9] most jobs of each ring   ARGV[10..] groups, not lanes, that keep this worker waiting far longer than usual
-- Returns {'reserved' | 'paused', jobs, when to look again (ms) or 0, for each ring 1 when some of its groups are still
-- ready, else 0}.
-- A paused queue gives jobs of express groups only, and reports the other rings as not ready.
-- Each job is {id, handle of its lease, its ring, 1 when it is a probe, else 0, the result of load, null when that is
-- nil or load fails}.
-- After a crash the jobs are in work until their leases end. Recovery then enqueues them where they stood.
-- A repeat with the same nonce and lease end, after a lost reply, returns the jobs that it has reserved already, and no
-- others.
local prefix = ARGV[1]
${GROUP_LUA}
${LANE_LUA}
${loadLua}
local isPaused = redis.call('HEXISTS', KEYS[2], 'paused') == 1
local now, leaseEnd, nonce, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

for index = 10, #ARGV do
  local group = ARGV[index]
  local state = readGroup(group)
  -- Renewed when half of it has passed: the worker says so at every reserve.
  if state.suspectUntil < now + ${SUSPECT_MS / 2} then
    state.suspectUntil = now + ${SUSPECT_MS}
    redis.call('HSET', prefix .. 'g:' .. group, 'sus', state.suspectUntil)
    keep(prefix .. 'g:' .. group, state, now)
    if state.place == '1' then put(group, state, '2', now) end
  end
end

-- Looks at a lane that has tokens again, and at its group.
local function placeAgain(base, rate, name)
  placeLane(base, rate, name, now)
  local state = readGroup(base)
  if not state.place or isLater(state.place) then place(base, state, now, limit) end
end

for _, group in ipairs(redis.call('ZRANGE', KEYS[3], '-inf', now, 'BYSCORE', 'LIMIT', 0, ${GROUPS_LOOKED_AT})) do
  local base, rate, name = splitLane(group)
  if rate then
    placeAgain(base, rate, name)
  else
    local state = readGroup(group)
    -- The state of the group may have expired.
    if not isLater(state.place) then redis.call('ZREM', KEYS[3], group) end
    place(group, state, now, limit)
  end
end

local jobs, leases = {}, {}

for _, handle in ipairs(redis.call('ZRANGE', KEYS[1], leaseEnd, leaseEnd, 'BYSCORE')) do
  local place, name, id = string.match(handle, '^[^|]*|([^|]*)|([^|]*)|(.*)$')
  if name == nonce then
    local group = splitLane(place)
    local state = readGroup(group)
    -- A job that was in work when the breaker opened is no probe. The next probe waits for the lease of the one that is
    -- out.
    local isProbe = state.isOpen and state.probeAt == leaseEnd and not isExpress(group)
    jobs[#jobs + 1] = { id, handle, ringOf(group, state, now), isProbe and 1 or 0, false }
  end
end
-- The first run has counted these jobs off.
local isRepeated, taken = #jobs > 0, 0

-- group: the group or the lane in which the jobs waited
local function add(group, state, ring, isProbe, popped)
  for index = 1, #popped, 2 do
    local id, score = popped[index], popped[index + 1]
    local handle = score .. '|' .. group .. '|' .. nonce .. '|' .. id
    leases[#leases + 1] = leaseEnd
    leases[#leases + 1] = handle
    jobs[#jobs + 1] = { id, handle, ring, isProbe and 1 or 0, false }
    state.inWork = state.inWork + 1
    taken = taken + 1
  end
end

-- At most so many due jobs, in their order, as ids and scores, and markers of lanes that have such jobs; what is not due
-- goes back. Also whether the group is empty now.
local function pop(group, count)
  local key = prefix .. 'q:' .. group
  local popped, due, markers, early = redis.call('ZPOPMIN', key, count), {}, {}, {}
  local function take(member, score)
    if isMarker(member) then
      markers[#markers + 1] = member
    else
      due[#due + 1] = member
      due[#due + 1] = score
    end
  end
  for index = 1, #popped, 2 do
    local score = tonumber(popped[index + 1])
    if score % CLASS <= now then
      take(popped[index], popped[index + 1])
    else
      early[#early + 1] = popped[index + 1]
      early[#early + 1] = popped[index]
    end
  end
  if #early == 0 then return due, markers, #popped < 2 * count end
  redis.call('ZADD', key, unpack(early))
  -- Jobs of later classes may be due behind a job that is not. A limit of 0 reads none.
  for class = math.floor(tonumber(early[1]) / CLASS) + 1, 2 do
    local room = count - #due / 2 - #markers
    local more = redis.call('ZRANGE', key, class * CLASS, class * CLASS + now, 'BYSCORE', 'LIMIT', 0, room, 'WITHSCORES')
    for index = 1, #more, 2 do
      redis.call('ZREM', key, more[index])
      take(more[index], more[index + 1])
    end
  end
  return due, markers, false
end

-- Takes jobs of a group and of its lanes. Returns how many, and whether the group is empty now.
local function takeJobs(group, state, ring, isProbe, count)
  local due, markers, isEmpty = pop(group, count)
  add(group, state, ring, isProbe, due)
  local left = count - #due / 2
  for _, marker in ipairs(markers) do
    local lane, ofLane = takeFromLane(group, marker, now, left)
    add(lane, state, ring, isProbe, ofLane)
    left = left - #ofLane / 2
  end
  return count - left, isEmpty and #markers == 0
end

-- Takes jobs of the group at the head of a ring, and moves the group on. Returns how many jobs it took.
-- isAlone: no other group waits in the ring
local function serve(group, turn, ring, room, isAlone)
  local base, rate, name = splitLane(group)
  if rate then
    -- A process of the former version, which knows no lanes, put it here.
    redis.call('ZREM', KEYS[4 + ring], group)
    redis.call('HDEL', prefix .. 'g:' .. group, 'p')
    placeAgain(base, rate, name)
    return 0
  end
  local state = readGroup(group)
  -- Whatever comes of it, this was its turn.
  state.isServed = true
  -- The entry in the ring counts: the state of the group may have expired.
  if state.place ~= ring then
    redis.call('ZREM', KEYS[4 + ring], group)
    if isLater(state.place) then return 0 end
  end
  local waitUntil = waitUntilOf(group, state)
  local _, class = firstDue(group, now, waitUntil)
  if not class or ringOf(group, state, now) ~= ring then
    place(group, state, now, limit)
    return 0
  end
  local count = math.min(room, ${JOBS_A_TURN})
  local isProbe = state.isOpen and not isExpress(group)
  count = math.min(count, limitOf(group, state, now, limit) - state.inWork)
  -- One job at a time goes through an open breaker or a pause.
  if isProbe or waitUntil > now then count = math.min(count, 1) end
  if count <= 0 then
    place(group, state, now, limit)
    return 0
  end
  local key = prefix .. 'g:' .. group
  local served, isEmpty = takeJobs(group, state, ring, isProbe, count)
  redis.call('HSET', key, 'n', state.inWork, 'at', now)
  keep(key, state, now)
  -- A lane may have no token after all.
  if isProbe and served > 0 then
    state.probeAt = leaseEnd
    redis.call('HSET', key, 'probe', leaseEnd)
  end
  if isEmpty then
    put(group, state, nil, now)
  else
    place(group, state, now, limit)
    if state.place == ring and not isAlone then redis.call('ZADD', KEYS[4 + ring], turnAfter(turn, ring, state), group) end
  end
  return served
end

-- Keeps the turns of a ring together, in which groups have been served and others wait from the given turn on.
local function tidy(index, present)
  local key, turns = KEYS[4 + index], KEYS[12 + index]
  local passed = redis.call('ZRANGE', turns, '-inf', string.format('(%.17g', present), 'BYSCORE', 'LIMIT', 0, ${TURNS_FORGOTTEN})
  if passed[1] then redis.call('ZREM', turns, unpack(passed)) end
  -- A process of the former version takes the time for a turn. That may be far behind the turns of all others.
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  if tonumber(last[2]) > present + ${TURN} * (redis.call('ZCARD', key) + 2) then
    redis.call('ZADD', key, present + ${TURN}, last[1])
  end
end

for index = 0, 3 do
  local ring, room = tostring(index), tonumber(ARGV[6 + index])
  if isRepeated or (isPaused and index > 0) then room = 0 end
  local isServed, first = room > 0, room > 0 and redis.call('ZRANGE', KEYS[4 + index], 0, 1, 'WITHSCORES') or {}
  while first[1] and room > 0 do
    room = room - serve(first[1], tonumber(first[2]), ring, room, not first[3])
    first = redis.call('ZRANGE', KEYS[4 + index], 0, 1, 'WITHSCORES')
  end
  if isServed and first[1] then tidy(index, tonumber(first[2])) end
end
-- Only this script knows whether groups are left. Other workers may have room for them, so they are woken.
local left, isAnyReady = {}, false
for index = 0, 3 do
  local isReady = redis.call('EXISTS', KEYS[4 + index]) == 1
  isAnyReady = isAnyReady or isReady
  if isReady then redis.call('ZADD', KEYS[8 + index], 0, '0') else redis.call('UNLINK', KEYS[8 + index], KEYS[12 + index]) end
  left[index + 1] = isReady and not (isPaused and index > 0) and 1 or 0
end
local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
if taken > 0 then redis.call('ZADD', KEYS[1], unpack(leases)) end
if not isAnyReady and not first[1] then
  -- No group has waiting jobs. The count is reset, in case keys were deleted by hand.
  redis.call('HDEL', KEYS[2], 'n')
elseif taken > 0 then
  redis.call('HINCRBY', KEYS[2], 'n', -taken)
end
for _, job in ipairs(jobs) do
  local succeeded, row = pcall(load, prefix, job[1])
  -- A reply would end at a nil; false becomes null.
  if succeeded and row ~= nil then job[5] = row end
end
return { isPaused and 'paused' or 'reserved', jobs, first[2] or '0', left }
`;
}
