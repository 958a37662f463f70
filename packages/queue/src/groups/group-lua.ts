import { CLASS_FACTOR } from '../queue-keys.ts';

/** How long a failure without an answer makes a group suspect, in ms. */
export const SUSPECT_MS = 60_000;
/**
 * How soon to look again at a group without a free slot, or that its owner has stopped, in ms. Usually the end of a job,
 * or the owner, makes it ready before.
 */
export const RECHECK_MS = 30_000;
/** How long the state of an unused group is kept, in ms; renewed when half of it has passed. */
const GROUP_TTL_MS = 172_800_000;
/** What an unused bucket holds, as time at its rate: a burst of one second, in ms. */
const BURST_MS = 1_000;
/** A group whose bucket is empty waits for the tokens of so many ms, so that it wakes workers 50 times a second at most. */
const TOKENS_TOGETHER_MS = 20;
/** Covers rounding: a double holds an epoch time to less than a thousandth of a ms. */
const ROUNDING_MS = 0.01;
/**
 * The time until a bucket is full is this at most, in ms. A job that waits for no token can take one that isn't there;
 * many of them must not keep the others waiting for longer.
 */
const MOST_MISSING_MS = 60_000;
/** Jobs in one ZADD at most: Lua limits the arguments of a call. */
const JOBS_AT_ONCE = 1_000;
/** Jobs in work that a suspect group may have, even where its limit is higher, so that other suspects get slots too. */
const SUSPECT_LIMIT = 10;
/** A group whose jobs usually hold a slot for so long is slow, in ms. */
export const SLOW_FROM_MS = 1_000;
/**
 * What a job takes of its tenant's turns. Turns count up from the time (ms) at which the ring was empty. They are taken
 * more slowly than time passes (8,000 jobs of a tenant a second), so a ring that was empty begins behind all turns of
 * before.
 */
export const TURN = 0.125;
/** Turns that a tenant may have left. A transition has eleven deliveries at most, ten of receivers and a callback. */
const BURST = 16;
/** How far behind the present turn a tenant's next one is remembered. */
export const BURST_TURNS = BURST * TURN;
/** The distance between two groups that come while others wait. A double distinguishes half of it at such a time. */
const TURN_STEP = 2 ** -11;
/** Groups whose name begins with it are express: no limit, breaker or pause applies to them. */
export const EXPRESS_MARK = '!';

/**
 * Shared by all scripts of the queue; needs `local prefix`. The state of a group is one hash, `g:<group>`:
 *
 * - `p` its place ('0' to '3': that ring; 'l': `later`; 'f': `later`, because it has no free slot; 's': `later`, because
 *   its owner has stopped it; absent: it has no waiting jobs), `n` jobs in work, `lim` its limit while that is below the configured one
 * - `ok` it has answered, `sus` suspect until, `fails` failures without an answer in a row, `open` '1' while its breaker
 *   is open, `wait` the time between probes, `probe` when the next probe may go
 * - `hold` paused until, `holdAt` since when, `took` how long its jobs hold a slot (a decayed mean; absent while all are
 *   quick)
 * - `full` when its bucket of tokens is full again (see GCRA), `tok` when it has one again; both absent without a rate
 * - `ten` the tenant to which it belongs, `at` when it had its last turn, `ttl` kept until
 *
 * Times are epoch ms, durations ms. A group with waiting jobs stands in exactly one of the rings or in `later`. Every
 * group in `later` has a time at which a reserve looks at it again, so that no job waits for a signal that a dead
 * process did not give.
 */
