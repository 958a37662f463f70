import { CLASS_FACTOR } from '../job-class.ts';

/** How long a failure without an answer makes a group suspect, in ms. */
export const SUSPECT_MS = 60_000;
/** How soon to look again at a group without a free slot, in ms. Usually the end of a job makes it ready before. */
const FULL_RECHECK_MS = 30_000;
/** How long the state of an unused group is kept, in ms; renewed when half of it has passed. */
const GROUP_TTL_MS = 172_800_000;
/** Jobs in work that a suspect group may have, even where its limit is higher, so that other suspects get slots too. */
const SUSPECT_LIMIT = 10;
/** A group whose jobs usually hold a slot for so long is slow, in ms. */
export const SLOW_FROM_MS = 1_000;
/**
 * How long a slow group is ready before a reserve looks at it again, in ms. A worker of the former version serves no
 * slow groups. By then it makes a quick one of it, so that nothing waits for ever when only former versions run.
 */
const SLOW_RECHECK_MS = 60_000;
/** Groups whose name begins with it are express: no limit, breaker or pause applies to them. */
export const EXPRESS_MARK = '!';

/**
 * Shared by all scripts of the queue; needs `local prefix`. The state of a group is one hash, `g:<group>`: `p` its
 * place ('0' to '3': that ring; 'l': `later`; 'f': `later`, because it has no free slot; absent: it has no waiting
 * jobs), `n` jobs in work, `lim` its limit while that is below the configured one, `ok` it has answered, `sus` suspect
 * until (ms), `fails` failures without an answer in a row, `open` '1' while its breaker is open, `wait` the time
 * between probes (ms), `probe` when the next probe may go (ms), `hold` paused until (ms), `took` how long its jobs hold a slot (ms, a decayed mean; absent while all are quick), `ttl` kept until
 * (ms).
 *
 * A group with waiting jobs stands in exactly one of the rings or in `later`; a slow one that is ready in both. Every group in `later` has a time at
 * which a reserve looks at it again, so that no job waits for a signal that a dead process did not give.
 */
