import { ENQUEUE_LUA, GROUP_LUA, LEASE_LUA, LEAVE_QUEUE_LUA } from '@herald/queue';
import { ADVANCE_LUA, LINE_LUA } from './line-lua.ts';
import { ENDPOINT_FIELDS } from '../endpoints/endpoint-record.ts';
import { DELIVERY_FIELDS, readLoadedDeliveries, RETAIN_LUA, TRANSITION_FIELDS } from './delivery-record.ts';
import { ACCOUNT_LUA } from '../keys/account-lua.ts';
import { GROUP_OF_LUA, TEST_GROUP } from '../keys/groups.ts';
import { ENDED_LUA, LOG_LUA } from '../keys/segment-lua.ts';

const quote = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ');

/**
 * Reads everything that an attempt needs. `load` returns {} when the delivery is missing. Otherwise it returns the
 * values of the delivery's fields, its transition's and its endpoint's, in the order of delivery-record.ts, with false
 * for a field without a value, and 1 for values that this run has returned before: ten deliveries of a transition carry
 * its body once. An ordered one that goes although it isn't the first of its line is released.
 */
const LOAD_LUA = /* lua */ `
${LINE_LUA}
local known, replied = {}, {}
local function readOnce(key, ...)
  if not known[key] then known[key] = redis.call('HMGET', key, ...) end
  return known[key]
end

local function replyOnce(key, ...)
  if replied[key] then return 1 end
  replied[key] = true
  return readOnce(key, ...)
end

local function load(prefix, id)
  local delivery = redis.call('HMGET', prefix .. id, ${quote(DELIVERY_FIELDS)})
  if not delivery[3] then return {} end
  local place, isReleased = delivery[${DELIVERY_FIELDS.indexOf('o') + 1}], delivery[${DELIVERY_FIELDS.indexOf('rel') + 1}]
  if place and not isReleased and delivery[3] == 'pending' then
    local task = redis.call('HGET', prefix .. delivery[2], 'task')
    local first = task and firstInLine(prefix, lineOf(prefix, delivery[1], task))
    if first and first ~= id then delivery[${DELIVERY_FIELDS.indexOf('rel') + 1}] = '1' end
  end
  local transition = replyOnce(prefix .. delivery[2], ${quote(TRANSITION_FIELDS)})
  return { delivery, transition, replyOnce(prefix .. 'e:' .. delivery[1], ${quote(ENDPOINT_FIELDS)}) }
end
`;

const endpointValue = (name: (typeof ENDPOINT_FIELDS)[number]) => `endpoint[${ENDPOINT_FIELDS.indexOf(name) + 1}]`;

/** How many deliveries a second a receiver takes, and whether the platform has paused it. Needs LOAD_LUA. */
const TERMS_LUA = /* lua */ `
local function termsOf(prefix, group)
  local endpoint = readOnce(prefix .. 'e:' .. group, ${quote(ENDPOINT_FIELDS)})
  return tonumber(${endpointValue('rate')} or ''), ${endpointValue('pauseAt')} ~= false
end
`;

/** Where a delivery waits again of which nothing was recorded. */
const PLACE_AGAIN_LUA = /* lua */ `
${GROUP_OF_LUA}
-- group: of its lease   stood: the score that it would have, or nil: it is due as its record says. Returns its group, its
-- score and the group's workspace, or nil when nothing is left to do. Needs GROUP_LUA.
local function placeAgain(prefix, group, id, now, stood)
  local status, owe, due, at, tries, replayedAt, endpoint = unpack(redis.call('HMGET', prefix .. id, 's', 'owe', 'due', 'at', 'n', 'from', 'e'))
  local owed, workspace = tonumber(owe or '') or 0, nil
  if status ~= 'pending' and owed == 0 then return nil end
  -- A callback whose url has changed meanwhile is in another group. A test event waits among others of its kind until it
  -- is sent.
  if group ~= '${TEST_GROUP}' or status ~= 'pending' then
    group, workspace = groupOf(endpoint), redis.call('HGET', prefix .. 'e:' .. endpoint, 'ws') or nil
  end
  if not stood then return group, owed > 0 and URGENT + now or USUAL + (due or at or 0), workspace end
  -- A replay has its attempt in the background: as the first try of one that had ended, and as one that is owed of any
  -- other. More than that was asked for while it was in work.
  local isTry = status == 'pending' and replayedAt and (tonumber(tries or '') or 0) == 0
  if stood >= BACKGROUND and not isTry then owed = owed - 1 end
  if owed > 0 and stood >= USUAL then stood = URGENT + math.max(now, stood % CLASS) end
  return group, stood, workspace
end
`;

