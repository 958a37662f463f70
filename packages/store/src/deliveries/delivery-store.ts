import {
  DELIVERY_STATUSES,
  DeliveryEvent,
  DISABLE_AT_FAILURES,
  NOTICE_EVENTS,
  PLATFORM,
  type AttemptVerdict,
  type CancelReason,
  type Delivery,
  type DeliveryId,
  type DeliveryStatus,
  type NoticeDraft,
} from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA, LEASE_LUA, LEAVE_QUEUE_LUA } from '@herald/queue';
import { z } from 'zod';
import { SUBSCRIPTION_VERSION_LUA, writeLastFailure } from '../endpoints/endpoint-record.ts';
import { PLATFORM_OWNER, type ShardKeys } from '../keys/keys.ts';
import { batchCalls } from '../redis/batch-calls.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { newRevision } from '../redis/random-token.ts';
import { defineScript, ScriptCommandError } from '../redis/script.ts';
import { COUNT_LUA } from '../stats/count-lua.ts';
import { fieldsOf } from '../stats/counter-layout.ts';
import {
  ERASED_ATTEMPT_LUA,
  FIRST_ATTEMPT,
  FIRST_ATTEMPT_LUA,
  writeAttempt,
  writeFirstAttempt,
  type AttemptRecord,
} from './attempt-record.ts';
import { readLoadedDelivery, type DeliveryRetention, type LoadReply } from './delivery-record.ts';
import { END_DELIVERY_LUA, LOAD_DELIVERY_LUA, SETTLE_LUA } from './delivery-scripts.ts';

export type RecordedAttempt = {
  readonly delivery: Delivery;
  /** The group of its endpoint, as it was sent to. */
  readonly group: string;
  readonly attempt: AttemptRecord;
  readonly verdict: AttemptVerdict;
  /** Epoch ms. */
  readonly now: number;
  /** Whether the endpoint answered at all. Absent when nothing went out, which says nothing about it. */
  readonly answered?: boolean;
  /** The endpoint said that it is gone for good. */
  readonly gone: boolean;
  /** Until when the receiver asked to be left alone, epoch ms. */
  readonly holdUntil?: number;
  /** It went out through an open breaker. */
  readonly isProbe: boolean;
  readonly isRedelivery: boolean;
  /** How long the endpoint may fail before it is disabled, in ms. Absent for test events and notices: they don't count. */
  readonly disableAfterMs?: number;
  /**
   * The `urlChangedAt` of the endpoint as it was sent to. If its url has changed since, the attempt says nothing about
   * the endpoint.
   */
  readonly urlChangedAt?: number;
  /** For the notice to the platform, if the attempt changes the state of the endpoint. Absent: none is made. */
  readonly notice?: NoticeDraft;
  /** The delivery's lease in the queue; it ends with the record. */
  readonly lease: string;
  /** Deliveries of one group that may be in work, over all workers. */
  readonly groupLimit: number;
};

/** `ended`: by this call. `settled`: it had ended before. The event is absent when Redis lost it. */
export type EndReply =
  | { readonly kind: 'ended'; readonly event?: DeliveryEvent }
  | { readonly kind: 'settled' | 'missing' };

/** The lease of a delivery in work, and whether it goes through an open breaker. */
type HeldLease = Pick<RecordedAttempt, 'lease' | 'isProbe'>;

export type DeliveryStoreDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly retention: DeliveryRetention;
};

const RecordText = z.tuple([
  // `superseded`: another attempt moved the delivery on; this one is in the log.
  z.enum(['recorded', 'superseded', 'missing']),
  // The delivery's status now; '' when it is missing.
  z.enum(['', ...DELIVERY_STATUSES]),
  // Redeliveries still pending.
  z.number(),
  // Why this attempt disabled the endpoint.
  z.enum(['', 'gone', 'failing']),
  // `settled`: this very attempt ended the delivery. `recovered`: it succeeded after the delivery had failed or been
  // canceled. '': the delivery is still pending, or had ended before.
  z.enum(['', 'settled', 'recovered']),
  // What this attempt did to the breaker of its group.
  z.enum(['', 'opened', 'closed']),
  // The notice that this attempt made.
  z.enum(['', ...NOTICE_EVENTS]),
]);
const RecordReplies = z.array(z.union([RecordText, z.tuple([z.literal('failed'), z.string()])]));
const EndText = z.tuple([z.enum(['ended', 'settled', 'missing'])], z.union([DeliveryEvent, z.literal('')]));

/** Attempts that one call records. Redis does nothing else meanwhile: for about a millisecond. */
const MOST_RECORDED = 50;

