/**
 * For scripts that add jobs themselves: `lineUp(keys, prefix, jobs)`. Each job becomes what BullMQ's addStandardJob makes of one that is due
 * now and has an id of its own and no data, but for the entries in its stream of events, to which nobody listens.
 */
export const LINE_UP_LUA = /* lua */ `
-- keys: waiting (list), settings (hash), counter (string), active (list), marker (zset)
-- prefix: of the jobs' keys   jobs: list of {id, name, now (ms)}
-- A job that is there already, in whatever state, stays as it is.
local function lineUp(keys, prefix, jobs)
  if #jobs == 0 then return end
  local new = {}
  for _, job in ipairs(jobs) do
    local id, key = job[1], prefix .. job[1]
    if redis.call('EXISTS', key) == 0 then
      redis.call('HSET', key, 'name', job[2], 'data', '{}', 'opts', '{"jobId":"' .. id .. '","attempts":0}',
        'timestamp', job[3], 'delay', '0', 'priority', '0')
      new[#new + 1] = id
    end
  end
  redis.call('INCRBY', keys[3], #jobs)
  if #new == 0 then return end
  redis.call('LPUSH', keys[1], unpack(new))
  -- A worker that waits for jobs waits for this mark; a queue that is paused, or has as many jobs in work as it may, wakes nobody.
  local settings = redis.call('HMGET', keys[2], 'paused', 'concurrency')
  local limit = tonumber(settings[2] or '')
  if not settings[1] and (not limit or redis.call('LLEN', keys[4]) < limit) then redis.call('ZADD', keys[5], 0, '0') end
end
`;
