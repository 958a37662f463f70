/**
 * What each workspace holds, counted by the scripts that write, in the same step: `pending`, its pending deliveries, and
 * `held`, roughly what its Tasks, their facts, messages and callbacks, its bodies, its attempts, and the answers kept for
 * its Idempotency-Keys take. A Task, a callback, a transition and a kept answer say in `b` for how much they are counted,
 * and count no more once that is gone. A transition's attempts count with it: they go no later. Redis deletes most records
 * by itself, so `w:<workspace>:leaving` says how much leaves at which time, and `leaving` when to look at a workspace
 * next; `leave` then takes it off.
 */

/** What Redis takes besides the content: of a Task with its look-up and its places in lists, of a fact, a message, a
 * decision or an attempt in a list, of a callback with its secrets, of a transition, and of each of its deliveries with its
 * places and a first attempt that its record holds. */
export const TASK_BYTES = 1_000;
export const ENTRY_BYTES = 64;
const CALLBACK_BYTES = 1_000;
const TRANSITION_BYTES = 400;
const DELIVERY_BYTES = 600;
/** Records leave at one of so many times within their life. They may live longer by a part of it, so that the times of a
 * workspace are few. */
const TIMES_OF_A_LIFE = 64;
/** All times are multiples of it (ms). A key that has moved to another node ends some milliseconds later. */
const GRAIN_MS = 1_024;

/** The fields of a Task whose content is counted. */
export const COUNTED_TASK_FIELDS = ['input', 'action', 'result', 'outcome', 'usage', 'checkpoint', 'interim'] as const;

/**
 * Needs `local prefix`. All `note…` are remembered until `writeAccounts`, which a script calls once when nothing more
 * can fail.
 *
 * `timeToLeave(now, ttl)` is when something leaves that has so long to live (ms), nil for 0: a script frees it.
 * `noteBytes(workspace, bytes, at)` adds what leaves at that time, nil: when a script frees it. `notePending(workspace,
 * count)`. `sizeOfEntry(name, value)`, `sizeOfList(list)` of messages or attempts, `sizeOfTransition(bodyBytes, deliveries)`,
 * `sizeOfCallback(fields)` with names and values of its hash.
 * `grow(record, bytes)` counts a transition or a callback for more, or for less.
 * `leaveAt(record, at)` lets Redis delete such a record at a time; nil: not by itself any more. `stay(delivery, transition)`
 * keeps a delivery that still has to be sent, its attempts and its transition.
 */
export const ACCOUNT_LUA = /* lua */ `
local accounts = {}
local function accountOf(workspace)
  local account = accounts[workspace]
  if not account then
    account = { pending = 0, held = 0, leaving = {}, known = {} }
    accounts[workspace] = account
  end
  return account
end

local function notePending(workspace, count)
  local account = accountOf(workspace)
  account.pending = account.pending + count
end

local function noteLeaving(workspace, bytes, at)
  local leaving = accountOf(workspace).leaving
  leaving[at] = (leaving[at] or 0) + bytes
end

local function noteBytes(workspace, bytes, at)
  local account = accountOf(workspace)
  account.held = account.held + bytes
  if at then noteLeaving(workspace, bytes, at) end
end

local function timeToLeave(now, ttl)
  ttl = tonumber(ttl)
  if ttl <= 0 then return nil end
  local grain = 2 ^ math.floor(math.log(math.max(ttl / ${TIMES_OF_A_LIFE}, ${GRAIN_MS})) / math.log(2))
  return math.ceil((tonumber(now) + ttl) / grain) * grain
end

local function sizeOfEntry(name, value) return #name + #value + ${ENTRY_BYTES} end

local function sizeOfList(list)
  local size = 0
  for _, entry in ipairs(redis.call('LRANGE', list, 0, -1)) do size = size + sizeOfEntry('', entry) end
  return size
end

local function sizeOfTransition(bodyBytes, deliveries) return bodyBytes + ${TRANSITION_BYTES} + deliveries * ${DELIVERY_BYTES} end

local function sizeOfCallback(fields)
  local size = ${CALLBACK_BYTES}
  for index = 1, #fields, 2 do
    local name, length = fields[index], #fields[index + 1]
    -- Its Task has the url, too.
    if name == 'url' then size = size + 2 * length
    elseif name == 'hdr' or name == 'hdrOf' then size = size + length end
  end
  return size
end

-- known: what its record says of 'ws' and 'b'. before: when it was to leave.
local function moveBytes(known, before, at)
  if not known[2] then return end
  if before then noteLeaving(known[1], -known[2], before) end
  if at then noteLeaving(known[1], known[2], at) end
end

-- When Redis deletes a record by itself; -1: it doesn't, -2: there is none.
local function timeOf(key)
  local at = redis.call('PEXPIRETIME', key)
  return at > 0 and math.floor(at / ${GRAIN_MS} + 0.5) * ${GRAIN_MS} or at
end

local function grow(record, bytes)
  if bytes == 0 then return end
  local known = redis.call('HMGET', record, 'ws', 'b')
  if not known[2] then return end
  local more, at = math.max(bytes, -known[2]), timeOf(record)
  redis.call('HINCRBY', record, 'b', more)
  noteBytes(known[1], more, at > 0 and at or nil)
end

local function leaveAt(record, at)
  local before = timeOf(record)
  if before == -2 or before == (at or -1) then return end
  if at then redis.call('PEXPIREAT', record, at) else redis.call('PERSIST', record) end
  moveBytes(redis.call('HMGET', record, 'ws', 'b'), before > 0 and before or nil, at)
end

local function stay(delivery, transition)
  for _, key in ipairs({ delivery, delivery .. ':a' }) do redis.call('PERSIST', key) end
  leaveAt(transition, nil)
end

local function addTo(key, workspace, count)
  if count ~= 0 and tonumber(redis.call('ZINCRBY', key, count, workspace)) <= 0 then redis.call('ZREM', key, workspace) end
end

local function writeAccounts()
  for workspace, account in pairs(accounts) do
    addTo(prefix .. 'pending', workspace, account.pending)
    addTo(prefix .. 'held', workspace, account.held)
    local leaving = prefix .. 'w:' .. workspace .. ':leaving'
    for at, bytes in pairs(account.leaving) do
      if bytes ~= 0 then
        local sum = redis.call('HINCRBY', leaving, at, bytes)
        if sum == bytes then redis.call('ZADD', prefix .. 'leaving', 'LT', at, workspace)
        elseif sum == 0 then redis.call('HDEL', leaving, at) end
      end
    end
  end
  accounts = {}
end
`;

