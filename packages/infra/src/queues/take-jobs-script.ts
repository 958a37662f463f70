import { LOAD_LUA } from '../deliveries/delivery-scripts.ts';
import { DELAYED_SCORE_FACTOR } from './delivery-queue.ts';

/** Delayed jobs that one take makes wait in line at most: Redis does nothing else meanwhile. */
const MOST_PROMOTED = 100;

export const TAKE_JOBS_LUA = /* lua */ `
-- Let delayed jobs that are due wait in line, and take jobs out of it, each with what its attempt needs: what BullMQ's moveToActive does with
-- those that have no priority and are not limited, but for the entries in its stream of events, to which nobody listens.
-- KEYS[1] waiting (list)   KEYS[2] active (list)   KEYS[3] settings (hash)   KEYS[4] delayed (zset)   KEYS[5] prioritized (zset)
-- KEYS[6] marker (zset)
-- ARGV[1] prefix of the shard   ARGV[2] prefix of the jobs' keys   ARGV[3] most jobs   ARGV[4] now (ms)   ARGV[5] token of the locks
-- ARGV[6] their time (ms)
-- Keys of one slot are made of the prefixes: their number varies.
-- Returns {'other'} where there is something that only BullMQ knows how to do (a limit, a pause, priorities), and changed nothing, or
-- {'taken', jobs, 1 | 0 the line is empty now, when the next delayed job is due (ms) or 0}, each job as {id, name, when it was added (ms), times it
-- was started, ended, stalled, why it is to fail unseen, what load returns for its delivery, or false when that fails: a bug}.
${LOAD_LUA}
local prefix, jobPrefix, limit, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local settings = redis.call('HMGET', KEYS[3], 'paused', 'concurrency', 'max', 'duration')
if settings[1] or settings[2] or settings[3] then return { 'other' } end
if redis.call('EXISTS', KEYS[5]) == 1 then return { 'other' } end
local due = redis.call('ZRANGEBYSCORE', KEYS[4], 0, (now + 1) * ${DELAYED_SCORE_FACTOR} - 1, 'LIMIT', 0, ${MOST_PROMOTED})
for _, id in ipairs(due) do
  if (tonumber(redis.call('HGET', jobPrefix .. id, 'priority')) or 0) ~= 0 then return { 'other' } end
end
for _, id in ipairs(due) do
  redis.call('ZREM', KEYS[4], id)
  redis.call('LPUSH', KEYS[1], id)
  redis.call('HSET', jobPrefix .. id, 'delay', 0)
end

local jobs = {}
while #jobs < limit do
  local id = redis.call('RPOPLPUSH', KEYS[1], KEYS[2])
  if not id then break end
  local key = jobPrefix .. id
  redis.call('SET', key .. ':lock', ARGV[5], 'PX', ARGV[6])
  redis.call('HSET', key, 'processedOn', ARGV[4])
  redis.call('HINCRBY', key, 'ats', 1)
  local job = redis.call('HMGET', key, 'name', 'timestamp', 'ats', 'atm', 'stc', 'defa')
  local succeeded, row = pcall(load, prefix, id)
  jobs[#jobs + 1] = { id, job[1], job[2], job[3], job[4], job[5], job[6], succeeded and row }
end
-- Whoever waits for jobs waits for this mark: it stays as long as there are some.
local isEmpty = redis.call('EXISTS', KEYS[1]) == 0
if isEmpty then redis.call('ZREM', KEYS[6], '0') else redis.call('ZADD', KEYS[6], 0, '0') end
local delayed = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
local nextAt = delayed[2] and math.floor(tonumber(delayed[2]) / ${DELAYED_SCORE_FACTOR}) or 0
return { 'taken', jobs, isEmpty and 1 or 0, nextAt }
`;
