import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { ADVANCE_LUA, LINE_LUA } from '../ordering/line-lua.ts';
import { RETAIN_LUA } from '../deliveries/retain-lua.ts';
import { ENDED_LUA } from '../logs/ended-lua.ts';
import { LOG_LUA } from '../logs/segment-lua.ts';
import { ACCOUNT_LUA, ENTRY_BYTES, ROOM_LUA } from '../keyspace/account-lua.ts';
import { WORKSPACE_TASKS_LUA } from '../keyspace/workspace-tasks-lua.ts';
import { SHARD_FIELDS } from '../stats/counter-layout.ts';
import { COUNT_LUA } from '../stats/count-lua.ts';
import { TRIM_TASKS_LUA } from '../tasks/task-store.ts';

export const ACCEPT_TRANSITIONS_LUA = /* lua */ `
-- Commit transitions, each decided on a known revision of its Task and a known version of its subscriptions: state,
-- fact, frozen body, and per endpoint a delivery, enqueued in its group. Each is committed in full or not at all,
-- whatever happens to the others. A second run, after a lost reply, finds a conflict and changes nothing.
-- KEYS[1] leases of the queue (zset): names the slot
-- ARGV[1] JSON: { prefix, recordTtl (see retain), logTtl, now (ms), limits (see takeRoom) }
-- ARGV[2n] JSON, times and durations in ms, every number a string:
--   { task, workspace, revision, newRevision, subscriptions, now, from, to (statuses), taskTtl,
--     callback (id), callbackTtl, change: [field, value, ...], sized: [fields of it that count],
--     grown: bytes of these, fact?, factValue?, isRaised? (the fact may be known, as
--     one that emitted nothing), factLimit? (most facts before this one),
--     transition?: { id, event, sequence, fields: [field, value, ...],
--       deliveries: [[delivery id, endpoint id, 'pending' | 'canceled', of an ordered one: how long it waits for its
--         turn], ...] } }
-- ARGV[2n+1] its body, or ''
-- All other keys start with prefix and are in the same slot.
-- Returns for each {'conflict'} (something changed meanwhile, the fact is known, or the Task is gone), {'full'} (of
-- facts), {'no_room', 'pending' | 'bytes' (of its workspace)}, {'accepted', deliveries canceled at once}, or {'failed', why} (Redis takes no writes, or a bug).
local common = cjson.decode(ARGV[1])
local prefix = common.prefix
${GROUP_LUA}
${ENQUEUE_LUA}
${LINE_LUA}
${ADVANCE_LUA}
${COUNT_LUA}
${ACCOUNT_LUA}
${ROOM_LUA}
${RETAIN_LUA}
${LOG_LUA}
${ENDED_LUA}
${TRIM_TASKS_LUA}
${WORKSPACE_TASKS_LUA}
local entries = {}
common.at = tonumber(common.now)
-- Subscription versions that were read and lists that were trimmed: once is enough for all transitions.
local versions, trimmed = {}, {}
-- New entries of logs, by key: time, id, ...
local logs = {}

local function logDelivery(key, now, id)
  local log = logs[key] or {}
  logs[key] = log
  log[#log + 1] = now
  log[#log + 1] = id
end

local function versionOf(workspace)
  local version = versions[workspace] or redis.call('GET', prefix .. 'w:' .. workspace .. ':version') or '0'
  versions[workspace] = version
  return version
end

-- Puts an ordered delivery, whose record is written, in its line. Returns the score at which it waits.
local function joinLine(transition, id, endpoint, timeout, now)
  local line, due = lineOf(prefix, endpoint, transition.task), tonumber(now) + tonumber(timeout)
  redis.call('ZADD', line, transition.sequence, id)
  redis.call('HSET', prefix .. 'd:' .. id, 'o', transition.sequence)
  if advance(line, tonumber(now)) == id then return USUAL + tonumber(common.now) end
  redis.call('HSET', prefix .. 'd:' .. id, 'due', due)
  return USUAL + due
end

-- findCallbackGroup: nil when the callback is disabled
local function deliver(transition, now, findCallbackGroup)
  local pending, canceled = 0, 0
  for _, delivery in ipairs(transition.deliveries) do
    local id, endpoint, status, timeout = unpack(delivery)
    local isCallback, group = endpoint == transition.callback, endpoint
    if isCallback then
      group = findCallbackGroup()
      if not group then status = 'canceled' end
    end
    local record = prefix .. 'd:' .. id
    if status == 'pending' then
      pending = pending + 1
      redis.call('HSET', record, 'x', transition.id, 'e', endpoint, 's', status, 'n', 0, 'at', now, 'due', now)
      local score = timeout and joinLine(transition, id, endpoint, timeout, now) or USUAL + tonumber(common.now)
      entries[#entries + 1] = { group, id, score, transition.workspace }
    else
      canceled = canceled + 1
      redis.call('HSET', record, 'x', transition.id, 'e', endpoint, 's', status, 'n', 0, 'at', now, 'end', now,
        'why', 'receiver_disabled')
      retain(id, now, common.recordTtl)
      logDelivery(endedLog(endpoint, transition.workspace, status), now, id)
    end
    logDelivery(prefix .. 'e:' .. endpoint .. ':log', now, id)
    if isCallback then logDelivery(prefix .. 'w:' .. transition.workspace .. ':callbacks', now, id) end
  end
  return pending, canceled
end

local function commit(input, body)
  local task = prefix .. 't:' .. input.task
  local facts, callback = task .. ':facts', prefix .. 'e:' .. input.callback
  local values = redis.call('HMGET', task, 'rev', 'b', 'leaves', 'messageBytes', 'action', 'cb', unpack(input.sized))
  if values[1] ~= input.revision then return { 'conflict' } end
  if versionOf(input.workspace) ~= input.subscriptions then return { 'conflict' } end
  local known = input.fact and redis.call('HGET', facts, input.fact)
  if known and not (input.isRaised and tonumber(known) < 1) then return { 'conflict' } end
  -- One that knows so many facts is at least so large.
  local bytes, growth = tonumber(values[2] or ''), 0
  local isLarge = input.factLimit and (not bytes or bytes >= input.factLimit * ${ENTRY_BYTES})
  if isLarge and redis.call('HLEN', facts) >= tonumber(input.factLimit) then return { 'full' } end
  local transition = input.transition
  local deliveries = transition and #transition.deliveries or 0
  local size = transition and sizeOfTransition(#body, deliveries) or 0
  -- One of a former version that nobody has counted yet counts when it is.
  if bytes then
    growth = input.grown
    for index = 7, 6 + #input.sized do growth = growth - #(values[index] or '') end
    if input.fact then
      growth = growth + (known and #input.factValue - #known or sizeOfEntry(input.fact, input.factValue))
    end
  end
  local full = takeRoom(input.workspace, deliveries, growth + size, common.limits, common.at)
  if full then return { 'no_room', full } end

  local leaves = timeToLeave(common.at, input.taskTtl)
  local stays = values[3] and tonumber(values[3]) == leaves
  if bytes then
    if values[3] then noteLeaving(input.workspace, -bytes, tonumber(values[3])) end
    bytes = bytes + growth
    noteLeaving(input.workspace, bytes, leaves)
    redis.call('HSET', task, 'upd', input.now, 'rev', input.newRevision, 'b', bytes, 'leaves', leaves,
      unpack(input.change))
  else
    redis.call('HSET', task, 'upd', input.now, 'rev', input.newRevision, unpack(input.change))
  end
  if input.fact then redis.call('HSET', facts, input.fact, input.factValue) end
  local list = prefix .. 'tasks:' .. input.to
  if input.from ~= input.to then redis.call('ZREM', prefix .. 'tasks:' .. input.from, input.task) end
  redis.call('ZADD', list, input.now, input.task)
  if not trimmed[list] then
    trimmed[list] = true
    trimTasks(list, tonumber(input.now) - tonumber(input.taskTtl))
  end
  -- The first fact makes their hash.
  if input.fact or not stays then redis.call('PEXPIREAT', facts, leaves) end
  if not stays then
    redis.call('PEXPIREAT', task, leaves)
    keepTasksUntil(input.workspace, leaves)
    if values[4] then redis.call('PEXPIREAT', task .. ':messages', leaves) end
    if values[5] then redis.call('PEXPIREAT', task .. ':decisions', leaves) end
  end
  if values[6] then redis.call('PEXPIRE', callback, input.callbackTtl) end

  if not transition then return { 'accepted', 0 } end
  transition.callback, transition.workspace, transition.task = input.callback, input.workspace, input.task
  local function findCallbackGroup()
    local facts = redis.call('HMGET', callback, 'on', 'dst')
    return facts[1] == '1' and (facts[2] or input.callback) or nil
  end
  local pending, canceled = deliver(transition, input.now, findCallbackGroup)
  local key = prefix .. 'x:' .. transition.id
  redis.call('HSET', key, 'open', pending, 'body', body, 'b', size, unpack(transition.fields))
  if pending == 0 then retainTransition(key, common.at, common.recordTtl) end
  if canceled > 0 then notePending(input.workspace, -canceled) end
  return { 'accepted', canceled }
end

local replies = {}
for index = 2, #ARGV, 2 do
  local succeeded, reply = pcall(commit, cjson.decode(ARGV[index]), ARGV[index + 1])
  replies[#replies + 1] = succeeded and reply or { 'failed', type(reply) == 'table' and reply.err or tostring(reply) }
end
for key, log in pairs(logs) do appendToLog(key, common.logTtl, log) end
enqueue(entries, tonumber(common.now))
writeAccounts()
if #entries > 0 then count(prefix .. 'stats', tonumber(common.now), { [${SHARD_FIELDS.accepted}] = #entries }) end
return replies
`;
