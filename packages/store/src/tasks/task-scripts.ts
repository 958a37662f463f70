import { COUNT_KEY_USE_LUA } from '../scripts/key-version-scripts.ts';

/** Entries of a list of Tasks that one script drops, at most: Redis does nothing else meanwhile. */
const TRIMMED_AT_ONCE = 100;

/** `trimTasks(list, before)` drops some of the Tasks of a list that have expired: those that changed last before a time (ms). */
export const TRIM_TASKS_LUA = /* lua */ `
local function trimTasks(list, before)
  local expired = redis.call('ZRANGE', list, '-inf', before, 'BYSCORE', 'LIMIT', 0, ${TRIMMED_AT_ONCE})
  if #expired > 0 then redis.call('ZREM', list, unpack(expired)) end
end
`;

export const CREATE_TASK_LUA = /* lua */ `
-- Create a Task, with its callback when it has one. A second run leaves what the first one wrote.
-- KEYS[1] Task (hash)   KEYS[2] Tasks in its status (zset)   KEYS[3] its callback (hash)
-- KEYS[4] key versions (hash)
-- ARGV[1] Task id   ARGV[2] now (ms)   ARGV[3] time to live (ms)   ARGV[4] number n of Task fields and values
-- ARGV[5] its revision   ARGV[6..n+5] Task fields   ARGV[n+6..] callback fields (none: no callback)
-- Returns 'created' (also when the client sends this very call again) | 'exists'.
${COUNT_KEY_USE_LUA}
${TRIM_TASKS_LUA}
local last = 5 + tonumber(ARGV[4])
local revision = redis.call('HGET', KEYS[1], 'rev')
if revision then return revision == ARGV[5] and 'created' or 'exists' end
redis.call('HSET', KEYS[1], unpack(ARGV, 6, last))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
-- No transition leads to this status, so that no other script trims its list.
trimTasks(KEYS[2], ARGV[2] - ARGV[3])
if #ARGV > last then
  redis.call('HSET', KEYS[3], unpack(ARGV, last + 1))
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
  countKeyUse(KEYS[4], KEYS[3], 'sec')
  countKeyUse(KEYS[4], KEYS[3], 'hdr')
end
return 'created'
`;

export const ADD_MESSAGE_LUA = /* lua */ `
-- Add context to a Task that is not closed. A second run of the same request adds nothing.
-- KEYS[1] Task (hash)   KEYS[2] its messages (list)
-- ARGV[1] JSON of the message   ARGV[2] most messages that a Task may hold   ARGV[3] most bytes of all of them
-- Returns 'added' | 'full' | 'missing' | 'done' | 'canceled'.
local status = redis.call('HGET', KEYS[1], 'status')
if not status then return 'missing' end
if redis.call('LPOS', KEYS[2], ARGV[1]) then return 'added' end
if status == 'done' or status == 'canceled' then return status end
local bytes = tonumber(redis.call('HGET', KEYS[1], 'messageBytes') or '0') + #ARGV[1]
if redis.call('LLEN', KEYS[2]) >= tonumber(ARGV[2]) or bytes > tonumber(ARGV[3]) then return 'full' end
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], 'messageBytes', bytes)
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
return 'added'
`;

export const RESOLVE_APPROVAL_LUA = /* lua */ `
-- Record a decision, made on a known revision of the Task.
-- KEYS[1] Task (hash)   KEYS[2] its decisions (hash)   KEYS[3] Tasks in the old status (zset)   KEYS[4] in the new one
-- KEYS[5] its facts (hash)   KEYS[6] its messages (list)   KEYS[7] its callback (hash)
-- ARGV[1] expected revision   ARGV[2] '<version>:<approval id>'   ARGV[3] JSON of the decision   ARGV[4] new status
-- ARGV[5] now (ms)   ARGV[6] Task id   ARGV[7] time to live (ms)   ARGV[8] new revision
-- Returns 'resolved' | 'conflict' (the Task changed meanwhile, or is gone).
if redis.call('HGET', KEYS[1], 'rev') ~= ARGV[1] then return 'conflict' end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[1], 'status', ARGV[4], 'upd', ARGV[5], 'rev', ARGV[8])
for _, index in ipairs({ 1, 2, 5, 6 }) do redis.call('PEXPIRE', KEYS[index], ARGV[7]) end
redis.call('PEXPIRE', KEYS[7], ARGV[7], 'GT')
redis.call('ZREM', KEYS[3], ARGV[6])
redis.call('ZADD', KEYS[4], ARGV[5], ARGV[6])
return 'resolved'
`;
