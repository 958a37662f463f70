import { SUSPECT_MS } from './group-lua.ts';

/** Failures without an answer, in a row, after which a group's breaker opens. */
const BREAKER_OPENS_AT = 5;
/** Wait before the first probe of an open breaker, and the longest to which it doubles, in ms. */
const FIRST_PROBE_MS = 5_000;
const LAST_PROBE_MS = 300_000;

/**
 * For scripts that end jobs in the same step in which they record what came of them. Needs GROUP_LUA.
 *
 * `endLease(handle)` gives a lease back. Returns whether it was still held, the job's group, its id, and the score at which it stood. Who
 * held it no longer must not enqueue the job: somebody else has it, or it waits.
 *
 * `settleGroup(group, now, limit, end)` says what that means for the group. `end`: freed (slots given back), outcome ('answered',
 * 'unanswered', 'unsent' or nil: it says nothing), isProbe, heldUntil (ms, or nil). Returns '', 'opened' or 'closed': what became of its breaker.
 */
export const LEASE_LUA = /* lua */ `
local function readHandle(handle)
  local score, group, id = string.match(handle, '^([^|]*)|([^|]*)|[^|]*|(.*)$')
  return tonumber(score), group, id
end

-- Ids of the jobs in work. They are as many as the workers have room for; for what is rarely done.
local function jobsInWork()
  local ids = {}
  for _, handle in ipairs(redis.call('ZRANGE', prefix .. 'leases', 0, -1)) do
    local _, _, id = readHandle(handle)
    ids[id] = true
  end
  return ids
end

local function endLease(handle)
  local score, group, id = readHandle(handle)
  return redis.call('ZREM', prefix .. 'leases', handle) == 1, group, id, score
end

local function noteUnanswered(state, key, now, limit, finish)
  local fails = state.fails + 1
  state.suspectUntil = now + ${SUSPECT_MS}
  state.limit = math.max(1, math.floor(math.min(state.limit or limit, limit) / 2))
  redis.call('HSET', key, 'fails', fails, 'sus', state.suspectUntil, 'lim', state.limit)
  local change, wait = '', nil
  if not state.wait and fails >= ${BREAKER_OPENS_AT} then
    wait, change = ${FIRST_PROBE_MS}, 'opened'
  -- Of a probe whose lease has ended nothing follows for the one that is out now.
  elseif state.wait and finish.isProbe and finish.freed > 0 then
    wait = math.min(2 * state.wait, ${LAST_PROBE_MS})
  end
  if wait then
    state.isOpen, state.wait, state.probeAt = true, wait, now + wait
    redis.call('HSET', key, 'open', '1', 'wait', wait, 'probe', state.probeAt)
  end
  return change
end

-- Returns what became of the breaker, and whether anything changed that decides where the group belongs.
local function noteAnswered(state, key, limit)
  local change, isOther = '', state.isOpen or state.suspectUntil > 0 or not state.hasAnswered
  if isOther or state.fails > 0 then
    if state.isOpen then change = 'closed' end
    redis.call('HDEL', key, 'fails', 'open', 'wait', 'probe', 'sus')
    redis.call('HSET', key, 'ok', '1')
    state.isOpen, state.wait, state.probeAt, state.suspectUntil, state.hasAnswered = false, nil, 0, 0, true
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

local function settleGroup(group, now, limit, finish)
  local key, state = prefix .. 'g:' .. group, readGroup(group)
  local change, isOther = '', false
  if finish.freed > 0 then
    state.inWork = math.max(0, state.inWork - finish.freed)
    redis.call('HSET', key, 'n', state.inWork)
  end
  if not isExpress(group) then
    if finish.outcome == 'answered' then
      change, isOther = noteAnswered(state, key, limit)
    elseif finish.outcome == 'unanswered' then
      change, isOther = noteUnanswered(state, key, now, limit, finish), true
    elseif finish.isProbe and finish.freed > 0 and state.isOpen then
      -- It never went out: the next one may probe at once. Without its lease it is not known what became of it.
      state.probeAt, isOther = now, true
      redis.call('HSET', key, 'probe', now)
    end
    if finish.heldUntil and finish.heldUntil > state.heldUntil then
      state.heldUntil, isOther = finish.heldUntil, true
      redis.call('HSET', key, 'hold', finish.heldUntil)
    end
  end
  if state.place and (isOther or state.place == 'f') then place(group, state, now, limit) end
  return change
end
`;