/** How the queue reads deliveries that it reserves (see `readLoadedDeliveries`), and where one waits again. */
export function createDeliveryQueueScripts() {
  return { loadLua: `${LOAD_LUA}${TERMS_LUA}${PLACE_AGAIN_LUA}`, readRows: readLoadedDeliveries };
}

export const LOAD_DELIVERY_LUA = /* lua */ `
-- Read everything that an attempt needs.
-- KEYS[1] delivery (hash)
-- ARGV[1] prefix of all keys, in the same slot   ARGV[2] delivery id
-- Returns what load returns.
${LOAD_LUA}
return load(ARGV[1], ARGV[2])
`;

/** Failed deliveries that operators see, per shard. */
const FAILED_LIMIT = 1_000;
/** So many stay when there are more: to find out whose they are takes a look at each. */
const FAILED_KEPT = 900;

/**
 * Ends a delivery. Its record stays for the retention (see `RETAIN_LUA`); the body goes with the last delivery of its
 * transition. Needs GROUP_LUA, ENQUEUE_LUA and `local prefix`. The caller writes the accounts (ACCOUNT_LUA).
 */
export const SETTLE_LUA = /* lua */ `
${LINE_LUA}
${ADVANCE_LUA}
${ACCOUNT_LUA}
${RETAIN_LUA}
${LOG_LUA}
${ENDED_LUA}
-- When an index of failures is too long, what is gone leaves it, and then the workspaces with most give their oldest: no
-- tenant pushes out what failed for others. After resharding, one may be longer than what is looked at.
local function trimFailed(index)
  if redis.call('ZCARD', index) <= ${FAILED_LIMIT} then return end
  redis.call('ZREMRANGEBYRANK', index, 0, -1 - ${2 * FAILED_LIMIT})
  local counts, byRank, leaving, kept = {}, {}, {}, 0
  for _, id in ipairs(redis.call('ZRANGE', index, 0, -1, 'REV')) do
    local transition = redis.call('HGET', prefix .. id, 'x')
    if transition then
      local workspace = redis.call('HGET', prefix .. transition, 'ws') or ''
      local rank = (counts[workspace] or 0) + 1
      counts[workspace] = rank
      byRank[rank] = byRank[rank] or {}
      table.insert(byRank[rank], id)
    else
      leaving[#leaving + 1] = id
    end
  end
  for _, ids in ipairs(byRank) do
    for _, id in ipairs(ids) do
      kept = kept + 1
      if kept > ${FAILED_KEPT} then leaving[#leaving + 1] = id end
    end
  end
  if #leaving > 0 then redis.call('ZREM', index, unpack(leaving)) end
end

-- transition: its id   reason: '' for none
-- ttl: see retain   orderedTo: of an ordered delivery, the id of its endpoint, else nil
-- more: what its caller has at hand: fields (of its record, written as well), hasList (see retain), owner (the workspace
-- that it counts for), isClean (its record has neither 'due' nor 'why')
-- Returns the line that an ordered one leaves, for the caller to advance.
local function settle(id, transition, status, reason, now, ttl, orderedTo, more)
  more = more or {}
  local record, fields = prefix .. id, more.fields or {}
  local size = #fields
  fields[size + 1], fields[size + 2], fields[size + 3], fields[size + 4] = 's', status, 'end', now
  if reason ~= '' then fields[size + 5], fields[size + 6] = 'why', reason end
  redis.call('HSET', record, unpack(fields))
  if not more.isClean then
    if reason == '' then redis.call('HDEL', record, 'due', 'why') else redis.call('HDEL', record, 'due') end
  end
  retain(id, now, ttl, false, more.hasList)
  local key = prefix .. transition
  local isLast = redis.call('HINCRBY', key, 'open', -1) <= 0
  local known = {}
  if isLast or status ~= 'delivered' or orderedTo or not more.owner then
    known = redis.call('HMGET', key, 'ws', 'b', 'ev', 'task')
  end
  -- A notice to the platform counts for nobody.
  local owner = more.owner or known[2] and known[1]
  if owner then notePending(owner, -1) end
  local at = isLast and not waits(ttl) and timeToLeave(now, ttl)
  if at then
    -- While one was pending, it had no time to leave.
    redis.call('PEXPIREAT', key, at)
    moveBytes(known, nil, at)
  end
  if status ~= 'delivered' then
    local facts = redis.call('HMGET', record, 'e', 'at')
    noteEnded({ id = id, endpoint = facts[1], workspace = known[1], status = status, at = facts[2] }, ttl)
  end
  if status == 'failed' then
    local index = prefix .. (known[3] == 'webhook.test' and 'failed:tests' or 'failed')
    redis.call('ZADD', index, now, id)
    trimFailed(index)
    if tonumber(ttl) > 0 then redis.call('PEXPIRE', index, ttl) end
  end
  if not orderedTo or not known[4] then return nil end
  local line = lineOf(prefix, orderedTo, known[4])
  redis.call('ZREM', line, id)
  return line
end
`;

