import { ACCOUNT_LUA, ROOM_LUA } from '../keyspace/account-lua.ts';
import { WORKSPACE_TASKS_LUA } from '../keyspace/workspace-tasks-lua.ts';
import { COUNT_KEY_USE_LUA } from '../redis/key-version-scripts.ts';

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
-- ARGV[1] JSON: { prefix, workspace, id, revision, bytes (that it takes), at (of its last
--   change, ms), now (ms), ttl (ms), limits (see takeRoom),
--   fields: n }   ARGV[2..n+1] Task fields   ARGV[n+2..] callback fields (none: no callback)
-- Returns {'created'} (also when the client sends this very call again) | {'exists'}
-- | {'no_room', 'pending' | 'bytes' (of its workspace)}.
local task = cjson.decode(ARGV[1])
local prefix, last = task.prefix, 1 + task.fields
${COUNT_KEY_USE_LUA}
${TRIM_TASKS_LUA}
${ACCOUNT_LUA}
${ROOM_LUA}
${WORKSPACE_TASKS_LUA}
local revision = redis.call('HGET', KEYS[1], 'rev')
if revision then return { revision == task.revision and 'created' or 'exists' } end
local pending = task.limits.pending > 0 and redis.call('ZSCORE', prefix .. 'pending', task.workspace)
if pending and tonumber(pending) >= task.limits.pending then return { 'no_room', 'pending' } end
local full = takeRoom(task.workspace, 0, task.bytes, task.limits, task.now)
if full then return { 'no_room', full } end
local leaves = timeToLeave(task.now, task.ttl)
redis.call('HSET', KEYS[1], 'b', task.bytes, 'leaves', leaves, unpack(ARGV, 2, last))
redis.call('PEXPIREAT', KEYS[1], leaves)
redis.call('ZADD', KEYS[2], task.at, task.id)
local ofWorkspace = prefix .. 'w:' .. task.workspace .. ':tasks'
dropGone(ofWorkspace, task.now)
redis.call('ZADD', ofWorkspace, task.at, task.id)
keepTasksUntil(task.workspace, leaves)
-- No transition leads to this status, so that no other script trims its list.
trimTasks(KEYS[2], task.at - task.ttl)
if #ARGV > last then
  redis.call('HSET', KEYS[3], unpack(ARGV, last + 1))
  redis.call('PEXPIREAT', KEYS[3], leaves)
  countKeyUse(KEYS[4], KEYS[3], 'sec')
  countKeyUse(KEYS[4], KEYS[3], 'hdr')
end
noteLeaving(task.workspace, task.bytes, leaves)
writeAccounts()
return { 'created' }
`;

export const ADD_MESSAGE_LUA = /* lua */ `
-- Add context to a Task that is not closed. A second run of the same request adds nothing.
-- KEYS[1] Task (hash)   KEYS[2] its messages (list)
-- ARGV[1] JSON of the message   ARGV[2] most messages that a Task may hold   ARGV[3] most bytes of all of them
-- ARGV[4] prefix   ARGV[5] now (ms)   ARGV[6] most bytes that its workspace may hold, 0: no limit
-- Returns 'added' | 'full' | 'missing' | 'done' | 'canceled' | 'no_room' (its workspace holds too much).
local prefix = ARGV[4]
${ACCOUNT_LUA}
${ROOM_LUA}
local status, workspace, counted, leaves = unpack(redis.call('HMGET', KEYS[1], 'status', 'ws', 'b', 'leaves'))
if not status then return 'missing' end
if redis.call('LPOS', KEYS[2], ARGV[1]) then return 'added' end
if status == 'done' or status == 'canceled' then return status end
local bytes = tonumber(redis.call('HGET', KEYS[1], 'messageBytes') or '0') + #ARGV[1]
if redis.call('LLEN', KEYS[2]) >= tonumber(ARGV[2]) or bytes > tonumber(ARGV[3]) then return 'full' end
local size = sizeOfEntry('', ARGV[1])
if counted and takeRoom(workspace, 0, size, { bytes = tonumber(ARGV[6]) }, tonumber(ARGV[5])) then return 'no_room' end
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], 'messageBytes', bytes)
redis.call('PEXPIREAT', KEYS[2], redis.call('PEXPIRETIME', KEYS[1]))
if counted then
  redis.call('HSET', KEYS[1], 'b', counted + size)
  noteLeaving(workspace, size, tonumber(leaves))
  writeAccounts()
end
return 'added'
`;

export const RESOLVE_APPROVAL_LUA = /* lua */ `
-- Record a decision, made on a known revision of the Task.
-- KEYS[1] Task (hash)   KEYS[2] its decisions (hash)   KEYS[3] Tasks in the old status (zset)   KEYS[4] in the new one
-- KEYS[5] its facts (hash)   KEYS[6] its messages (list)   KEYS[7] its callback (hash)
-- ARGV[1] expected revision   ARGV[2] '<version>:<approval id>'   ARGV[3] JSON of the decision   ARGV[4] new status
-- ARGV[5] when (ms)   ARGV[6] Task id   ARGV[7] time to live (ms)   ARGV[8] new revision   ARGV[9] prefix   ARGV[10] now (ms)
-- Returns 'resolved' | 'conflict' (the Task changed meanwhile, or is gone).
local prefix = ARGV[9]
${ACCOUNT_LUA}
${WORKSPACE_TASKS_LUA}
local known = redis.call('HMGET', KEYS[1], 'rev', 'ws', 'b', 'leaves')
if known[1] ~= ARGV[1] then return 'conflict' end
local before, leaves = redis.call('HGET', KEYS[2], ARGV[2]), timeToLeave(ARGV[10], ARGV[7])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[1], 'status', ARGV[4], 'upd', ARGV[5], 'rev', ARGV[8], 'leaves', leaves)
if known[3] then
  local size = sizeOfEntry(ARGV[2], ARGV[3]) - (before and sizeOfEntry(ARGV[2], before) or 0)
  redis.call('HSET', KEYS[1], 'b', known[3] + size)
  noteBytes(known[2], size)
  if known[4] then noteLeaving(known[2], -known[3], tonumber(known[4])) end
  noteLeaving(known[2], known[3] + size, leaves)
  writeAccounts()
end
for _, index in ipairs({ 1, 2, 5, 6 }) do redis.call('PEXPIREAT', KEYS[index], leaves) end
keepTasksUntil(known[2], leaves)
redis.call('PEXPIREAT', KEYS[7], leaves, 'GT')
redis.call('ZREM', KEYS[3], ARGV[6])
redis.call('ZADD', KEYS[4], ARGV[5], ARGV[6])
return 'resolved'
`;
