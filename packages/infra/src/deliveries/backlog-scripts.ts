import { END_JOB_LUA } from '../queues/end-job-script.ts';
import { LOAD_LUA } from './delivery-scripts.ts';

/**
 * Where a delivery stands in its backlog, as its score. A score in the future is a lease: not to be taken before. What is
 * replayed stands at the time of its replay; what is live stands so far before that no replay delays it.
 */
export const LIVE_BEFORE_REPLAYED_MS = 1e12;

export function liveScore(now: number): number {
  return now - LIVE_BEFORE_REPLAYED_MS;
}

/** Since when what has this score has waited (epoch ms); undefined while it is in work, or goes first at somebody's request. */
export function readBacklogScore(score: number, now: number): number | undefined {
  if (score <= URGENT || score > now) return undefined;
  // Halfway between the two kinds, so that neither clocks that differ nor a long wait make one look like the other.
  return score < now - LIVE_BEFORE_REPLAYED_MS / 2 ? score + LIVE_BEFORE_REPLAYED_MS : score;
}

/** The score of what goes before everything else, and through an open breaker: a redelivery that somebody asked for. */
const URGENT = 1;

export const PUT_IN_BACKLOG_LUA = /* lua */ `
-- Let a delivery wait for its destination outside BullMQ.
-- KEYS[1] backlog (zset: delivery id → visible from, ms)   KEYS[2] destinations with a backlog (zset: id → look again, ms)
-- ARGV[1] delivery id   ARGV[2] its score   ARGV[3] destination id   ARGV[4] look again (ms)   ARGV[5] '1' when urgent
-- ARGV[6] now (ms)   ARGV[7] prefix of the jobs' keys, or '' when it has none that is to end   ARGV[8] token of its job's lock
-- Returns 1 when its job has ended with it, else 0. What is under a lease is in work, and stays so: whoever has it sees
-- afterwards that another attempt is owed.
${END_JOB_LUA}
if ARGV[5] ~= '1' then
  redis.call('ZADD', KEYS[2], 'LT', ARGV[4], ARGV[3])
  redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
elseif (tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1])) or 0) <= tonumber(ARGV[6]) then
  redis.call('ZADD', KEYS[2], 'LT', ARGV[6], ARGV[3])
  redis.call('ZADD', KEYS[1], ${URGENT}, ARGV[1])
end
return ARGV[7] == '' and 0 or endJob(ARGV[7], ARGV[1], ARGV[8])
`;

export const LEAVE_BACKLOG_LUA = /* lua */ `
-- Take a delivery out of a backlog once it is settled or waits as a job. One that is neither stays, and comes again: its
-- job could not be added because an earlier one of the same id was just ending, or a replay or a redelivery came right now.
-- KEYS[1] backlog (zset: delivery id → visible from, ms)   KEYS[2] destinations with a backlog (zset: id → look again, ms)
-- KEYS[3] delivery (hash)   KEYS[4] its job (hash)   KEYS[5] jobs in work (list)
-- ARGV[1] delivery id   ARGV[2] destination id   ARGV[3] when one that stays comes again (ms)
-- Returns 1 when it left, 0 when it stays.
local facts = redis.call('HMGET', KEYS[3], 's', 'owe')
local isUnfinished = facts[1] == 'pending' or facts[2]
local hasWaitingJob = redis.call('EXISTS', KEYS[4]) == 1 and not redis.call('LPOS', KEYS[5], ARGV[1])
if isUnfinished and not hasWaitingJob then
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
  redis.call('ZADD', KEYS[2], 'LT', ARGV[3], ARGV[2])
  return 0
end
redis.call('ZREM', KEYS[1], ARGV[1])
return 1
`;

export const TAKE_FROM_BACKLOG_LUA = /* lua */ `
-- Take the next deliveries of a destination, under a lease: if their taker dies, they are visible again when the lease ends.
-- An open breaker lets one at a time through, as a probe, under the same lease.
-- KEYS[1] backlog (zset: delivery id → visible from, ms)   KEYS[2] destinations with a backlog (zset: id → look again, ms)
-- KEYS[3] breaker (hash)
-- ARGV[1] now (ms)   ARGV[2] lease ends (ms)   ARGV[3] destination id   ARGV[4] when another worker may join in (ms)
-- ARGV[5] most deliveries   ARGV[6] key prefix of the shard
-- Returns {'taken', 1 | 0 as a probe, {id, what load returns for it, or false when that fails: a bug}...} | {'wait'} | {'empty'}.
${LOAD_LUA}
local now, limit = tonumber(ARGV[1]), tonumber(ARGV[5])
local function lookAgain(at)
  redis.call('ZADD', KEYS[2], at, ARGV[3])
  return { 'wait' }
end
local first = redis.call('ZRANGE', KEYS[1], 0, limit - 1, 'WITHSCORES')
if #first == 0 then
  redis.call('ZREM', KEYS[2], ARGV[3])
  return { 'empty' }
end
if tonumber(first[2]) > now then return lookAgain(tonumber(first[2])) end
local breaker = redis.call('HMGET', KEYS[3], 'open', 'probe', 'hold')
local open = breaker[1] == '1'
-- Until when all wait that nobody asked for.
local waitUntil = math.max(tonumber(breaker[3]) or 0, open and tonumber(breaker[2]) or 0)
if tonumber(first[2]) ~= ${URGENT} and waitUntil > now then return lookAgain(waitUntil) end
if open then
  limit = 1
  redis.call('HSET', KEYS[3], 'probe', ARGV[2])
end
local reply = { 'taken', open and 1 or 0 }
for index = 1, math.min(2 * limit, #first), 2 do
  local id, visibleFrom = first[index], tonumber(first[index + 1])
  if visibleFrom > now or (visibleFrom ~= ${URGENT} and waitUntil > now) then break end
  redis.call('ZADD', KEYS[1], ARGV[2], id)
  local succeeded, row = pcall(load, ARGV[6], id)
  reply[#reply + 1] = { id, succeeded and row }
end
redis.call('ZADD', KEYS[2], 'LT', ARGV[4], ARGV[3])
return reply
`;

export const RELEASE_PROBE_LUA = /* lua */ `
-- End the lease of a probe that never went out, such as one whose delivery was canceled meanwhile.
-- KEYS[1] breaker (hash)
-- ARGV[1] now (ms)
-- Returns 1 when the breaker is open, else 0.
if redis.call('HGET', KEYS[1], 'open') ~= '1' then return 0 end
redis.call('HSET', KEYS[1], 'probe', ARGV[1])
return 1
`;
