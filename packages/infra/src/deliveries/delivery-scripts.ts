import { BREAKER_FIELDS, DELIVERY_FIELDS, ENDPOINT_FIELDS, TRANSITION_FIELDS } from './loaded-fields.ts';

/**
 * All that an attempt needs, shared by the scripts that read it: {} when there is no such delivery, else one flat list of values, or
 * false where there is none: the fields of the delivery, its transition, its endpoint and its breaker, as loaded-fields.ts names
 * them, and its score in its destination's backlog.
 */
export const LOAD_LUA = /* lua */ `
local function load(prefix, id)
  local row = redis.call('HMGET', prefix .. 'd:' .. id, ${quote(DELIVERY_FIELDS)})
  if not row[3] then return {} end
  local transition = redis.call('HMGET', prefix .. 'x:' .. row[2], ${quote(TRANSITION_FIELDS)})
  local endpoint = redis.call('HMGET', prefix .. 'e:' .. row[1], ${quote(ENDPOINT_FIELDS)})
  local destination = endpoint[1] or ''
  local breaker = redis.call('HMGET', prefix .. 'k:' .. destination, ${quote(BREAKER_FIELDS)})
  for _, values in ipairs({ transition, endpoint, breaker }) do
    for _, value in ipairs(values) do row[#row + 1] = value end
  end
  row[#row + 1] = redis.call('ZSCORE', prefix .. 'b:' .. destination, id)
  return row
end
`;

export const LOAD_DELIVERIES_LUA = /* lua */ `
-- Read all that attempts need in one go.
-- KEYS[1..n] deliveries (hash)
-- ARGV[1] key prefix of the shard; all keys are made of it and of what the records name, in the same slot
-- ARGV[2..n+1] delivery ids
-- Returns for each what load returns.
${LOAD_LUA}
local replies = {}
for index = 2, #ARGV do replies[index - 1] = load(ARGV[1], ARGV[index]) end
return replies
`;

function quote(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

/** Failed deliveries of a shard that operators are shown, the latest ones. */
const FAILED_LIMIT = 1_000;

/** Ends a delivery. Shared by the scripts that do; what ends stays for the retention, its body with the last. */
export const SETTLE_LUA = /* lua */ `
local function settle(prefix, id, status, reason, now, ttl)
  local record = prefix .. 'd:' .. id
  redis.call('HSET', record, 's', status, 'end', now)
  redis.call('HDEL', record, 'due')
  if reason ~= '' then redis.call('HSET', record, 'why', reason) else redis.call('HDEL', record, 'why') end
  redis.call('PEXPIRE', record, ttl)
  redis.call('PEXPIRE', record .. ':a', ttl)
  local transition = redis.call('HGET', record, 'x')
  local key = prefix .. 'x:' .. transition
  if redis.call('HINCRBY', key, 'open', -1) <= 0 then
    redis.call('PEXPIRE', key, ttl)
    redis.call('ZREM', prefix .. 'open', transition)
    redis.call('ZREM', prefix .. 'owed', transition)
  end
  if status == 'failed' and redis.call('HGET', key, 'ev') ~= 'webhook.test' then
    redis.call('ZADD', prefix .. 'failed', now, id)
    redis.call('ZREMRANGEBYRANK', prefix .. 'failed', 0, -1 - ${FAILED_LIMIT})
    redis.call('PEXPIRE', prefix .. 'failed', ttl)
  end
end
`;

export const END_DELIVERY_LUA = /* lua */ `
-- End a pending delivery without an attempt: it can't be made any more, or not in time.
-- KEYS[1] delivery (hash)
-- ARGV[1] prefix   ARGV[2] delivery id   ARGV[3] reason   ARGV[4] now (ms)   ARGV[5] retention (ms)
-- ARGV[6] 'canceled' | 'failed'
-- Returns {'ended', event, or '' when the transition is lost} | {'settled'} (it had ended before) | {'missing'}.
${SETTLE_LUA}
local status = redis.call('HGET', KEYS[1], 's')
if not status then return { 'missing' } end
redis.call('HDEL', KEYS[1], 'owe')
redis.call('ZREM', ARGV[1] .. 'owed', ARGV[2])
local transition = ARGV[1] .. 'x:' .. redis.call('HGET', KEYS[1], 'x')
if status ~= 'pending' then
  redis.call('PEXPIRE', KEYS[1], ARGV[5], 'NX')
  redis.call('PEXPIRE', KEYS[1] .. ':a', ARGV[5], 'NX')
  if (tonumber(redis.call('HGET', transition, 'open')) or 0) <= 0 then redis.call('PEXPIRE', transition, ARGV[5], 'NX') end
  return { 'settled' }
end
local event = redis.call('HGET', transition, 'ev') or ''
settle(ARGV[1], ARGV[2], ARGV[6], ARGV[3], ARGV[4], ARGV[5])
return { 'ended', event }
`;