export const END_DELIVERY_LUA = /* lua */ `#!lua flags=allow-oom
-- End a pending delivery without an attempt, and its lease with it: a replay must not give it a second place. One that
-- its caller doesn't hold leaves the place where it is. A redelivery that was asked for meanwhile goes, unless it can't be
-- made either.
-- KEYS[1] delivery (hash)
-- ARGV[1] prefix   ARGV[2] delivery id   ARGV[3] reason   ARGV[4] now (ms)   ARGV[5] ttl, see retain
-- ARGV[6] 'canceled' | 'failed'   ARGV[7] handle of its caller's lease, '' for none   ARGV[8] 1 when it was a probe, else 0
-- Returns {'ended', event ('' when the transition is lost)} | {'settled'} (it had ended before) | {'missing'}.
local prefix, now = ARGV[1], tonumber(ARGV[4])
${GROUP_LUA}
${ENQUEUE_LUA}
${LEASE_LUA}
${LEAVE_QUEUE_LUA}
${SETTLE_LUA}
local known = redis.call('HMGET', KEYS[1], 's', 'x', 'o', 'e', 'owe')
local status, transition = known[1], known[2]
if not status then return { 'missing' } end
-- These reasons speak of the delivery's own try, and the others of its receiver or its body.
local owes = known[5] and (ARGV[3] == 'not_sent_in_time' or ARGV[3] == 'too_old')
if not owes then redis.call('HDEL', KEYS[1], 'owe') end
local wasHeld, group = endLease(ARGV[7])
if wasHeld then
  settleGroup(group, now, nil, { freed = 1, isProbe = ARGV[8] == '1' })
elseif status == 'pending' or (known[5] and not owes) then
  leaveQueue({ '${TEST_GROUP}', groupOf(known[4]) }, ARGV[2], now)
end
writeSlots()
local key = prefix .. transition
local function goOn()
  stay(KEYS[1], key)
  local workspace = redis.call('HGET', prefix .. 'e:' .. known[4], 'ws') or nil
  enqueue({ { groupOf(known[4]), ARGV[2], URGENT + now, workspace } }, now)
end
if status ~= 'pending' then
  if not owes then
    retain(ARGV[2], ARGV[4], ARGV[5], true)
    if (tonumber(redis.call('HGET', key, 'open')) or 0) <= 0 then retainTransition(key, ARGV[4], ARGV[5], true) end
  elseif wasHeld then
    goOn()
  end
  -- One that is owed, and that its caller doesn't hold, is in its place.
  writeAccounts()
  return { 'settled' }
end
local event = redis.call('HGET', key, 'ev') or ''
local line = settle(ARGV[2], transition, ARGV[6], ARGV[3], ARGV[4], ARGV[5], known[3] and known[4])
if line then advance(line, now) end
if owes then goOn() end
writeAccounts()
return { 'ended', event }
`;
