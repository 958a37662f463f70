import { SLOW_FROM_MS, SUSPECT_MS } from './group-lua.ts';

/** Failures without an answer in a row that open a group's breaker. */
const BREAKER_OPENS_AT = 5;
/** The wait before the first probe of an open breaker, and the limit to which it doubles, in ms. */
const FIRST_PROBE_MS = 5_000;
const LAST_PROBE_MS = 300_000;
/** The weight of the latest job in the time that a group's jobs take, and the longest time that counts, in ms. */
const LATEST_WEIGHT = 0.5;
const LONGEST_COUNTED_MS = 4_000;
/** A mean below this is forgotten, in ms: the group is quick. */
const FORGOTTEN_BELOW_MS = 50;

/**
 * For scripts that end jobs in the same step in which they record the outcome. Needs GROUP_LUA.
 *
 * `endLease(handle)` ends a lease. Returns whether it was still held, the job's group, its id, and the score at which it
 * stood. When the lease was no longer held, the caller must not enqueue the job: another worker has it, or it waits.
 * `endLeases(handles)` ends many, and `readHandle(handle)` returns the rest. Returns for each whether it was still held.
 *
 * `settleGroup(group, now, limit, finish)` applies the outcome to the group. `finish`: freed (slots given back),
 * outcome ('answered', 'unanswered', 'unsent' or nil: says nothing), isProbe, heldUntil (ms, or nil), tookMs (how long
 * the job held its slot; nil: unknown), hasSucceeded (ends a pause that is older than the job). Returns the change of its
 * breaker: '', 'opened' or 'closed'. The caller calls `writeSlots()` in the end: the slots of a group are written once a run.
 *
 * `returnLease(handle, now)` lets a lease that was ended be held again, until now: its holder can still put the job back.
 */
