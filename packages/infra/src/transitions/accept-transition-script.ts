export const ACCEPT_TRANSITION_LUA = /* lua */ `
-- Commit a transition that was decided on a known revision of its Task and a known version of its subscriptions:
-- state, fact, frozen body, one record per endpoint, and the mark that their jobs are owed. All of it or nothing.
-- KEYS[1] Task (hash)   KEYS[2] its facts (hash)   KEYS[3] subscription version (string)
-- KEYS[4] Tasks in the old status (zset)   KEYS[5] Tasks in the new status (zset)
-- KEYS[6] owed (zset)   KEYS[7] open (zset)   KEYS[8] its callback (hash)
-- ARGV[1] JSON, times and durations in ms, every number a string:
--   { prefix, revision, newRevision, subscriptions, now, taskId, sequence, taskTtl, callbackTtl, recordTtl, logTtl, owedAt, auditAt, backlogScore,
--     change: [field, value, ...], fact?, factLimit? (most facts before this one),
--     transition?: { id, callback, fields: [field, value, ...], deliveries: [[delivery id, endpoint id,
--     'pending' | 'canceled', destination id], ...] } }
-- ARGV[2] the body, or ''
-- Keys of deliveries and logs are made of prefix: their number varies, their slot is the same.
-- Returns {'conflict'} (something changed meanwhile, or the Task is gone), {'full'} (the Task knows too many facts), or
-- {'accepted', number of deliveries that were canceled at once, delivery id, ...}: the ids of those that joined their
-- destination's backlog and need no job.
local input = cjson.decode(ARGV[1])
if redis.call('HGET', KEYS[1], 'rev') ~= input.revision then return { 'conflict' } end
if (redis.call('GET', KEYS[3]) or '0') ~= input.subscriptions then return { 'conflict' } end
if input.factLimit and redis.call('HLEN', KEYS[2]) >= tonumber(input.factLimit) then return { 'full' } end

redis.call('HSET', KEYS[1], 'upd', input.now, 'rev', input.newRevision, unpack(input.change))
if input.fact then redis.call('HSET', KEYS[2], input.fact, input.sequence) end
redis.call('ZREM', KEYS[4], input.taskId)
redis.call('ZADD', KEYS[5], input.now, input.taskId)
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', tonumber(input.now) - tonumber(input.taskTtl))
for _, key in ipairs({ KEYS[1], KEYS[2], KEYS[1] .. ':messages', KEYS[1] .. ':decisions' }) do
  redis.call('PEXPIRE', key, input.taskTtl)
end
redis.call('PEXPIRE', KEYS[8], input.callbackTtl)

local transition = input.transition
local reply = { 'accepted', 0 }
if not transition then return reply end
local pending = 0
for _, delivery in ipairs(transition.deliveries) do
  local id, endpoint, status = delivery[1], delivery[2], delivery[3]
  if endpoint == transition.callback and redis.call('HGET', KEYS[8], 'on') ~= '1' then status = 'canceled' end
  local record = input.prefix .. 'd:' .. id
  if status == 'pending' then
    pending = pending + 1
    redis.call('HSET', record, 'x', transition.id, 'e', endpoint, 's', status, 'n', 0, 'at', input.now, 'due', input.now)
    local backlog = input.prefix .. 'b:' .. delivery[4]
    -- What is in work there is no reason to wait: there may be room beside it.
    if redis.call('ZCOUNT', backlog, '-inf', input.now) > 0 then
      redis.call('ZADD', backlog, input.backlogScore, id)
      reply[#reply + 1] = id
    end
  else
    reply[2] = reply[2] + 1
    redis.call('HSET', record, 'x', transition.id, 'e', endpoint, 's', status, 'n', 0, 'at', input.now, 'end', input.now,
      'why', 'receiver_disabled')
    redis.call('PEXPIRE', record, input.recordTtl)
  end
  local log = input.prefix .. 'e:' .. endpoint .. ':log'
  redis.call('ZADD', log, input.now, id)
  redis.call('ZREMRANGEBYSCORE', log, '-inf', tonumber(input.now) - tonumber(input.logTtl))
  redis.call('PEXPIRE', log, input.logTtl)
end
local key = input.prefix .. 'x:' .. transition.id
redis.call('HSET', key, 'open', pending, 'body', ARGV[2], unpack(transition.fields))
if pending > 0 then
  redis.call('ZADD', KEYS[6], input.owedAt, transition.id)
  redis.call('ZADD', KEYS[7], input.auditAt, transition.id)
else
  redis.call('PEXPIRE', key, input.recordTtl)
end
return reply
`;