export const GROUP_LUA = /* lua */ `
local CLASS = ${CLASS_FACTOR}
local URGENT, USUAL, BACKGROUND = 0, CLASS, 2 * CLASS

-- What is due within so many ms counts as due. A reserve sets it.
local ahead = 0

local function isExpress(group) return string.sub(group, 1, 1) == '${EXPRESS_MARK}' end

-- What this run knows of groups. Whoever writes to a group's hash keeps its state up to date, so that one reading does
-- for all its jobs.
local groupStates = {}

local function readGroup(group)
  local known = groupStates[group]
  if known then return known end
  local v = redis.call('HMGET', prefix .. 'g:' .. group, 'p', 'n', 'lim', 'ok', 'sus', 'fails', 'open', 'wait', 'probe', 'hold', 'ttl', 'took', 'ten', 'at', 'holdAt', 'full', 'tok')
  local state = {
    place = v[1], inWork = tonumber(v[2]) or 0, limit = tonumber(v[3]), hasAnswered = v[4] ~= false, suspectUntil = tonumber(v[5]) or 0,
    fails = tonumber(v[6]) or 0, isOpen = v[7] == '1', wait = tonumber(v[8]), probeAt = tonumber(v[9]) or 0, heldUntil = tonumber(v[10]) or 0,
    knownUntil = tonumber(v[11]) or 0, tookMs = tonumber(v[12]) or 0, tenant = v[13], servedAt = tonumber(v[14]) or 0,
    heldAt = tonumber(v[15] or ''), fullAt = tonumber(v[16]) or 0, tokenAt = tonumber(v[17]) or 0,
  }
  groupStates[group] = state
  return state
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
local function waitUntilOf(group, state, now)
  if isExpress(group) then return 0 end
  -- A token that is so far away was counted before the clock was set back, as a failover may do.
  local tokenAt = state.tokenAt <= now + ${MOST_MISSING_MS} and state.tokenAt or 0
  return math.max(state.heldUntil, tokenAt, state.isOpen and state.probeAt or 0)
end

-- When the first of a group's waiting jobs may go (ms), and its class if that is now; nil when none waits. Of several
-- that may go, it takes the one that goes first, and also says since when that job by itself may go. waitUntil: until when
-- only urgent jobs may go.
local function firstDue(group, now, waitUntil)
  local key, soonest = prefix .. 'q:' .. group, nil
  local found = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  while found[1] do
    local score = tonumber(found[2])
    local class = math.floor(score / CLASS)
    local own = score - class * CLASS
    if own <= now + ahead then own = math.min(own, now) end
    local due = class == 0 and own or math.max(own, waitUntil)
    if due <= now then return due, class, own end
    if not soonest or due < soonest then soonest = due end
    found = redis.call('ZRANGE', key, (class + 1) * CLASS, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  end
  return soonest
end

local function isLater(place) return place == 'l' or place == 'f' or place == 's' end

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
-- ring's present one, and a tenant's next turn comes after the last one that it has been given. So a tenant has one turn at
-- a time while others wait, however many groups it has, and all of them while nobody does. One that has taken less than its
-- share has some turns left, ${BURST} at most. It goes before the group at the head, and so doesn't stand behind whoever
-- sends all the time. Those that have turns left go in the order in which they come, and from the 256th on behind the
-- head. A turn costs as much as it gives jobs, so that many jobs of one group are not sent before as many groups of another
-- tenant.
local function turnIn(ring, state, now)
  local first = redis.call('ZRANGE', prefix .. 'ready:' .. ring, 0, 0, 'WITHSCORES')
  if not first[1] then return now end
  local key, present = prefix .. 'turns:' .. ring, tonumber(first[2])
  local following = state.tenant and tonumber(redis.call('ZSCORE', key, state.tenant) or '') or 0
  local from = math.max(following, present - ${BURST_TURNS})
  local turn = from
  if from <= present then
    local last = tonumber(redis.call('ZSCORE', key, '') or '')
    -- Where no turns are known, all that wait have just come.
    if not last then last = redis.call('EXISTS', key) == 1 and 0 or present end
    turn = math.min(math.max(last, present - ${TURN}) + ${TURN_STEP}, present + ${TURN - TURN_STEP})
    redis.call('ZADD', key, turn, '')
  end
  if state.tenant then redis.call('ZADD', key, from + ${TURN}, state.tenant) end
  return turn
end

-- The next turn of a group that has given so many jobs in this one, and waits again: its tenant has no turns left.
local function turnAfter(turn, ring, state, jobs)
  local following = turn + jobs * ${TURN}
  if not state.tenant then return following end
  local key = prefix .. 'turns:' .. ring
  local free = tonumber(redis.call('ZSCORE', key, state.tenant) or '') or 0
  following = math.max(following, free + (jobs - 1) * ${TURN})
  redis.call('ZADD', key, following + ${TURN}, state.tenant)
  return following
end

-- Settles the turn of a group that leaves a ring, of which one job was taken for granted. jobs: what it has given, 0 when
-- it has not had its turn, so that its tenant's others don't wait for it.
local function leaveTurn(ring, state, jobs)
  if not state.tenant or jobs == 1 then return end
  redis.call('ZADD', prefix .. 'turns:' .. ring, 'XX', 'INCR', (jobs - 1) * ${TURN}, state.tenant)
end

-- Moves a group to a ring, to later, or nowhere (nil), and wakes workers. at: for later, when to look again (ms).
local function put(group, state, place, now, at)
  local key, former = prefix .. 'g:' .. group, state.place
  if former and (not place or setOf(former) ~= setOf(place)) then
    redis.call('ZREM', setOf(former), group)
    if not isLater(former) then leaveTurn(former, state, state.served or 0) end
  end
  state.place = place
  if not place then
    if former then redis.call('HDEL', key, 'p') end
    return
  end
  if isLater(place) then
    if place == 'l' then standLater(group, at) else redis.call('ZADD', prefix .. 'later', at, group) end
  elseif former ~= place then
    redis.call('ZADD', prefix .. 'ready:' .. place, turnIn(place, state, now), group)
    redis.call('ZADD', prefix .. 'wake:' .. place, 0, '0')
  end
  if former ~= place then redis.call('HSET', key, 'p', place) end
  keep(key, state, now)
end

-- Puts a group where it belongs. limit: the configured one, or nil where that is unknown; then a reserve checks it.
-- isFree: its owner lets it go on. A stopped group stays where it is until somebody knows that.
local function place(group, state, now, limit, isFree)
  local due, class = firstDue(group, now, waitUntilOf(group, state, now))
  if not due then return put(group, state, nil, now) end
  if state.place == 's' and not isFree then return end
  if not class then return put(group, state, 'l', now, due) end
  if limit and state.inWork >= limitOf(group, state, now, limit) then
    local at = now + ${RECHECK_MS}
    -- The limit rises when the suspicion ends by time.
    if state.suspectUntil > now then at = math.min(at, state.suspectUntil) end
    return put(group, state, 'f', now, at)
  end
  put(group, state, ringOf(group, state, now), now)
end
`;

