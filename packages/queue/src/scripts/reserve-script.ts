import { GROUP_LUA } from '../groups/group-lua.ts';

/** Jobs of one group that it gives in one turn, so that many waiting jobs of one don't keep the others waiting. */
const JOBS_A_TURN = 4;
/** Between two turns of a group in the same ms: as little as a double keeps apart at such a time. */
const TURN_MS = 0.001;
/** Groups whose time has come that one reserve looks at: Redis does nothing else meanwhile. */
const GROUPS_LOOKED_AT = 100;
/** A group that keeps a worker waiting much longer than usual is suspect for so long, unless an answer comes first, in ms. */
const SLOW_MS = 10_000;

/**
 * @param loadLua defines `local function load(prefix, id)`: what the worker needs of a job, any value that a script may reply
 */
export function createReserveScript(loadLua: string): string {
  return /* lua */ `
-- Take jobs that are due out of groups that are ready, in turn, under leases. A worker that dies gives its jobs back by time.
-- KEYS[1] leases (zset)   KEYS[2] settings (hash)   KEYS[3] later (zset)   KEYS[4..6] rings (zset)   KEYS[7..9] their wake marks (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] leases end (ms)   ARGV[4] what no other reserve has   ARGV[5] limit of a group
-- ARGV[6..8] most jobs of each ring   ARGV[9..] groups that keep this worker waiting much longer than usual
-- Returns {'reserved' | 'paused', jobs, for each ring 1 when some of its groups are still ready, else 0, when to look again (ms) or 0}. A pause
-- is none for express groups; of the other rings it says that nothing is ready. Each job is {id, handle of its lease, its ring, 1 when it is a
-- probe, else 0, what load returns, null when that is nil or fails}.
-- A crash after it leaves the jobs in work until their leases end; recovery then enqueues them where they stood.
-- Run again, as when its connection breaks before the reply, it brings what it has reserved already, and nothing else.
local prefix = ARGV[1]
${GROUP_LUA}
${loadLua}
local isPaused = redis.call('HEXISTS', KEYS[2], 'paused') == 1
local now, leaseEnd, nonce, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

for index = 9, #ARGV do
  local group = ARGV[index]
  local state = readGroup(group)
  if state.suspectUntil < now + ${SLOW_MS} then
    state.suspectUntil = now + ${SLOW_MS}
    redis.call('HSET', prefix .. 'g:' .. group, 'sus', state.suspectUntil)
    if state.place == '1' then put(group, state, '2', now) end
  end
end

for _, group in ipairs(redis.call('ZRANGE', KEYS[3], '-inf', now, 'BYSCORE', 'LIMIT', 0, ${GROUPS_LOOKED_AT})) do
  local state = readGroup(group)
  -- What is known of it may have been forgotten.
  if not isLater(state.place) then redis.call('ZREM', KEYS[3], group) end
  place(group, state, now, limit)
end

local jobs, leases = {}, {}

for _, handle in ipairs(redis.call('ZRANGE', KEYS[1], leaseEnd, leaseEnd, 'BYSCORE')) do
  local group, name, id = string.match(handle, '^[^|]*|([^|]*)|([^|]*)|(.*)$')
  if name == nonce then
    local state = readGroup(group)
    -- Not whatever is in work when a breaker opens: the next probe waits for the lease of the one that is out.
    local isProbe = state.isOpen and state.probeAt == leaseEnd and not isExpress(group)
    jobs[#jobs + 1] = { id, handle, ringOf(group, state, now), isProbe and 1 or 0, false }
  end
end
-- They were counted off then.
local isRepeated, taken = #jobs > 0, 0

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

-- At most so many jobs that are due, best first, as ids and scores; what is not due goes back. Also whether the group is empty now.
local function pop(group, count)
  local key = prefix .. 'q:' .. group
  local popped, due, early = redis.call('ZPOPMIN', key, count), {}, {}
  for index = 1, #popped, 2 do
    local score = tonumber(popped[index + 1])
    if score % CLASS <= now then
      due[#due + 1] = popped[index]
      due[#due + 1] = popped[index + 1]
    else
      early[#early + 1] = popped[index + 1]
      early[#early + 1] = popped[index]
    end
  end
  if #early == 0 then return due, #popped < 2 * count end
  redis.call('ZADD', key, unpack(early))
  -- Behind what is early there may be jobs of the classes after it that are due.
  local class = math.floor(tonumber(early[1]) / CLASS) + 1
  while #due < 2 * count and class <= 2 do
    local more = redis.call('ZRANGE', key, class * CLASS, class * CLASS + now, 'BYSCORE', 'LIMIT', 0, count - #due / 2, 'WITHSCORES')
    for index = 1, #more, 2 do
      redis.call('ZREM', key, more[index])
      due[#due + 1] = more[index]
      due[#due + 1] = more[index + 1]
    end
    class = class + 1
  end
  return due, false
end

-- Takes jobs of the group that is at the head of a ring, and moves it on. Returns how many.
local function serve(group, turn, ring, room)
  local state = readGroup(group)
  -- Its entry in the ring is what counts: what is known of it may have been forgotten.
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
  -- One at a time, through a breaker that is open or a pause.
  if isProbe or waitUntil > now then count = math.min(count, 1) end
  if count <= 0 then
    place(group, state, now, limit)
    return 0
  end
  local key = prefix .. 'g:' .. group
  local popped, isEmpty = pop(group, count)
  add(group, state, ring, isProbe, popped)
  redis.call('HSET', key, 'n', state.inWork)
  if isProbe then
    state.probeAt = leaseEnd
    redis.call('HSET', key, 'probe', leaseEnd)
  end
  if isEmpty then
    put(group, state, nil, now)
  else
    place(group, state, now, limit)
    -- Behind all that are ready now. A small step: turns that ran ahead of the time would let whoever comes later go first for long.
    if state.place == ring then redis.call('ZADD', KEYS[4 + ring], math.max(turn + ${TURN_MS}, now), group) end
  end
  return #popped / 2
end

for index = 0, 2 do
  local ring, room = tostring(index), tonumber(ARGV[6 + index])
  if isRepeated or (isPaused and index > 0) then room = 0 end
  local head = room > 0 and redis.call('ZRANGE', KEYS[4 + index], 0, 0, 'WITHSCORES') or {}
  while head[1] and room > 0 do
    room = room - serve(head[1], tonumber(head[2]), ring, room)
    head = redis.call('ZRANGE', KEYS[4 + index], 0, 0, 'WITHSCORES')
  end
end
-- Only here, and not in the process that asks, is it known that nothing is left. Others may have room for what is.
local left, isAnyReady = {}, false
for index = 0, 2 do
  local isReady = redis.call('EXISTS', KEYS[4 + index]) == 1
  isAnyReady = isAnyReady or isReady
  if isReady then redis.call('ZADD', KEYS[7 + index], 0, '0') else redis.call('DEL', KEYS[7 + index]) end
  left[index + 1] = isReady and not (isPaused and index > 0) and 1 or 0
end
local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
if taken > 0 then redis.call('ZADD', KEYS[1], unpack(leases)) end
if not isAnyReady and not first[1] then
  -- No group has waiting jobs. So the count is right again, whatever somebody deleted.
  redis.call('HDEL', KEYS[2], 'n')
elseif taken > 0 then
  redis.call('HINCRBY', KEYS[2], 'n', -taken)
end
for _, job in ipairs(jobs) do
  local succeeded, row = pcall(load, prefix, job[1])
  -- A reply ends at a nil, and says null for false.
  if succeeded and row ~= nil then job[5] = row end
end
return { isPaused and 'paused' or 'reserved', jobs, left[1], left[2], left[3], first[2] or '0' }
`;
}
