import { DISABLE_AT_FAILURES } from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA, LEASE_LUA } from '@herald/queue';
import { SUBSCRIPTION_VERSION_LUA } from '../endpoints/endpoint-record.ts';
import { NOTICE_LUA } from '../notices/notice-lua.ts';
import { COUNT_LUA } from '../stats/count-lua.ts';
import { SETTLE_LUA } from './delivery-scripts.ts';
import { ERASED_ATTEMPT_LUA } from './erased-attempt-lua.ts';
import { FIRST_ATTEMPT } from './first-attempt.ts';
import { FIRST_ATTEMPT_LUA } from './first-attempt-lua.ts';

/** A receiver that has failed for so long without one success is told of, in ms. */
const TELL_FAILING_AFTER_MS = 3_600_000;

export const RECORD_ATTEMPTS_LUA = /* lua */ `#!lua flags=allow-oom
-- Record attempts, each with its effects on its delivery, endpoint and group. The lease ends in the same step,
-- and a delivery that is still pending, or has a pending redelivery, waits again: a crash never leaves it out of the
-- queue. A second run, after a lost reply, does no harm: an attempt is logged and counted once, only a pending delivery
-- moves on, and a failed try counts only if no other try has been recorded since it was decided.
-- KEYS[1..n] deliveries (hash)
-- ARGV[1] prefix of the other keys, in the same slot
-- ARGV[2n] JSON of a RecordedAttempt (delivery-store.ts) without its attempt and what is false, and in place of its
--   delivery: id, endpointId, tries (before this one), released (before its turn), ttl (see retain), newVersion (of the
--   subscriptions, should the endpoint be disabled); group: absent when it is the endpoint; notice: see tellPlatform; of an
--   attempt that counts, its field and its shardField (attempt-fields.ts); first: see FIRST_ATTEMPT_LUA
-- ARGV[2n+1] JSON of the attempt (attempt-record.ts)
-- Returns for each {'recorded' | 'superseded' | 'missing', new status, redeliveries still pending,
--   '' | why this attempt disabled the endpoint, '' | 'settled' | 'recovered' (delivered after it had failed or been
--   canceled), '' | 'opened' | 'closed' (the breaker, by this attempt), '' | event of the notice that it made}, or {'failed', why} (Redis takes no writes,
--   or a bug); the lease is then held as before.
-- 'superseded': another attempt moved the delivery on; this one is in the log.
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
${LEASE_LUA}
${SETTLE_LUA}
${NOTICE_LUA}
${ERASED_ATTEMPT_LUA}
${FIRST_ATTEMPT_LUA}
${COUNT_LUA}
${SUBSCRIPTION_VERSION_LUA}
-- What this run knows of endpoints, and when they last answered. That is written in the end, once for each.
local healths, lastOks = {}, {}

local function healthOf(endpoint)
  local health = healths[endpoint]
  if not health then
    local v = redis.call('HMGET', endpoint, 'on', 'fails', 'ws', 'told', 'urlAt')
    health = { on = v[1], hasFailed = v[2] ~= false, workspace = v[3], told = tonumber(v[4] or ''), urlAt = tonumber(v[5] or '') }
    healths[endpoint] = health
  end
  return health
end

-- What the attempts of this run count for, by field: of the shard, and of each owner of counters. It is written in the
-- end, at once.
local shardCounts, ownCounts, countedAt = {}, {}, 0

local function countAttempt(owner, field, shardField, now)
  local counts = ownCounts[owner]
  if not counts then
    counts = {}
    ownCounts[owner] = counts
  end
  counts[field] = (counts[field] or 0) + 1
  shardCounts[shardField] = (shardCounts[shardField] or 0) + 1
  countedAt = math.max(countedAt, now)
end

-- Settle the slots, limits and breakers of an attempt's groups. Returns the change of the breaker.
-- isNews: it was not recorded before, and went to the present url
local function trackGroups(input, group, held, isNews)
  local outcome = nil
  if isNews and input.answered ~= nil then outcome = input.answered and 'answered' or 'unanswered' end
  local limit, freed = input.groupLimit, held and 1 or 0
  local facts = { freed = freed, outcome = outcome, isProbe = input.isProbe, heldUntil = isNews and input.holdUntil or nil, tookMs = input.tookMs }
  facts.hasSucceeded = outcome and input.verdict.kind == 'delivered'
  if group == input.group then return settleGroup(group, input.now, limit, facts) end
  -- A test event, or a callback whose url changed while it waited: the lease's group is not the one it was sent to.
  settleGroup(group, input.now, limit, { freed = freed, isProbe = input.isProbe })
  facts.freed, facts.isProbe = 0, nil
  return settleGroup(input.group, input.now, limit, facts)
end

local function record(delivery, input, attempt, held, group)
  local endpoint = prefix .. 'e:' .. input.endpointId
  local now, verdict, first = input.now, input.verdict, input.first
  local known = redis.call('HMGET', delivery, 's', 'n', 'x', 'owe', 'due', 'o', '${FIRST_ATTEMPT}')
  local status, tries, transition, due = known[1], tonumber(known[2]), known[3], known[5]
  local redeliveries = tonumber(known[4]) or 0
  -- Erasing settles what is pending, so that this look is rare.
  if status and status ~= 'pending' and redis.call('HEXISTS', prefix .. 'x:' .. transition, 'erased') == 1 then
    attempt, first = withoutContent(attempt), factsOf(first)
  end
  -- The lease ends with the record: while it is held, nothing of this attempt was written. The whole log counts:
  -- another worker may have recorded an attempt before this record was sent again.
  local isRepeated = not held and isLogged(delivery, attempt, first, known[7])
  -- off: why the endpoint gets nothing any more   owner: the workspace for which the delivery counts   fields: of its
  -- record, to be written at once
  local notice, workspace, isFormerUrl, off, hasList, owner, fields = '', nil, false, nil, nil, nil, {}
  local function set(name, value) fields[#fields + 1], fields[#fields + 2] = name, value end

  local function disable(reason, workspace)
    redis.call('HSET', endpoint, 'on', '0', 'offAt', now, 'offWhy', reason, 'offBy', 'herald')
    changeVersion(prefix .. 'w:' .. workspace .. ':version', input.newVersion)
    redis.call('ZADD', prefix .. 'purge', now, input.endpointId)
    return reason
  end

  -- 'told' of a receiver: since when it has failed, if the platform was told of it.
  local function tell(change, workspace, since, more)
    local draft = input.notice
    if not draft then return end
    if change == 'recovered' then
      redis.call('HDEL', endpoint, 'told')
    elseif draft.kind == 'receiver' then
      redis.call('HSET', endpoint, 'told', since)
    end
    notice = draft.kind .. '.' .. change
    tellPlatform(draft, workspace, notice, since, now, more)
  end

  local function trackEndpoint()
    if isRepeated or not input.disableAfterMs then return '' end
    local health = healthOf(endpoint)
    local on, told = health.on, health.told
    owner = health.workspace
    off = not on and 'receiver_removed' or on ~= '1' and 'receiver_disabled' or nil
    if not on then return '' end
    workspace = health.workspace
    -- It went to a former url: neither its 410 nor its success is one of the present url.
    isFormerUrl = health.urlAt ~= input.urlChangedAt
    if isFormerUrl then return '' end
    -- Whatever changes it now, the next attempt reads it again.
    if verdict.kind ~= 'delivered' or health.hasFailed or told then healths[endpoint] = nil end
    if verdict.kind == 'delivered' then
      lastOks[endpoint] = now
      if health.hasFailed then
        redis.call('HSET', endpoint, 'okFrom', now)
        redis.call('HDEL', endpoint, 'fails', 'failAt')
      end
      if told and on == '1' then tell('recovered', workspace, told, '') end
      return ''
    end
    local fails = redis.call('HINCRBY', endpoint, 'fails', 1)
    redis.call('HSETNX', endpoint, 'failAt', now)
    if on ~= '1' then return '' end
    local since = tonumber(redis.call('HGET', endpoint, 'failAt'))
    local isFailing = fails >= ${DISABLE_AT_FAILURES} and now - since >= input.disableAfterMs
    local reason = input.gone and 'gone' or isFailing and 'failing' or ''
    local count = ',"failures":' .. fails
    if reason ~= '' then
      tell('disabled', workspace, since, count .. ',"reason":"' .. reason .. '"')
      return disable(reason, workspace)
    end
    local isNews = input.notice and input.notice.kind == 'receiver' and told ~= since
    if isNews and now - since >= ${TELL_FAILING_AFTER_MS} then tell('failing', workspace, since, count) end
    return ''
  end

  if not status then return { 'missing', '', 0, '', '', trackGroups(input, group, held, not isRepeated), '' } end
  local disabled = trackEndpoint()

  if not isRepeated then
    hasList = logAttempt(delivery, attempt, first, known[7], fields)
    if input.isRedelivery and redeliveries > 0 then
      redeliveries = redeliveries - 1
      if redeliveries == 0 then
        redis.call('HDEL', delivery, 'owe')
      else
        set('owe', redeliveries)
      end
    end
  end

  if input.released then set('rel', '1') end

  local reply, change = 'recorded', ''
  local function finish(finalStatus, reason)
    local orderedTo = known[6] and input.endpointId
    set('n', tries + 1)
    local more = { fields = fields, hasList = hasList, owner = owner }
    local line = settle(input.id, transition, finalStatus, reason, now, input.ttl, orderedTo, more)
    fields = {}
    if line then advance(line, now) end
    status, change = finalStatus, 'settled'
  end
  if status ~= 'pending' then
    if verdict.kind == 'delivered' and status ~= 'delivered' then
      local at = redis.call('HGET', delivery, 'at')
      forgetEnded({ id = input.id, endpoint = input.endpointId, workspace = redis.call('HGET', prefix .. 'x:' .. transition, 'ws'), status = status, at = at })
      set('s', 'delivered')
      set('end', now)
      redis.call('HDEL', delivery, 'why')
      redis.call('ZREM', prefix .. 'failed', input.id)
      status, change = 'delivered', 'recovered'
    elseif not input.isRedelivery then
      reply = 'superseded'
    end
    local key = prefix .. 'x:' .. transition
    retain(input.id, now, input.ttl)
    if (tonumber(redis.call('HGET', key, 'open')) or 0) <= 0 then retainTransition(key, now, input.ttl) end
  elseif tries ~= input.tries and verdict.kind ~= 'delivered' and not input.isRedelivery then
    reply = 'superseded'
  elseif disabled ~= '' then
    finish('canceled', 'receiver_disabled')
  elseif verdict.kind == 'retry' and off then
    -- While it was in work.
    finish('canceled', off)
  elseif input.isRedelivery and verdict.kind ~= 'delivered' then
    -- A redelivery stands beside the schedule: tries and next try stay as they were.
  elseif verdict.kind == 'retry' then
    due = verdict.at
    set('n', tries + 1)
    set('due', due)
  else
    finish(verdict.kind, verdict.reason or '')
  end
  if #fields > 0 then redis.call('HSET', delivery, unpack(fields)) end
  if redeliveries > 0 then
    -- A delivery that still has to be sent must not expire.
    for _, key in ipairs({ delivery, delivery .. ':a' }) do redis.call('PERSIST', key) end
    leaveAt(prefix .. 'x:' .. transition, nil)
  end
  local breaker = trackGroups(input, group, held, not isRepeated and not isFormerUrl)
  if held and (redeliveries > 0 or status == 'pending') then
    local score = redeliveries > 0 and URGENT + now or USUAL + (due or now)
    enqueue({ { groupOf(input.endpointId), input.id, score, workspace } }, now)
  end
  -- A removed receiver has no workspace any more, and gets no counters again. Callbacks (cb_) share those of theirs.
  if workspace and input.field then
    countAttempt(isCallback(input.endpointId) and prefix .. 'w:' .. workspace or endpoint, input.field, input.shardField, now)
  end
  return { reply, status, redeliveries, disabled, change, breaker, notice }
end

local function recordOrKeep(delivery, input, attempt, held)
  local _, group = readHandle(input.lease)
  local succeeded, reply = pcall(record, delivery, input, attempt, held, group)
  if succeeded then return reply end
  -- What it noted may not have been written.
  writeSlots()
  groupStates, healths = {}, {}
  -- So that the worker can put the delivery back.
  if held then returnLease(input.lease, input.now) end
  error(reply, 0)
end

-- The leases end first: while one is held, nothing of its attempt was written.
local inputs, handles, replies = {}, {}, {}
for index = 1, #KEYS do
  local input = cjson.decode(ARGV[2 * index])
  input.group = input.group or input.endpointId
  inputs[index], handles[index] = input, input.lease
end
local held = endLeases(handles)
for index, delivery in ipairs(KEYS) do
  local succeeded, reply = pcall(recordOrKeep, delivery, inputs[index], ARGV[2 * index + 1], held[index])
  replies[index] = succeeded and reply or { 'failed', type(reply) == 'table' and reply.err or tostring(reply) }
end
writeSlots()
for endpoint, at in pairs(lastOks) do redis.call('HSET', endpoint, 'okAt', at) end
writeAccounts()
for owner, counts in pairs(ownCounts) do count(owner .. ':stats', countedAt, counts) end
if next(shardCounts) then count(prefix .. 'stats', countedAt, shardCounts) end
return replies
`;