/**
 * For scripts that give a group another name. Needs `local prefix`.
 *
 * `inherit(group, former)` lets a group know what is known of another one, which may have no jobs any more: all of its
 * state but where it stands and what is in work. What is known of nothing changes nothing.
 */
export const INHERIT_LUA = /* lua */ `
local function inherit(group, former)
  local from, key, known = prefix .. 'g:' .. former, prefix .. 'g:' .. group, {}
  for _, name in ipairs({ 'lim', 'ok', 'sus', 'fails', 'open', 'wait', 'probe', 'hold', 'holdAt', 'took', 'ten', 'ttl' }) do
    local value = redis.call('HGET', from, name)
    if value then
      known[#known + 1] = name
      known[#known + 1] = value
    end
  end
  if #known == 0 then return end
  redis.call('HSET', key, unpack(known))
  redis.call('PEXPIRE', key, math.max(1, redis.call('PTTL', from)))
end
`;

/**
 * For scripts that add, remove or look for waiting jobs in the same step as other changes. Needs GROUP_LUA.
 *
 * `enqueue(entries, now, mode)` adds jobs. A job that waits already moves to the new score, unless the mode is 'NX'.
 * Scores are URGENT, USUAL or BACKGROUND and the time at which the job is due. The caller must not add a job in work.
 * Groups of a tenant share its turns. A group remembers its tenant, so it is enough to name it where it is at hand.
 *
 * `dequeue(group, ids, now)` removes jobs that wait. Both update `n` of the settings, the number of all waiting jobs.
 *
 * `isWaiting(group, id)`, `countDue(group, now)` and `firstWaiting(group, count)`, its first jobs, only look.
 *
 * `forgetGroup(group, now)` drops what is known of those who work off the group's jobs: they have changed.
 *
 * `stopGroup(group, now)` and `freeGroup(group, now)` say that the group's owner lets no job go any more, or lets them go
 * again. Whether it does is the owner's to remember (`termsOf`): what a queue knows of a group may expire.
 */
