import { LIVE_BEFORE_REPLAYED_MS } from '../deliveries/backlog-scripts.ts';

export const READ_SHARD_STATE_LUA = /* lua */ `
-- How much waits in a shard, and for how long. Reads only, and of the backlogs only so many.
-- KEYS[1] destinations with a backlog (zset)   KEYS[2] owed (zset)   KEYS[3] open (zset)   KEYS[4] replays under way (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] backlogs looked at, at most   ARGV[4..] the BullMQ queues' key without its end
-- Returns {owed and overdue, open, replays, backlogs not looked at, for each queue {waiting, active, delayed, age of the
-- oldest due job (ms)}, for each state in the order flowing, breaker_open, on_hold {destinations, deliveries, age of the
-- one that has waited longest (ms)}}.
local prefix, now = ARGV[1], tonumber(ARGV[2])

local function waitingSince(queue, id)
  local created = tonumber(redis.call('HGET', queue .. ':' .. id, 'timestamp')) or now
  -- A retry's job may be as old as its delivery: what counts is since when it has been due.
  local due = tonumber(redis.call('HGET', prefix .. 'd:' .. id, 'due')) or created
  return math.max(created, due)
end
local queues = {}
for index = 4, #ARGV do
  local queue = ARGV[index]
  local since = now
  local oldest = redis.call('LINDEX', queue .. ':wait', -1)
  if oldest then since = math.min(since, waitingSince(queue, oldest)) end
  local delayed = redis.call('ZRANGE', queue .. ':delayed', 0, 0, 'WITHSCORES')
  -- BullMQ shifts the time by 12 bits.
  if #delayed > 0 then since = math.min(since, math.floor(tonumber(delayed[2]) / 4096)) end
  queues[#queues + 1] = {
    redis.call('LLEN', queue .. ':wait'), redis.call('LLEN', queue .. ':active'), redis.call('ZCARD', queue .. ':delayed'),
    now - since,
  }
end

local flowing, open, held = { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }
local destinations = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[3]) - 1)
for _, destination in ipairs(destinations) do
  local backlog = prefix .. 'b:' .. destination
  local count = redis.call('ZCARD', backlog)
  if count > 0 then
    local breaker = redis.call('HMGET', prefix .. 'k:' .. destination, 'open', 'hold')
    local state = flowing
    if breaker[1] == '1' then state = open elseif (tonumber(breaker[2]) or 0) > now then state = held end
    local first = redis.call('ZRANGE', backlog, 0, 0, 'WITHSCORES')
    local score, age = tonumber(first[2]), 0
    -- As \`readBacklogScore\` reads it.
    if score > 1 and score <= now then
      if score < now - ${LIVE_BEFORE_REPLAYED_MS} / 2 then score = score + ${LIVE_BEFORE_REPLAYED_MS} end
      age = math.max(0, now - score)
    end
    state[1], state[2], state[3] = state[1] + 1, state[2] + count, math.max(state[3], age)
  end
end
return {
  redis.call('ZCOUNT', KEYS[2], '-inf', now), redis.call('ZCARD', KEYS[3]), redis.call('ZCARD', KEYS[4]),
  redis.call('ZCARD', KEYS[1]) - #destinations, queues, { flowing, open, held },
}
`;
