export const CLAIM_DUE_LUA = /* lua */ `
-- Take what is due from a list of duties, under a lease: if the taker dies, it is due again when the lease ends.
-- KEYS[1] duties (zset: transition id → due, ms)
-- ARGV[1] now (ms)   ARGV[2] lease ends (ms)   ARGV[3] at most so many   ARGV[4] prefix
-- Returns a list of {transition id, event, endpoint ids joined by commas}; a transition that is gone leaves the list.
local claimed = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])) do
  local fields = redis.call('HMGET', ARGV[4] .. 'x:' .. id, 'ev', 'eps')
  if fields[1] then
    redis.call('ZADD', KEYS[1], ARGV[2], id)
    claimed[#claimed + 1] = { id, fields[1], fields[2] }
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
-- Which of some deliveries are pending, when they are due, and whether each has a job.
-- KEYS[1..n] deliveries (hash)   KEYS[n+1..2n] their jobs in BullMQ (hash), of which only the existence is read
-- Returns a list of {index from 0, due (ms), 1 | 0}.
local pending = {}
local count = #KEYS / 2
for index = 1, count do
  local fields = redis.call('HMGET', KEYS[index], 's', 'due')
  if fields[1] == 'pending' then
    pending[#pending + 1] = { index - 1, fields[2], redis.call('EXISTS', KEYS[count + index]) }
  end
end
return pending
`;
