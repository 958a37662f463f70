import { GROUP_LUA } from '../groups/group-lua.ts';
import { LEASE_LUA } from '../groups/lease-lua.ts';

/** Groups to look at in each ring, and in `later`, at most: Redis does nothing else meanwhile. */
const LOOKED_AT_A_RING = 200;
const LOOKED_AT_LATER = 1_000;

export const LIST_JOBS_LUA = /* lua */ `
-- Lists a page of the jobs in one state. Reads only, and of very many groups only those that are served soonest.
-- KEYS[1] leases (zset)   KEYS[2] later (zset)   KEYS[3..6] rings (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] 'active' | 'waiting' | 'delayed'   ARGV[4] jobs to skip   ARGV[5] most
-- jobs to return
-- Returns their ids: group by group, each in the order in which its jobs go.
local prefix, now, wanted, skip, room = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
${GROUP_LUA}
${LEASE_LUA}
local ids = {}

-- The part of a range of so many members that is on the page: the first to read and how many, or nil.
local function window(size)
  if room == 0 then return nil end
  if skip >= size then
    skip = skip - size
    return nil
  end
  local first, count = skip, math.min(room, size - skip)
  skip, room = 0, room - count
  return first, count
end

-- A score as an exclusive bound of a range.
local function but(score) return string.format('(%.17g', score) end

-- Adds members of a sorted set with scores from min to max, without the first "from"; size: the number of the others.
local function add(key, min, max, from, size, read)
  local first, count = window(size)
  if not first then return end
  for _, member in ipairs(redis.call('ZRANGE', key, min, max, 'BYSCORE', 'LIMIT', from + first, count)) do
    ids[#ids + 1] = read and select(3, read(member)) or member
  end
end

local function addLeases(min, max)
  add(KEYS[1], min, max, 0, redis.call('ZCOUNT', KEYS[1], min, max), readHandle)
end

local function addGroup(group)
  local key, state, going = prefix .. 'q:' .. group, readGroup(group), 0
  local isHeld, isOpen = waitUntilOf(group, state, now) > now, state.isOpen and not isExpress(group)
  local isStopped = state.place == 's'
  for class = 0, 2 do
    local from, to, last = class * CLASS, class * CLASS + now, but((class + 1) * CLASS)
    local due = redis.call('ZCOUNT', key, from, to)
    local go = due
    if isStopped or (class > 0 and isHeld) then go = 0
    elseif class > 0 and isOpen then go = math.min(due, math.max(0, 1 - going)) end
    going = going + go
    if wanted == 'waiting' then
      add(key, from, to, 0, go)
    else
      add(key, from, to, go, due - go)
      add(key, but(to), last, 0, redis.call('ZCOUNT', key, but(to), last))
    end
    if room <= 0 then return end
  end
end

local function addRings()
  for ring = 0, 3 do
    for _, group in ipairs(redis.call('ZRANGE', KEYS[3 + ring], 0, ${LOOKED_AT_A_RING - 1})) do
      if room <= 0 then return end
      addGroup(group)
    end
  end
end

local function addLater()
  local entries = redis.call('ZRANGE', KEYS[2], 0, ${LOOKED_AT_LATER - 1}, 'WITHSCORES')
  for index = 1, #entries, 2 do
    if room <= 0 then return end
    local group, isUpTo = entries[index], tonumber(entries[index + 1]) > now
    -- No job of this group may go, so all of them are delayed.
    if isUpTo and redis.call('HGET', prefix .. 'g:' .. group, 'p') == 'l' then
      local key = prefix .. 'q:' .. group
      if wanted == 'delayed' then add(key, '-inf', '+inf', 0, redis.call('ZCARD', key)) end
    else
      addGroup(group)
    end
  end
end

if wanted == 'active' then
  addLeases(but(now), '+inf')
elseif wanted == 'waiting' then
  -- Jobs of a dead worker, which wait for recovery.
  addLeases('-inf', now)
  addRings()
  addLater()
else
  addLater()
  addRings()
end
return ids
`;

export const FIND_JOB_LUA = /* lua */ `
-- Finds one job. Reads only.
-- KEYS[1] leases (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] id   ARGV[4] '1' to look among the leases too, else '0'   ARGV[5..]
-- groups in which it may wait
-- Returns {'active' | 'waiting' | 'delayed' | '' (not found), until when its group is paused or waits for a
-- probe (ms) or 0}.
local prefix, now, id = ARGV[1], tonumber(ARGV[2]), ARGV[3]
${GROUP_LUA}
${LEASE_LUA}
-- Whether no job of the group goes before it.
local function isFirst(key, class)
  for before = 0, class - 1 do
    if redis.call('ZCOUNT', key, before * CLASS, before * CLASS + now) > 0 then return false end
  end
  return redis.call('ZRANGE', key, class * CLASS, class * CLASS + now, 'BYSCORE', 'LIMIT', 0, 1)[1] == id
end

for index = 5, #ARGV do
  local group = ARGV[index]
  local key = prefix .. 'q:' .. group
  local score = tonumber(redis.call('ZSCORE', key, id) or '')
  if score then
    local state = readGroup(group)
    local class = math.floor(score / CLASS)
    if state.place == 's' then return { 'delayed', 0 } end
    if class == 0 then return { score <= now and 'waiting' or 'delayed', 0 } end
    local isHeld = waitUntilOf(group, state, now) > now
    state.tokenAt = 0
    local pausedUntil = waitUntilOf(group, state, now)
    if score % CLASS > now or isHeld then return { 'delayed', pausedUntil > now and pausedUntil or 0 } end
    local isProbe = state.isOpen and not isExpress(group)
    return { (not isProbe or isFirst(key, class)) and 'waiting' or 'delayed', 0 }
  end
end
if ARGV[4] == '1' then
  local leases = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
  for index = 1, #leases, 2 do
    local _, _, held = readHandle(leases[index])
    if held == id then return { tonumber(leases[index + 1]) > now and 'active' or 'waiting', 0 } end
  end
end
return { '', 0 }
`;
