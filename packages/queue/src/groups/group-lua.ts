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
/**
 * The distance between two turns of a tenant. Turns count up from the time (ms) at which the ring was empty. They are
 * taken more slowly than time passes, so a ring that was empty begins behind all turns of before.
 */
export const TURN = 0.25;
/** The distance between two groups that come while others wait. A double distinguishes half of it at such a time. */
const TURN_STEP = 2 ** -11;
/** Groups whose name begins with it are express: no limit, breaker or pause applies to them. */
export const EXPRESS_MARK = '!';

/**
 * Shared by all scripts of the queue; needs `local prefix`. The state of a group is one hash, `g:<group>`: `p` its
 * place ('0' to '3': that ring; 'l': `later`; 'f': `later`, because it has no free slot; absent: it has no waiting
 * jobs), `n` jobs in work, `lim` its limit while that is below the configured one, `ok` it has answered, `sus` suspect
 * until (ms), `fails` failures without an answer in a row, `open` '1' while its breaker is open, `wait` the time
 * between probes (ms), `probe` when the next probe may go (ms), `hold` paused until (ms), `holdAt` since when (ms), `took` how long its jobs hold a slot (ms, a decayed mean; absent while all are quick), `ten` the tenant
 * to which it belongs, `at` when it had its last turn (ms), `ttl` kept until (ms).
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
  local v = redis.call('HMGET', prefix .. 'g:' .. group, 'p', 'n', 'lim', 'ok', 'sus', 'fails', 'open', 'wait', 'probe', 'hold', 'ttl', 'took', 'ten', 'at', 'holdAt')
  return {
    place = v[1], inWork = tonumber(v[2]) or 0, limit = tonumber(v[3]), hasAnswered = v[4] ~= false, suspectUntil = tonumber(v[5]) or 0,
    fails = tonumber(v[6]) or 0, isOpen = v[7] == '1', wait = tonumber(v[8]), probeAt = tonumber(v[9]) or 0, heldUntil = tonumber(v[10]) or 0,
    knownUntil = tonumber(v[11]) or 0, tookMs = tonumber(v[12]) or 0, tenant = v[13], servedAt = tonumber(v[14]) or 0,
    heldAt = tonumber(v[15] or ''),
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

-- The turn of a group that comes to a ring. This is start-time fair queuing: the turn of the group that goes first is the
-- ring's present one. A group comes at the present turn, or after the last one that its tenant has been given. So a
-- tenant has one turn at a time while others wait, however many groups it has, and all of them while nobody does. Those
-- that come at the present turn go in the order in which they come.
local function turnIn(ring, state, now)
  local first = redis.call('ZRANGE', prefix .. 'ready:' .. ring, 0, 0, 'WITHSCORES')
  if not first[1] then return now end
  local key, present = prefix .. 'turns:' .. ring, tonumber(first[2])
  local turn = state.tenant and tonumber(redis.call('ZSCORE', key, state.tenant) or '') or 0
  if turn <= present then
    local last = tonumber(redis.call('ZSCORE', key, '') or '') or 0
    turn = math.min(math.max(last, present) + ${TURN_STEP}, present + ${TURN - TURN_STEP})
    redis.call('ZADD', key, turn, '')
  end
  if state.tenant then redis.call('ZADD', key, turn + ${TURN}, state.tenant) end
  return turn
end

-- The next turn of a group that has had this one, and waits again.
local function turnAfter(turn, ring, state)
  if not state.tenant then return turn + ${TURN} end
  local key = prefix .. 'turns:' .. ring
  local following = math.max(turn + ${TURN}, tonumber(redis.call('ZSCORE', key, state.tenant) or '') or 0)
  redis.call('ZADD', key, following + ${TURN}, state.tenant)
  return following
end

-- Gives a turn back that a group doesn't take, so that its tenant's others don't wait for it.
local function leaveTurn(ring, state)
  if state.tenant then redis.call('ZADD', prefix .. 'turns:' .. ring, 'XX', 'INCR', ${-TURN}, state.tenant) end
end

-- Moves a group to a ring, to later, or nowhere (nil), and wakes workers. at: for later, when to look again (ms).
local function put(group, state, place, now, at)
  local key, former = prefix .. 'g:' .. group, state.place
  if former and (not place or setOf(former) ~= setOf(place)) then
    redis.call('ZREM', setOf(former), group)
    if not isLater(former) and not state.isServed then leaveTurn(former, state) end
  end
  if former == '3' and place ~= '3' and not isLater(place) then redis.call('ZREM', prefix .. 'later', group) end
  state.place = place
  if not place then
    if former then redis.call('HDEL', key, 'p') end
    return
  end
  if isLater(place) then
    if place == 'l' then standLater(group, at) else redis.call('ZADD', prefix .. 'later', at, group) end
  else
    if former ~= place then redis.call('ZADD', prefix .. 'ready:' .. place, turnIn(place, state, now), group) end
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
-- tenant: to which the group belongs, or nil where that is unknown
local function placeAdded(group, now, tenant)
  local state = readGroup(group)
  if tenant and not state.tenant then
    state.tenant = tenant
    redis.call('HSET', prefix .. 'g:' .. group, 'ten', tenant)
    keep(prefix .. 'g:' .. group, state, now)
  end
  if not state.place or state.place == 'l' then place(group, state, now) end
end
`;
