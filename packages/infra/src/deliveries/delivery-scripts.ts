export const LOAD_DELIVERY_LUA = /* lua */ `
-- Read all that an attempt needs in one go.
-- KEYS[1] delivery (hash)
-- ARGV[1] key prefix of the shard; the transition's and the endpoint's keys are made of it, in the same slot
-- Returns false when there is no such delivery, else {delivery fields, transition fields, endpoint fields}, each a
-- flat list of names and values; the endpoint's is empty when it was removed.
local delivery = redis.call('HGETALL', KEYS[1])
if #delivery == 0 then return false end
local transition, endpoint = redis.call('HGET', KEYS[1], 'x'), redis.call('HGET', KEYS[1], 'e')
return { delivery, redis.call('HGETALL', ARGV[1] .. 'x:' .. transition), redis.call('HGETALL', ARGV[1] .. 'e:' .. endpoint) }
`;

/** Shared by the scripts that end a delivery. */
const SETTLE_LUA = /* lua */ `
local function settle(record, prefix, status, reason, now, ttl)
  redis.call('HSET', record, 's', status, 'end', now)
  redis.call('HDEL', record, 'due')
  if reason ~= '' then redis.call('HSET', record, 'why', reason) end
  redis.call('PEXPIRE', record, ttl)
  redis.call('PEXPIRE', record .. ':a', ttl)
  local transition = redis.call('HGET', record, 'x')
  local key = prefix .. 'x:' .. transition
  if redis.call('HINCRBY', key, 'open', -1) <= 0 then
    redis.call('PEXPIRE', key, ttl)
    redis.call('ZREM', prefix .. 'open', transition)
    redis.call('ZREM', prefix .. 'owed', transition)
  end
end
`;

export const RECORD_ATTEMPT_LUA = /* lua */ `
-- Record one attempt and what follows from it. Harmless when run twice: only a pending delivery is moved on, and a
-- failed try counts only if it is the one that was decided on.
-- KEYS[1] delivery (hash)   KEYS[2] its attempts (list)   KEYS[3] its endpoint (hash)
-- ARGV[1] prefix   ARGV[2] JSON of the attempt   ARGV[3] most attempts to keep   ARGV[4] tries before this one
-- ARGV[5] 'delivered' | 'pending' | 'failed'   ARGV[6] next try (ms) or ''   ARGV[7] reason or ''
-- ARGV[8] now (ms)   ARGV[9] retention (ms)   ARGV[10] '1' when it counts for the endpoint's health
-- Returns 'recorded' | 'superseded' (another attempt moved the delivery on; this one is logged) | 'missing'.
${SETTLE_LUA}
local status = redis.call('HGET', KEYS[1], 's')
if not status then return 'missing' end
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('LTRIM', KEYS[2], -tonumber(ARGV[3]), -1)
if ARGV[10] == '1' and redis.call('EXISTS', KEYS[3]) == 1 then
  if ARGV[5] == 'delivered' then
    redis.call('HSET', KEYS[3], 'okAt', ARGV[8])
    redis.call('HDEL', KEYS[3], 'fails', 'failAt')
  else
    redis.call('HINCRBY', KEYS[3], 'fails', 1)
    redis.call('HSETNX', KEYS[3], 'failAt', ARGV[8])
  end
end
if status ~= 'pending' then
  redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
  return 'superseded'
end
if redis.call('HGET', KEYS[1], 'n') ~= ARGV[4] and ARGV[5] ~= 'delivered' then return 'superseded' end
redis.call('HINCRBY', KEYS[1], 'n', 1)
if ARGV[5] == 'pending' then
  redis.call('HSET', KEYS[1], 'due', ARGV[6])
else
  settle(KEYS[1], ARGV[1], ARGV[5], ARGV[7], ARGV[8], ARGV[9])
end
return 'recorded'
`;

export const CANCEL_DELIVERY_LUA = /* lua */ `
-- End a pending delivery that can't be made any more.
-- KEYS[1] delivery (hash)
-- ARGV[1] prefix   ARGV[2] reason   ARGV[3] now (ms)   ARGV[4] retention (ms)
-- Returns 'canceled' | 'settled' (it had ended before) | 'missing'.
${SETTLE_LUA}
local status = redis.call('HGET', KEYS[1], 's')
if not status then return 'missing' end
if status ~= 'pending' then return 'settled' end
settle(KEYS[1], ARGV[1], 'canceled', ARGV[2], ARGV[3], ARGV[4])
return 'canceled'
`;
