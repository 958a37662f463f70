import { SETTLE_LUA } from './delivery-scripts.ts';

/** Failures without an answer, in a row, after which a destination's breaker opens. */
const BREAKER_OPENS_AT = 5;
/** Wait before the first probe of an open breaker, and the longest to which it doubles, in ms. */
const FIRST_PROBE_MS = 5_000;
const LAST_PROBE_MS = 300_000;
/** A destination that nobody sends to for so long is forgotten, in ms. */
const BREAKER_TTL_MS = 90_000_000;
/** Failures in a row that an endpoint is allowed, however old the first is. */
const DISABLE_AT_FAILURES = 10;
/** Attempts that a delivery's log keeps; the schedule makes 10, redeliveries more. */
const ATTEMPT_LOG_LIMIT = 50;

export const RECORD_ATTEMPT_LUA = /* lua */ `
-- Record one attempt, and all that follows from it for the delivery, its endpoint and its destination. Harmless when run
-- twice, as when its connection breaks before the reply: the same attempt is logged and counted once, only a pending
-- delivery is moved on, and a failed try counts only if it is the one that was decided on.
-- KEYS[1] delivery (hash)   KEYS[2] its attempts (list)   KEYS[3] its endpoint (hash)   KEYS[4] breaker (hash)
-- KEYS[5] backlog of the destination (zset)
-- ARGV[1] JSON, times in ms: { prefix, id, endpoint, tries (before this one), now, ttl,
--   status: 'delivered' | 'pending' | 'failed', due?, why, answered?, probe, owed, hold?, gone, disableAfter, newVersion,
--   health (whether it counts for the endpoint) }
-- ARGV[2] JSON of the attempt
-- Returns {'recorded' | 'superseded' | 'missing', status now, redeliveries still owed, 1 | 0 a backlog waits,
--   '' | reason for which the endpoint was disabled just now, '' | 'settled' | 'recovered' (what had failed or been
--   canceled is delivered), '' | 'opened' | 'closed' what became of the breaker just now}.
-- 'superseded': another attempt moved the delivery on; this one is in the log.
${SETTLE_LUA}
local input = cjson.decode(ARGV[1])
local prefix, now = input.prefix, input.now
local isRepeated = redis.call('LINDEX', KEYS[2], -1) == ARGV[2]

local function trackDestination()
  local change = ''
  if isRepeated or input.answered == nil then return change end
  if input.answered then
    -- A closed breaker has its failures, and nothing else.
    if redis.call('HDEL', KEYS[4], 'fails', 'open', 'wait', 'probe') > 1 then change = 'closed' end
  else
    local fails = redis.call('HINCRBY', KEYS[4], 'fails', 1)
    local wait = tonumber(redis.call('HGET', KEYS[4], 'wait'))
    if not wait and fails >= ${BREAKER_OPENS_AT} then
      wait, change = ${FIRST_PROBE_MS}, 'opened'
    elseif wait and input.probe then
      wait = math.min(2 * wait, ${LAST_PROBE_MS})
    else
      wait = nil
    end
    if wait then redis.call('HSET', KEYS[4], 'open', '1', 'wait', wait, 'probe', now + wait) end
    redis.call('PEXPIRE', KEYS[4], ${BREAKER_TTL_MS})
  end
  if input.hold and input.hold > (tonumber(redis.call('HGET', KEYS[4], 'hold')) or 0) then
    redis.call('HSET', KEYS[4], 'hold', input.hold)
    redis.call('PEXPIRE', KEYS[4], ${BREAKER_TTL_MS})
  end
  return change
end

local function disable(reason)
  redis.call('HSET', KEYS[3], 'on', '0', 'offAt', now, 'offWhy', reason)
  redis.call('SET', prefix .. 'w:' .. redis.call('HGET', KEYS[3], 'ws') .. ':version', input.newVersion)
  redis.call('ZADD', prefix .. 'purge', now, input.endpoint)
  return reason
end

local function trackEndpoint()
  local on = redis.call('HGET', KEYS[3], 'on')
  if isRepeated or not input.health or not on then return '' end
  if input.status == 'delivered' then
    redis.call('HSET', KEYS[3], 'okAt', now)
    if redis.call('HDEL', KEYS[3], 'fails', 'failAt') > 0 then redis.call('HSET', KEYS[3], 'okFrom', now) end
    return ''
  end
  local fails = redis.call('HINCRBY', KEYS[3], 'fails', 1)
  redis.call('HSETNX', KEYS[3], 'failAt', now)
  if on ~= '1' then return '' end
  if input.gone then return disable('gone') end
  local since = tonumber(redis.call('HGET', KEYS[3], 'failAt'))
  if fails >= ${DISABLE_AT_FAILURES} and now - since >= input.disableAfter then return disable('failing') end
  return ''
end

local status = redis.call('HGET', KEYS[1], 's')
local breaker = trackDestination()
local backlog = redis.call('EXISTS', KEYS[5])
if not status then return { 'missing', '', 0, backlog, '', '', breaker } end
local disabled = trackEndpoint()

if not isRepeated then
  redis.call('RPUSH', KEYS[2], ARGV[2])
  redis.call('LTRIM', KEYS[2], -${ATTEMPT_LOG_LIMIT}, -1)
end
local owed = tonumber(redis.call('HGET', KEYS[1], 'owe')) or 0
if input.owed and owed > 0 and not isRepeated then
  owed = owed - 1
  if owed == 0 then
    redis.call('HDEL', KEYS[1], 'owe')
    redis.call('ZREM', prefix .. 'owed', input.id)
  else
    redis.call('HSET', KEYS[1], 'owe', owed)
  end
end

local reply, change = 'recorded', ''
if status ~= 'pending' then
  if input.status == 'delivered' and status ~= 'delivered' then
    redis.call('HSET', KEYS[1], 's', 'delivered', 'end', now)
    redis.call('HDEL', KEYS[1], 'why')
    redis.call('ZREM', prefix .. 'failed', input.id)
    change = 'recovered'
  elseif not input.owed then
    reply = 'superseded'
  end
  local transition = prefix .. 'x:' .. redis.call('HGET', KEYS[1], 'x')
  redis.call('PEXPIRE', KEYS[1], input.ttl)
  redis.call('PEXPIRE', KEYS[2], input.ttl)
  if (tonumber(redis.call('HGET', transition, 'open')) or 0) <= 0 then redis.call('PEXPIRE', transition, input.ttl) end
elseif tonumber(redis.call('HGET', KEYS[1], 'n')) ~= input.tries and input.status ~= 'delivered' then
  reply = 'superseded'
else
  redis.call('HINCRBY', KEYS[1], 'n', 1)
  if input.status == 'pending' and disabled == '' then
    redis.call('HSET', KEYS[1], 'due', input.due)
  elseif disabled ~= '' then
    settle(prefix, input.id, 'canceled', 'receiver_disabled', now, input.ttl)
    change = 'settled'
  else
    settle(prefix, input.id, input.status, input.why, now, input.ttl)
    change = 'settled'
  end
end
if owed > 0 then
  -- What is still to be sent must not leave before.
  for _, key in ipairs({ KEYS[1], KEYS[2], prefix .. 'x:' .. redis.call('HGET', KEYS[1], 'x') }) do redis.call('PERSIST', key) end
end
return { reply, redis.call('HGET', KEYS[1], 's'), owed, backlog, disabled, change, breaker }
`;
