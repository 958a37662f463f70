export const CLAIM_DUE_LUA = /* lua */ `
-- Take what is due from a list of duties, under a lease: if the taker dies, it is due again when the lease ends.
-- KEYS[1] duties (zset: transition id, or the id of a delivery with an owed redelivery → due, ms)
-- ARGV[1] now (ms)   ARGV[2] lease ends (ms)   ARGV[3] at most so many   ARGV[4] prefix
-- Returns a list of {id, event, endpoint ids joined by commas ('' for a delivery)}; what is gone leaves the list.
local claimed = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])) do
  local transition, endpoints = id, nil
  if string.sub(id, 1, 4) == 'dlv_' then
    transition, endpoints = redis.call('HGET', ARGV[4] .. 'd:' .. id, 'x') or '', ''
  end
  local fields = redis.call('HMGET', ARGV[4] .. 'x:' .. transition, 'ev', 'eps')
  if fields[1] then
    redis.call('ZADD', KEYS[1], ARGV[2], id)
    claimed[#claimed + 1] = { id, fields[1], endpoints or fields[2] }
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
return claimed
`;

export const CLEAR_OWED_LUA = /* lua */ `
-- Clear the mark "jobs owed", unless somebody else has taken the duty over meanwhile.
-- KEYS[1] owed (zset)
-- ARGV[1] transition id   ARGV[2] the score under which the duty was taken
-- Returns 1 when cleared, else 0.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
`;

export const FIND_PENDING_LUA = /* lua */ `
-- Which of some deliveries have something to do, when it is due, and whether each has a job or a place in a backlog.
-- KEYS[1..n] deliveries (hash)   KEYS[n+1..2n] their jobs in BullMQ (hash), of which only the existence is read
-- ARGV[1] prefix   ARGV[2..n+1] delivery ids
-- Returns a list of {index from 0, due (ms), 1 | 0 has a job, 1 | 0 waits in a backlog}.
local pending = {}
local count = #KEYS / 2
for index = 1, count do
  local fields = redis.call('HMGET', KEYS[index], 's', 'due', 'owe', 'e', 'at')
  if fields[1] == 'pending' or fields[3] then
    local destination = redis.call('HGET', ARGV[1] .. 'e:' .. fields[4], 'dst') or ''
    local waits = redis.call('ZSCORE', ARGV[1] .. 'b:' .. destination, ARGV[index + 1])
    local due = not fields[3] and fields[2] or fields[5]
    pending[#pending + 1] = { index - 1, due, redis.call('EXISTS', KEYS[count + index]), waits and 1 or 0 }
  end
end
return pending
`;