export const ENQUEUE_LUA = /* lua */ `
-- Puts a group to which jobs were added. A ready group stays ready. A full one becomes ready when a slot is free.
local function placeAdded(group, now, tenant)
  local key, state = prefix .. 'g:' .. group, groupStates[group]
  local known
  if state then known = state.place else known = redis.call('HGET', key, 'p') end
  if known and known ~= 'l' then return end
  state = readGroup(group)
  if tenant and not state.tenant then
    state.tenant = tenant
    redis.call('HSET', key, 'ten', tenant)
    keep(key, state, now)
  end
  place(group, state, now)
end

-- entries: list of {group, job id, score, the tenant to which the group belongs, or nil}   now (ms)   mode: 'NX', or nil
local function enqueue(entries, now, mode)
  local jobs, groups, tenants, added = {}, {}, {}, 0
  for _, entry in ipairs(entries) do
    local group = entry[1]
    local list = jobs[group]
    if not list then
      -- It separates the parts of a handle. Nothing has been added yet.
      if string.find(group, '|', 1, true) then error('the name of a group must not have a "|": ' .. group) end
      list = {}
      jobs[group] = list
      groups[#groups + 1] = group
    end
    tenants[group] = tenants[group] or entry[4]
    list[#list + 1] = entry[3]
    list[#list + 1] = entry[2]
  end
  for _, group in ipairs(groups) do
    local key, list = prefix .. 'q:' .. group, jobs[group]
    for first = 1, #list, ${2 * JOBS_AT_ONCE} do
      local last = math.min(#list, first + ${2 * JOBS_AT_ONCE - 1})
      if mode then added = added + redis.call('ZADD', key, mode, unpack(list, first, last))
      else added = added + redis.call('ZADD', key, unpack(list, first, last)) end
    end
    placeAdded(group, now, tenants[group])
  end
  if added > 0 then redis.call('HINCRBY', prefix .. 'queue', 'n', added) end
end

-- A job in work stays. ids: list. Returns the scores of the removed jobs by id.
local function dequeue(group, ids, now)
  local key, scores, removed = prefix .. 'q:' .. group, {}, 0
  for _, id in ipairs(ids) do
    local score = redis.call('ZSCORE', key, id)
    if score then
      scores[id] = score
      removed = removed + redis.call('ZREM', key, id)
    end
  end
  if removed > 0 then
    redis.call('HINCRBY', prefix .. 'queue', 'n', -removed)
    place(group, readGroup(group), now)
  end
  return scores
end

local function isWaiting(group, id) return redis.call('ZSCORE', prefix .. 'q:' .. group, id) ~= false end

local function countDue(group, now)
  local due = 0
  for _, class in ipairs({ URGENT, USUAL, BACKGROUND }) do
    due = due + redis.call('ZCOUNT', prefix .. 'q:' .. group, class, class + now)
  end
  return due
end

local function firstWaiting(group, count) return redis.call('ZRANGE', prefix .. 'q:' .. group, 0, count - 1) end

local function forgetGroup(group, now)
  local key = prefix .. 'g:' .. group
  redis.call('HDEL', key, 'lim', 'ok', 'sus', 'fails', 'open', 'wait', 'probe', 'hold', 'holdAt', 'took')
  groupStates[group] = nil
  local state = readGroup(group)
  if state.place then place(group, state, now) end
end

local function stopGroup(group, now)
  local state = readGroup(group)
  if state.place then put(group, state, 's', now, now + ${RECHECK_MS}) end
end

local function freeGroup(group, now)
  local state = readGroup(group)
  if state.place == 's' then place(group, state, now, nil, true) end
end
`;

/**
 * The rate of a group, kept by whoever takes jobs from it. Needs GROUP_LUA.
 *
 * The bucket of tokens is one number, `full`: when it will be full again (GCRA). A job takes its token when it is
 * reserved, and nothing gives one back. Urgent jobs wait for no token, but take one. While there is none, `tok` says
 * when there is one again, and until then the group is as if it were paused.
 */
export const RATE_LUA = /* lua */ `
-- The tokens in a bucket. perSecond: number
local function tokensIn(state, perSecond, now)
  if state.fullAt > now + ${2 * MOST_MISSING_MS} then state.fullAt = 0 end
  local missing = math.max(0, state.fullAt - now)
  return math.max(0, math.floor((${BURST_MS + ROUNDING_MS} - missing) * perSecond / 1000))
end

-- Takes so many tokens. Returns the fields of the group's hash to write.
local function takeTokens(state, perSecond, now, count)
  local interval = 1000 / perSecond
  state.fullAt = math.min(math.max(state.fullAt, now) + interval * count, now + ${MOST_MISSING_MS})
  state.tokenAt = 0
  if tokensIn(state, perSecond, now) == 0 then
    state.tokenAt = math.ceil(state.fullAt - ${BURST_MS} + interval * math.ceil(${TOKENS_TOGETHER_MS} / interval))
  end
  return 'full', state.fullAt, 'tok', state.tokenAt
end
`;
