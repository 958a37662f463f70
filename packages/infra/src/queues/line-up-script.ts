export const LINE_UP_LUA = /* lua */ `
-- Add many jobs that are due now in one go, and clear the marks "jobs owed" of the transitions that they belong to. Each becomes what
-- BullMQ's addStandardJob makes of a job with an id of its own and no data, but for the entries in its stream of events, to which
-- nobody listens.
-- KEYS[1] waiting (list)   KEYS[2] settings (hash)   KEYS[3] counter (string)   KEYS[4] active (list)   KEYS[5] marker (zset)
-- KEYS[6] owed (zset)
-- ARGV[1] prefix of the jobs' keys   ARGV[2] now (ms)
-- ARGV[3..] for each transition: its id, the score under which it is owed, name of its jobs, number n of them, n ids
-- Returns the number of jobs that were added: one that is there already, in whatever state, stays as it is.
local now = ARGV[2]
local added, index = 0, 3
while index <= #ARGV do
  local transition, mark, name = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  local first, last = index + 4, index + 3 + tonumber(ARGV[index + 3])
  local new = {}
  for position = first, last do
    local id = ARGV[position]
    local job = ARGV[1] .. id
    if redis.call('EXISTS', job) == 0 then
      redis.call('HSET', job, 'name', name, 'data', '{}', 'opts', '{"jobId":"' .. id .. '","attempts":0}',
        'timestamp', now, 'delay', '0', 'priority', '0')
      new[#new + 1] = id
    end
  end
  if last >= first then redis.call('INCRBY', KEYS[3], last - first + 1) end
  if #new > 0 then redis.call('LPUSH', KEYS[1], unpack(new)) end
  added = added + #new
  -- Unless somebody else has taken the duty over meanwhile.
  if redis.call('ZSCORE', KEYS[6], transition) == mark then redis.call('ZREM', KEYS[6], transition) end
  index = last + 1
end
if added > 0 then
  -- A worker that waits for jobs waits for this mark; a queue that is paused, or has as many jobs in work as it may, wakes nobody.
  local settings = redis.call('HMGET', KEYS[2], 'paused', 'concurrency')
  local limit = tonumber(settings[2] or '')
  if not settings[1] and (not limit or redis.call('LLEN', KEYS[4]) < limit) then redis.call('ZADD', KEYS[5], 0, '0') end
end
return added
`;