export const GROUP_LUA = /* lua */ `
local CLASS = ${CLASS_FACTOR}

-- The group to which a lane belongs, its rate and its own name (see LANE_LUA); any other group comes back alone.
local function splitLane(group)
  if not string.find(group, '~', 1, true) then return group end
  return string.match(group, '^([^~]*)~(%d+)~(.*)$')
end

local function isExpress(group) return string.sub(group, 1, 1) == '${EXPRESS_MARK}' end

local function readGroup(group)
  local v = redis.call('HMGET', prefix .. 'g:' .. group, 'p', 'n', 'lim', 'ok', 'sus', 'fails', 'open', 'wait', 'probe', 'hold', 'ttl', 'took')
  return {
    place = v[1], inWork = tonumber(v[2]) or 0, limit = tonumber(v[3]), hasAnswered = v[4] ~= false, suspectUntil = tonumber(v[5]) or 0,
    fails = tonumber(v[6]) or 0, isOpen = v[7] == '1', wait = tonumber(v[8]), probeAt = tonumber(v[9]) or 0, heldUntil = tonumber(v[10]) or 0,
    knownUntil = tonumber(v[11]) or 0, tookMs = tonumber(v[12]) or 0,
  }
end

local function ringOf(group, state, now)
  if isExpress(group) then return '0' end
  if state.isOpen or not state.hasAnswered or state.suspectUntil > now then return '2' end
  return state.tookMs >= ${SLOW_FROM_MS} and '3' or '1'
end

-- The jobs in work that a group may have now. limit: the configured one.
local function limitOf(group, state, now, limit)
  if isExpress(group) then return math.huge end
  local most = math.min(state.limit or limit, limit)
  return ringOf(group, state, now) == '2' and math.min(most, ${SUSPECT_LIMIT}) or most
end

-- Until when only urgent jobs may go.
local function waitUntilOf(group, state)
  if isExpress(group) then return 0 end
  return math.max(state.heldUntil, state.isOpen and state.probeAt or 0)
end

-- When the first of a group's waiting jobs may go (ms), and its class if that is now; nil when none waits. Of several
-- that may go, it takes the one that goes first. waitUntil: until when only urgent jobs may go.
local function firstDue(group, now, waitUntil)
  local key, soonest = prefix .. 'q:' .. group, nil
  local found = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  while found[1] do
    local score = tonumber(found[2])
    local class = math.floor(score / CLASS)
    local due = score - class * CLASS
    if class ~= 0 then due = math.max(due, waitUntil) end
    if due <= now then return due, class end
    if not soonest or due < soonest then soonest = due end
    found = redis.call('ZRANGE', key, (class + 1) * CLASS, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  end
  return soonest
end

local function isLater(place) return place == 'l' or place == 'f' end

local function setOf(place) return isLater(place) and prefix .. 'later' or prefix .. 'ready:' .. place end

-- Has a group looked at again at a time (ms). Workers sleep until the first of these times.
local function standLater(group, at)
  local head = redis.call('ZRANGE', prefix .. 'later', 0, 0, 'WITHSCORES')
  redis.call('ZADD', prefix .. 'later', at, group)
  if not head[1] or at < tonumber(head[2]) then redis.call('ZADD', prefix .. 'wake:0', 0, '0') end
end

-- Every script that writes to the hash of a group calls this, so that none is left without an expiry.
local function keep(key, state, now)
  if state.knownUntil >= now + ${GROUP_TTL_MS / 2} then return end
  state.knownUntil = now + ${GROUP_TTL_MS}
  redis.call('HSET', key, 'ttl', state.knownUntil)
  redis.call('PEXPIRE', key, ${GROUP_TTL_MS})
end

-- Moves a group to a ring, to later, or nowhere (nil), and wakes workers. at: for later, when to look again (ms).
local function put(group, state, place, now, at)
  local key, former = prefix .. 'g:' .. group, state.place
  if former and (not place or setOf(former) ~= setOf(place)) then redis.call('ZREM', setOf(former), group) end
  if former == '3' and place ~= '3' and not isLater(place) then redis.call('ZREM', prefix .. 'later', group) end
  state.place = place
  if not place then
    if former then redis.call('HDEL', key, 'p') end
    return
  end
  if isLater(place) then
    if place == 'l' then standLater(group, at) else redis.call('ZADD', prefix .. 'later', at, group) end
  else
    if former ~= place then redis.call('ZADD', prefix .. 'ready:' .. place, now, group) end
    if place == '3' then redis.call('ZADD', prefix .. 'later', 'NX', now + ${SLOW_RECHECK_MS}, group) end
    redis.call('ZADD', prefix .. 'wake:' .. place, 0, '0')
  end
  if former ~= place then redis.call('HSET', key, 'p', place) end
  keep(key, state, now)
end

-- Puts a group where it belongs. limit: the configured one, or nil where that is unknown; then a reserve checks it.
local function place(group, state, now, limit)
  local due, class = firstDue(group, now, waitUntilOf(group, state))
  if not due then return put(group, state, nil, now) end
  if not class then return put(group, state, 'l', now, due) end
  if limit and state.inWork >= limitOf(group, state, now, limit) then
    local at = now + ${FULL_RECHECK_MS}
    -- The limit rises when the suspicion ends by time.
    if state.suspectUntil > now then at = math.min(at, state.suspectUntil) end
    return put(group, state, 'f', now, at)
  end
  put(group, state, ringOf(group, state, now), now)
end

-- Puts a group to which jobs were added. A ready group stays ready. A full one becomes ready when a slot is free.
local function placeAdded(group, now)
  local state = readGroup(group)
  if not state.place or state.place == 'l' then place(group, state, now) end
end
`;