/** The delivery records of one shard. */
export function createDeliveryStore({ redis, keys, retention }: DeliveryStoreDeps) {
  const load = defineScript(redis, LOAD_DELIVERY_LUA);
  const recordAll = defineScript(redis, RECORD_ATTEMPTS_LUA);
  const end = defineScript(redis, END_DELIVERY_LUA);

  // Fewer and larger calls of a script cost less, and leave the worker idle while it waits.
  const record = batchCalls({
    call: async (attempts: readonly { readonly key: string; readonly args: readonly string[] }[]) => {
      const args = attempts.flatMap((attempt) => attempt.args);
      const recordKeys = attempts.map(({ key }) => key);
      return RecordReplies.parse(await recordAll(recordKeys, [keys.prefix, ...args]));
    },
    limit: MOST_RECORDED,
  });

  const endDelivery = async (
    id: DeliveryId,
    status: DeliveryStatus,
    reason: string,
    now: number,
    held?: HeldLease,
  ): Promise<EndReply> => {
    const args = [keys.prefix, id, reason, now, retention.expiryMs, status, held?.lease ?? '', held?.isProbe ? 1 : 0];
    const [kind, event] = EndText.parse(await end([keys.delivery(id)], args));
    return kind === 'ended' ? { kind, ...(event && { event }) } : { kind };
  };

  return {
    load: async (id: DeliveryId): Promise<LoadReply> =>
      readLoadedDelivery(id, await load([keys.delivery(id)], [keys.prefix, id])),
    async record({ notice: draft, ...recorded }: RecordedAttempt) {
      const { delivery, attempt, verdict, gone, isRedelivery, isProbe, group, ...facts } = recorded;
      const { id, endpointId, tries, createdAt, isReleased } = delivery;
      // Of one that has been tried, the record has the first attempt.
      const first = tries === 0 ? writeFirstAttempt(attempt, createdAt) : undefined;
      const input = {
        ...facts,
        ...(gone && { gone }),
        ...(isRedelivery && { isRedelivery }),
        ...(isProbe && { isProbe }),
        ...(group !== endpointId && { group }),
        id,
        endpointId,
        tries,
        ...(isReleased && { released: true }),
        verdict,
        tookMs: attempt.durationMs,
        ttl: retention.expiryMs,
        ...(verdict.kind !== 'delivered' && { newVersion: newRevision(), failWhy: writeLastFailure(attempt) }),
        ...fieldsOfAttempt(recorded),
        ...(draft && { notice: { ...draft, logTtl: retention.logMs } }),
        ...(first && { first }),
      };
      const args = [JSON.stringify(input), writeAttempt(attempt)];
      const reply = await record({ key: keys.delivery(id), args });
      if (reply[0] === 'failed') throw new ScriptCommandError(reply[1]);
      const [kind, status, pendingRedeliveries, disabled, change, breaker, notice] = reply;
      return {
        kind,
        ...(status !== '' && { status }),
        pendingRedeliveries,
        ...(disabled !== '' && { disabled }),
        ...(change !== '' && { change }),
        ...(breaker !== '' && { breaker }),
        ...(notice !== '' && { notice }),
      };
    },
    /** Ends a pending delivery that can't be made any more, and the lease under which its caller has it. */
    cancel: (id: DeliveryId, reason: CancelReason, now: number, held?: HeldLease) =>
      endDelivery(id, 'canceled', reason, now, held),
    /** Fails a pending delivery that has waited too long, and ends the lease. */
    giveUp: (id: DeliveryId, now: number, held?: HeldLease) => endDelivery(id, 'failed', 'too_old', now, held),
  };
}
export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
export type RecordReply = Awaited<ReturnType<DeliveryStore['record']>>;

/** The fields for which an attempt counts. Test events and notices have none. */
function fieldsOfAttempt(recorded: Omit<RecordedAttempt, 'notice'>) {
  const { delivery, attempt, verdict, isRedelivery, now, disableAfterMs } = recorded;
  const { tries, createdAt, scheduledAt } = delivery;
  if (disableAfterMs === undefined) return {};
  const isAtOnce = tries === 0 && !isRedelivery && scheduledAt === createdAt;
  return fieldsOf({
    isSuccess: verdict.kind === 'delivered',
    durationMs: attempt.durationMs,
    arrivedAfterMs: isAtOnce ? now - createdAt : undefined,
  });
}

/** A receiver that has failed for so long without one success is told of, in ms. */
const TELL_FAILING_AFTER_MS = 3_600_000;

/**
 * Makes a notice to the platform, in the script that makes the fact: a crash leaves both or neither. Needs GROUP_LUA,
 * ENQUEUE_LUA and `local prefix`.
 *
 * `tellPlatform(draft, workspace, event, since, now, more)` writes the notice, its one delivery and its place in the
 * queue. draft: a NoticeDraft, with logTtl (of the list of notices, ms); since, now: ms; more: further fields of the
 * body as JSON, each behind a comma. The caller tells of a fact once: the endpoint's record says what was told.
 */
