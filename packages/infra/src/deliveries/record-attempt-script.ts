import { END_JOB_LUA } from '../queues/end-job-script.ts';
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

export const RECORD_ATTEMPTS_LUA = /* lua */ `
-- Record attempts, each with all that follows from it for its delivery, its endpoint and its destination. Harmless when run
-- twice, as when its connection breaks before the reply: the same attempt is logged and counted once, only a pending
-- delivery is moved on, and a failed try counts only if it is the one that was decided on.
-- KEYS[1..n] deliveries (hash)
-- ARGV[1] prefix; the other keys are made of it, in the same slot
-- ARGV[2n] JSON, times in ms: { id, endpoint, destination, tries (before this one), now, ttl,
--   status: 'delivered' | 'pending' | 'failed', due?, why, answered?, probe, owed, hold?, gone, disableAfter, newVersion,
--   health (whether it counts for the endpoint), job?: { prefix (of the jobs' keys), token (of its lock) } | backlog?: true (its place, which
--   it was made for) }
-- ARGV[2n+1] JSON of the attempt
-- Returns for each {'recorded' | 'superseded' | 'missing', status now, redeliveries still owed, 1 | 0 a backlog waits,
--   '' | reason for which the endpoint was disabled just now, '' | 'settled' | 'recovered' (what had failed or been
--   canceled is delivered), '' | 'opened' | 'closed' what became of the breaker just now, 1 | 0 nothing is left to do, and
--   the delivery has left the place that the attempt was made for}, or {'failed', why} (Redis takes no writes, or a bug).
-- 'superseded': another attempt moved the delivery on; this one is in the log.
${SETTLE_LUA}
${END_JOB_LUA}
local prefix = ARGV[1]

local function record(delivery, input, attempt)
  local attempts, endpoint = delivery .. ':a', prefix .. 'e:' .. input.endpoint
  local breakerKey, backlogKey = prefix .. 'k:' .. input.destination, prefix .. 'b:' .. input.destination
  local now = input.now
  -- Not the last alone: another worker may have made an attempt before this one's record was sent again.
  local isRepeated = redis.call('LPOS', attempts, attempt) ~= false

  local function trackDestination()
    local change = ''
    if isRepeated or input.answered == nil then return change end
    if input.answered then
      -- A closed breaker has its failures, and nothing else.
      if redis.call('HDEL', breakerKey, 'fails', 'open', 'wait', 'probe') > 1 then change = 'closed' end
    else
      local fails = redis.call('HINCRBY', breakerKey, 'fails', 1)
      local wait = tonumber(redis.call('HGET', breakerKey, 'wait'))
      if not wait and fails >= ${BREAKER_OPENS_AT} then
        wait, change = ${FIRST_PROBE_MS}, 'opened'
      elseif wait and input.probe then
        wait = math.min(2 * wait, ${LAST_PROBE_MS})
      else
        wait = nil
      end
      if wait then redis.call('HSET', breakerKey, 'open', '1', 'wait', wait, 'probe', now + wait) end
      redis.call('PEXPIRE', breakerKey, ${BREAKER_TTL_MS})
    end
    if input.hold and input.hold > (tonumber(redis.call('HGET', breakerKey, 'hold')) or 0) then
      redis.call('HSET', breakerKey, 'hold', input.hold)
      redis.call('PEXPIRE', breakerKey, ${BREAKER_TTL_MS})
    end
    return change
  end

  local function disable(reason)
    redis.call('HSET', endpoint, 'on', '0', 'offAt', now, 'offWhy', reason)
    redis.call('SET', prefix .. 'w:' .. redis.call('HGET', endpoint, 'ws') .. ':version', input.newVersion)
    redis.call('ZADD', prefix .. 'purge', now, input.endpoint)
    return reason
  end

  local function trackEndpoint()
    local on = redis.call('HGET', endpoint, 'on')
    if isRepeated or not input.health or not on then return '' end
    if input.status == 'delivered' then
      redis.call('HSET', endpoint, 'okAt', now)
      if redis.call('HDEL', endpoint, 'fails', 'failAt') > 0 then redis.call('HSET', endpoint, 'okFrom', now) end
      return ''
    end
    local fails = redis.call('HINCRBY', endpoint, 'fails', 1)
    redis.call('HSETNX', endpoint, 'failAt', now)
    if on ~= '1' then return '' end
    if input.gone then return disable('gone') end
    local since = tonumber(redis.call('HGET', endpoint, 'failAt'))
    if fails >= ${DISABLE_AT_FAILURES} and now - since >= input.disableAfter then return disable('failing') end
    return ''
  end

  local status = redis.call('HGET', delivery, 's')
  local breaker = trackDestination()
  if not status then return { 'missing', '', 0, redis.call('EXISTS', backlogKey), '', '', breaker, 0 } end
  local disabled = trackEndpoint()

  if not isRepeated then
    redis.call('RPUSH', attempts, attempt)
    redis.call('LTRIM', attempts, -${ATTEMPT_LOG_LIMIT}, -1)
  end
  local owed = tonumber(redis.call('HGET', delivery, 'owe')) or 0
  if input.owed and owed > 0 and not isRepeated then
    owed = owed - 1
    if owed == 0 then
      redis.call('HDEL', delivery, 'owe')
      redis.call('ZREM', prefix .. 'owed', input.id)
    else
      redis.call('HSET', delivery, 'owe', owed)
    end
  end

  local reply, change = 'recorded', ''
  if status ~= 'pending' then
    if input.status == 'delivered' and status ~= 'delivered' then
      redis.call('HSET', delivery, 's', 'delivered', 'end', now)
      redis.call('HDEL', delivery, 'why')
      redis.call('ZREM', prefix .. 'failed', input.id)
      change = 'recovered'
    elseif not input.owed then
      reply = 'superseded'
    end
    local transition = prefix .. 'x:' .. redis.call('HGET', delivery, 'x')
    redis.call('PEXPIRE', delivery, input.ttl)
    redis.call('PEXPIRE', attempts, input.ttl)
    if (tonumber(redis.call('HGET', transition, 'open')) or 0) <= 0 then redis.call('PEXPIRE', transition, input.ttl) end
  elseif tonumber(redis.call('HGET', delivery, 'n')) ~= input.tries and input.status ~= 'delivered' then
    reply = 'superseded'
  else
    redis.call('HINCRBY', delivery, 'n', 1)
    if input.status == 'pending' and disabled == '' then
      redis.call('HSET', delivery, 'due', input.due)
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
    for _, key in ipairs({ delivery, attempts, prefix .. 'x:' .. redis.call('HGET', delivery, 'x') }) do redis.call('PERSIST', key) end
  end
  local statusNow, left = redis.call('HGET', delivery, 's'), 0
  if owed == 0 and statusNow ~= 'pending' then
    if input.job then left = endJob(input.job.prefix, input.id, input.job.token) end
    if input.backlog then
      redis.call('ZREM', backlogKey, input.id)
      left = 1
    end
  end
  return { reply, statusNow, owed, redis.call('EXISTS', backlogKey), disabled, change, breaker, left }
end

local replies = {}
for index, delivery in ipairs(KEYS) do
  local succeeded, reply = pcall(record, delivery, cjson.decode(ARGV[2 * index]), ARGV[2 * index + 1])
  replies[index] = succeeded and reply or { 'failed', type(reply) == 'table' and reply.err or tostring(reply) }
end
return replies
`;