/**
 * Needs ACCOUNT_LUA. `leave(workspace, now)` takes off what has left by itself until then.
 *
 * `takeRoom(workspace, deliveries, bytes, limits, now)` notes so many deliveries and bytes, or says why the workspace may
 * not have them: 'pending' or 'bytes'. limits: { pending =, bytes = }, 0: none.
 */
export const ROOM_LUA = /* lua */ `
local function leave(workspace, now)
  local key, left, gone, earliest = prefix .. 'w:' .. workspace .. ':leaving', 0, {}, nil
  local times = redis.call('HGETALL', key)
  for index = 1, #times, 2 do
    local at = tonumber(times[index])
    if at <= now then
      left = left + tonumber(times[index + 1])
      gone[#gone + 1] = times[index]
    elseif not earliest or at < earliest then
      earliest = at
    end
  end
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
  addTo(prefix .. 'held', workspace, -left)
  if earliest then redis.call('ZADD', prefix .. 'leaving', earliest, workspace)
  else redis.call('ZREM', prefix .. 'leaving', workspace) end
end

-- Adds to 'pending' or 'held' unless that is past its limit then. The first of a run is written at once, which tells
-- what Redis has; the others when the accounts are written.
local function take(workspace, name, count, limit)
  local account = accountOf(workspace)
  local known = account.known[name]
  if not known then
    known = tonumber(redis.call('ZINCRBY', prefix .. name, count, workspace))
    local isPast = limit > 0 and known > limit
    account.known[name] = isPast and known - count or known
    if isPast then addTo(prefix .. name, workspace, -count) end
    return not isPast
  end
  if limit > 0 and known + account[name] + count > limit then return false end
  account[name] = account[name] + count
  return true
end

local function takeRoom(workspace, deliveries, bytes, limits, now)
  if deliveries > 0 and not take(workspace, 'pending', deliveries, limits.pending) then return 'pending' end
  if take(workspace, 'held', bytes, limits.bytes) then return nil end
  local account = accountOf(workspace)
  if not account.hasLooked then
    account.hasLooked, account.known.held = true, nil
    leave(workspace, now)
    if take(workspace, 'held', bytes, limits.bytes) then return nil end
  end
  notePending(workspace, -deliveries)
  return 'bytes'
end
`;

/**
 * Needs ROOM_LUA. `findNoRoom(workspace, deliveries, bytes, limits, now)` says why a workspace may not have so many
 * deliveries and bytes more, as `takeRoom` does, and notes nothing.
 */
export const NO_ROOM_LUA = /* lua */ `
local function findNoRoom(workspace, deliveries, bytes, limits, now)
  local function isPast(name, more, limit)
    if more == 0 or limit == 0 then return false end
    return (tonumber(redis.call('ZSCORE', prefix .. name, workspace) or '') or 0) + more > limit
  end
  if isPast('pending', deliveries, limits.pending) then return 'pending' end
  if not isPast('held', bytes, limits.bytes) then return nil end
  leave(workspace, tonumber(now))
  return isPast('held', bytes, limits.bytes) and 'bytes' or nil
end
`;

/** Workspaces that one script looks at. */
export const LEAVING_AT_ONCE = 50;

export const LEAVE_LUA = /* lua */ `#!lua flags=allow-oom
-- Take off what workspaces hold what has left by itself, some workspaces at a time.
-- KEYS[1] workspaces from which something leaves (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)
-- Returns how many it looked at; fewer than ${LEAVING_AT_ONCE} are all.
local prefix = ARGV[1]
${ACCOUNT_LUA}
${ROOM_LUA}
local due = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[2], 'BYSCORE', 'LIMIT', 0, ${LEAVING_AT_ONCE})
for _, workspace in ipairs(due) do leave(workspace, tonumber(ARGV[2])) end
return #due
`;

/**
 * The list of a workspace's Tasks. Needs `local prefix`. `keepTasksUntil(workspace, leaves)` lets it stay as long as a
 * Task that leaves then (ms): no shorter than the last of its Tasks. `dropGone(list, now)` drops what has expired, two at
 * most: the oldest, and the one that the time (ms) picks, so that an old Task that lives long keeps none behind it. Each
 * new Task drops two, so that the list has at most about twice as many as live.
 */
export const WORKSPACE_TASKS_LUA = /* lua */ `
local function keepTasksUntil(workspace, leaves)
  local list = prefix .. 'w:' .. workspace .. ':tasks'
  if redis.call('PEXPIRETIME', list) < leaves then redis.call('PEXPIREAT', list, leaves) end
end

local function dropGone(list, now)
  local count = redis.call('ZCARD', list)
  if count == 0 then return end
  local any = tonumber(now) % count
  for _, id in ipairs({ redis.call('ZRANGE', list, 0, 0)[1], redis.call('ZRANGE', list, any, any)[1] }) do
    if redis.call('EXISTS', prefix .. 't:' .. id) == 0 then redis.call('ZREM', list, id) end
  end
end
`;