export const NOTICE_LUA = /* lua */ `
-- As JavaScript's toISOString. The calendar is Howard Hinnant's civil_from_days: its years begin in March.
local function toTime(ms)
  local days, rest = math.floor(ms / 86400000) + 719468, ms % 86400000
  local era = math.floor(days / 146097)
  local ofEra = days - era * 146097
  local leapDays = math.floor(ofEra / 1460) - math.floor(ofEra / 36524) + math.floor(ofEra / 146096)
  local years = math.floor((ofEra - leapDays) / 365)
  local ofYear = ofEra - (365 * years + math.floor(years / 4) - math.floor(years / 100))
  local months = math.floor((5 * ofYear + 2) / 153)
  local day = ofYear - math.floor((153 * months + 2) / 5) + 1
  local month = months < 10 and months + 3 or months - 9
  local year = years + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, math.floor(rest / 3600000),
    math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end

local function tellPlatform(draft, workspace, event, since, now, more)
  local id, transition = draft.deliveryId, draft.transitionId
  local body = '{"id":"' .. transition .. '","event":"' .. event .. '",' .. draft.fields .. ',"since":"'
    .. toTime(since) .. '"' .. more .. '}'
  redis.call('HSET', prefix .. transition, 'open', 1, 'ev', event, 'ws', workspace .. '${PLATFORM_OWNER}',
    'at', now, 'eps', '${PLATFORM}', 'body', body)
  redis.call('HSET', prefix .. id, 'x', transition, 'e', '${PLATFORM}', 's', 'pending', 'at', now)
  local log = prefix .. 'notices'
  redis.call('ZADD', log, now, id)
  redis.call('ZREMRANGEBYSCORE', log, '-inf', now - draft.logTtl)
  redis.call('PEXPIRE', log, draft.logTtl)
  enqueue({ { '${PLATFORM}', id, USUAL + now } }, now)
end
`;

const RECORD_ATTEMPTS_LUA = /* lua */ `#!lua flags=allow-oom
-- Record attempts, each with its effects on its delivery, endpoint and group. The lease ends in the same step,
-- and a delivery that is still pending, or has a pending redelivery, waits again: a crash never leaves it out of the
-- queue. A second run, after a lost reply, does no harm: an attempt is logged and counted once, only a pending delivery
-- moves on, and a failed try counts only if no other try has been recorded since it was decided.
-- KEYS[1..n] deliveries (hash)
-- ARGV[1] prefix of the other keys, in the same slot
-- ARGV[2n] JSON of a RecordedAttempt (delivery-store.ts) without its attempt and what is false, and in place of its
--   delivery: id, endpointId, tries (before this one), released (before its turn), ttl (see retain), newVersion (of the
--   subscriptions, should the endpoint be disabled); of one that failed, failWhy (see writeLastFailure); group: absent when it is the endpoint; notice: see tellPlatform; of an
--   attempt that counts, its field and its shardField (counter-layout.ts); first: see FIRST_ATTEMPT_LUA
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
${LEAVE_QUEUE_LUA}
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
  local known = redis.call('HMGET', delivery, 's', 'n', 'x', 'owe', 'due', 'o', '${FIRST_ATTEMPT}', 'at', 'why')
  local status, tries, transition, due = known[1], tonumber(known[2]) or 0, known[3], known[5]
  local redeliveries = tonumber(known[4]) or 0
  -- Erasing settles what is pending, so that this look is rare.
  if status and status ~= 'pending' and redis.call('HEXISTS', prefix .. transition, 'erased') == 1 then
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
        redis.call('HDEL', endpoint, 'fails', 'failAt', 'failWhy')
      end
      if told and on == '1' then tell('recovered', workspace, told, '') end
      return ''
    end
    local fails = redis.call('HINCRBY', endpoint, 'fails', 1)
    redis.call('HSETNX', endpoint, 'failAt', now)
    redis.call('HSET', endpoint, 'failWhy', input.failWhy)
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
    local grown
    hasList, grown = logAttempt(delivery, attempt, first, known[7], fields)
    grow(prefix .. transition, grown)
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
    -- It came after its lease had ended. The delivery waits again, or another worker has it: it leaves that place, since a
    -- replay would put it into a second one.
    if not held and redeliveries == 0 then leaveQueue({ groupOf(input.endpointId) }, input.id, now, input.groupLimit) end
    local orderedTo = known[6] and input.endpointId
    set('n', tries + 1)
    local more = { fields = fields, hasList = hasList, owner = owner, isClean = not (due or known[9]) }
    local line = settle(input.id, transition, finalStatus, reason, now, input.ttl, orderedTo, more)
    fields = {}
    if line then advance(line, now) end
    status, change = finalStatus, 'settled'
  end
  if status ~= 'pending' then
    -- It was in work while it was canceled: one try more, whatever came of it.
    if not isRepeated and not input.isRedelivery and tries == input.tries then set('n', tries + 1) end
    if verdict.kind == 'delivered' and status ~= 'delivered' then
      forgetEnded({ id = input.id, endpoint = input.endpointId, workspace = redis.call('HGET', prefix .. transition, 'ws'), status = status, at = known[8] })
      set('s', 'delivered')
      set('end', now)
      redis.call('HDEL', delivery, 'why')
      redis.call('ZREM', prefix .. 'failed', input.id)
      status, change = 'delivered', 'recovered'
    elseif not input.isRedelivery then
      reply = 'superseded'
    end
    local key = prefix .. transition
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
  if redeliveries > 0 then stay(delivery, prefix .. transition) end
  local breaker = trackGroups(input, group, held, not isRepeated and not isFormerUrl)
  if held and (redeliveries > 0 or status == 'pending') then
    local score = redeliveries > 0 and URGENT + now or USUAL + (due or known[8] or now)
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