export const LEASE_LUA = /* lua */ `
local function readHandle(handle)
  local score, group, id = string.match(handle, '^([^|]*)|([^|]*)|[^|]*|(.*)$')
  return tonumber(score), group, id
end

local function endLease(handle)
  local score, group, id = readHandle(handle)
  return redis.call('ZREM', prefix .. 'leases', handle) == 1, group, id, score
end

local function endLeases(handles)
  local key, held = prefix .. 'leases', {}
  if #handles == 1 then return { (endLease(handles[1])) } end
  local scores, ended = redis.call('ZMSCORE', key, unpack(handles)), {}
  for index, handle in ipairs(handles) do
    -- A handle that is named twice ends once.
    held[index] = scores[index] ~= false and not ended[handle]
    ended[handle] = true
  end
  redis.call('ZREM', key, unpack(handles))
  return held
end

local function returnLease(handle, now) redis.call('ZADD', prefix .. 'leases', now, handle) end

local function noteUnanswered(state, key, now, limit, finish)
  local fails = state.fails + 1
  state.fails = fails
  state.suspectUntil = now + ${SUSPECT_MS}
  state.limit = math.max(1, math.floor(math.min(state.limit or limit, limit) / 2))
  redis.call('HSET', key, 'fails', fails, 'sus', state.suspectUntil, 'lim', state.limit)
  local change, wait = '', nil
  if not state.wait and fails >= ${BREAKER_OPENS_AT} then
    wait, change = ${FIRST_PROBE_MS}, 'opened'
  -- A probe whose lease has ended doesn't affect the probe that is out now.
  elseif state.wait and finish.isProbe and finish.freed > 0 then
    wait = math.min(2 * state.wait, ${LAST_PROBE_MS})
  end
  if wait then
    state.isOpen, state.wait, state.probeAt = true, wait, now + wait
    redis.call('HSET', key, 'open', '1', 'wait', wait, 'probe', state.probeAt)
  end
  return change
end

-- Returns the change of the breaker, and whether anything changed that decides where the group belongs.
local function noteAnswered(state, key, limit)
  local change, isOther = '', state.isOpen or state.suspectUntil > 0 or not state.hasAnswered
  if isOther or state.fails > 0 then
    if state.isOpen then change = 'closed' end
    redis.call('HDEL', key, 'fails', 'open', 'wait', 'probe', 'sus')
    redis.call('HSET', key, 'ok', '1')
    state.isOpen, state.wait, state.probeAt, state.suspectUntil, state.hasAnswered = false, nil, 0, 0, true
    state.fails = 0
  end
  if state.limit then
    state.limit = state.limit + 1
    if state.limit >= limit then
      state.limit = nil
      redis.call('HDEL', key, 'lim')
    else
      redis.call('HSET', key, 'lim', state.limit)
    end
  end
  return change, isOther
end

-- Notes how long a job with an outcome took. A group of which all jobs are quick costs nothing. One job of 2 s makes a
-- group slow, and of 1.5 s the second in a row; of a group that is new, the first answer says it.
-- Returns whether the group has become slow or quick.
local function noteTook(state, key, tookMs, isNew)
  if state.tookMs == 0 and tookMs < ${SLOW_FROM_MS} then return false end
  local wasSlow = state.tookMs >= ${SLOW_FROM_MS}
  local counted = math.min(tookMs, ${LONGEST_COUNTED_MS})
  local took = isNew and counted or state.tookMs + (counted - state.tookMs) * ${LATEST_WEIGHT}
  state.tookMs = took < ${FORGOTTEN_BELOW_MS} and 0 or math.floor(took + 0.5)
  if state.tookMs == 0 then redis.call('HDEL', key, 'took') else redis.call('HSET', key, 'took', state.tookMs) end
  return wasSlow ~= (state.tookMs >= ${SLOW_FROM_MS})
end

local function writeSlots()
  for group, state in pairs(groupStates) do
    if state.hasFreed then redis.call('HSET', prefix .. 'g:' .. group, 'n', state.inWork) end
    state.hasFreed = false
  end
end

local function settleGroup(group, now, limit, finish)
  local key, state = prefix .. 'g:' .. group, readGroup(group)
  local change, isOther, isNew = '', false, not state.hasAnswered and finish.outcome == 'answered'
  if finish.freed > 0 then
    state.inWork = math.max(0, state.inWork - finish.freed)
    state.hasFreed = true
  end
  if not isExpress(group) then
    if finish.outcome == 'answered' then
      change, isOther = noteAnswered(state, key, limit)
    elseif finish.outcome == 'unanswered' then
      change, isOther = noteUnanswered(state, key, now, limit, finish), true
    elseif finish.isProbe and finish.freed > 0 and state.isOpen then
      -- The probe never went out, so the next one may go at once. Without its lease, its outcome would be unknown.
      state.probeAt, isOther = now, true
      redis.call('HSET', key, 'probe', now)
    end
    if finish.tookMs and (finish.outcome == 'answered' or finish.outcome == 'unanswered') then
      isOther = noteTook(state, key, finish.tookMs, isNew) or isOther
    end
    if finish.heldUntil and finish.heldUntil > state.heldUntil then
      state.heldUntil, state.heldAt, isOther = finish.heldUntil, now, true
      redis.call('HSET', key, 'hold', finish.heldUntil, 'holdAt', now)
    elseif finish.hasSucceeded and state.heldUntil > now and state.heldAt and now - (finish.tookMs or now) >= state.heldAt then
      -- It began during the pause, so it says more about the group than the answer that asked for the pause.
      state.heldUntil, state.heldAt, isOther = 0, nil, true
      redis.call('HDEL', key, 'hold', 'holdAt')
    end
  end
  if finish.freed > 0 or finish.outcome then keep(key, state, now) end
  if state.place and (isOther or state.place == 'f') then place(group, state, now, limit) end
  return change
end
`;

/**
 * Needs ENQUEUE_LUA and LEASE_LUA. `leaveQueue(groups, id, now, limit)` takes a job out, whether it waits in one of these
 * groups or is in work, whatever its lease's group; whoever has it then finds its lease ended. Only for a job that is in
 * the queue: where it doesn't wait, all leases are read, once in a run of a script.
 */
export const LEAVE_QUEUE_LUA = /* lua */ `
local handlesById = nil

local function handlesOf(id)
  if not handlesById then
    handlesById = {}
    for _, handle in ipairs(redis.call('ZRANGE', prefix .. 'leases', 0, -1)) do
      local _, _, leased = readHandle(handle)
      local handles = handlesById[leased] or {}
      handles[#handles + 1] = handle
      handlesById[leased] = handles
    end
  end
  return handlesById[id] or {}
end

local function leaveQueue(groups, id, now, limit)
  for _, group in ipairs(groups) do
    if isWaiting(group, id) then
      dequeue(group, { id }, now)
      return
    end
  end
  for _, handle in ipairs(handlesOf(id)) do
    local wasHeld, group = endLease(handle)
    if wasHeld then settleGroup(group, now, limit, { freed = 1 }) end
  end
end
`;
