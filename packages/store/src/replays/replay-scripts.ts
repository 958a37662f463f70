import { DEFAULT_ORDERING_TIMEOUT_MS } from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { ADVANCE_LUA, LINE_LUA } from '../ordering/line-lua.ts';
import { ACCOUNT_LUA, NO_ROOM_LUA, ROOM_LUA } from '../keyspace/account-lua.ts';
import { RESTORE_LUA } from '../deliveries/restore-lua.ts';
import { LOCK_LUA } from '../endpoints/endpoint-patch.ts';
import { ENDED_LUA } from '../logs/ended-lua.ts';
import { READ_LOG_LUA } from '../logs/read-log-lua.ts';
import { LOG_LUA } from '../logs/segment-lua.ts';
import { REPLAY_ORDER_LUA } from './replay-order-lua.ts';

export const CREATE_REPLAY_LUA = /* lua */ `
-- Record what is to be replayed, for a worker to carry out. A second run leaves what the first one wrote.
-- KEYS[1] replay (hash)   KEYS[2] replays under way (zset)   KEYS[3] endpoint (hash)
-- KEYS[4] the workspace's replays that were under way at the last check (zset)
-- ARGV[1] replay id   ARGV[2] now (ms)   ARGV[3] workspace id   ARGV[4] endpoint id   ARGV[5] since (ms)
-- ARGV[6] until (ms, exclusive)   ARGV[7] statuses, joined by commas   ARGV[8] prefix   ARGV[9] limit of the workspace
-- ARGV[10] deliveries in the log
-- Returns {'created'} | {'missing'} | {'disabled'} | {'full'} | {'locked', reason of the lock, '' for none}.
${LOCK_LUA}
local endpoint = redis.call('HMGET', KEYS[3], 'ws', 'on')
if endpoint[1] ~= ARGV[3] then return { 'missing' } end
if redis.call('EXISTS', KEYS[1]) == 1 then return { 'created' } end
if endpoint[2] ~= '1' then
  local lock = lockOf(KEYS[3])
  return lock and { 'locked', lock } or { 'disabled' }
end
if redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[9]) then
  -- Checked here and not where a replay ends: that happens in several scripts.
  for _, id in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
    if redis.call('HGET', ARGV[8] .. 'r:' .. id, 's') ~= 'running' then redis.call('ZREM', KEYS[4], id) end
  end
  if redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[9]) then return { 'full' } end
end
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[1], 'ws', ARGV[3], 'e', ARGV[4], 'since', ARGV[5], 'until', ARGV[6], 'statuses', ARGV[7],
  's', 'running', 'at', ARGV[2], 'total', ARGV[10], 'seen', 0, 'replayed', 0)
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return { 'created' }
`;

export const STEP_REPLAY_LUA = /* lua */ `
-- Carry a replay on by one step. The deliveries that it sets pending and the replay's progress are written together: a
-- crash repeats or skips nothing, and two workers at the same replay do each step once. If the endpoint asks for order,
-- they wait for their turn. With history, the caller looks for the deliveries, and what has left Redis comes back.
-- KEYS[1] replay (hash)   KEYS[2] replays under way (zset)
-- ARGV[1] prefix   ARGV[2] replay id   ARGV[3] now (ms)   ARGV[4] deliveries looked at in one step
-- ARGV[5] most deliveries of the group that may be due   ARGV[6] time to live of a finished replay (ms)
-- ARGV[7] JSON of limits, see takeRoom; isRefused: Redis is too full for its workspace
-- ARGV[8] with history only: JSON of { lastAt, lastId ('' before the first step), total? (deliveries in history alone),
--   entries: [{ id, at, isGone? (neither has it), past? (see RESTORE_LUA), body? (its place in ARGV) }, ...] }, at most
--   ARGV[4] entries; fewer are the last ones   ARGV[9..] bodies
-- Returns {'stepped' | 'wait' (others must go first, its workspace is full, or what was found has changed: look again) | 'ended',
-- deliveries set pending}. While its workspace is full, 'full' of the replay says of what.
local prefix, now = ARGV[1], ARGV[3]
${GROUP_LUA}
${ENQUEUE_LUA}
${LINE_LUA}
${ADVANCE_LUA}
${REPLAY_ORDER_LUA}
${ACCOUNT_LUA}
${ROOM_LUA}
${NO_ROOM_LUA}
${LOG_LUA}
${ENDED_LUA}
${RESTORE_LUA}
${READ_LOG_LUA}
local replay = {}
local flat = redis.call('HGETALL', KEYS[1])
for index = 1, #flat, 2 do replay[flat[index]] = flat[index + 1] end

local function finish(status, count)
  redis.call('HSET', KEYS[1], 's', status, 'end', now)
  redis.call('HDEL', KEYS[1], 'full')
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
  redis.call('ZREM', KEYS[2], ARGV[2])
  return { 'ended', count }
end
if replay.s ~= 'running' then
  redis.call('ZREM', KEYS[2], ARGV[2])
  return { 'ended', 0 }
end
local endpoint = redis.call('HMGET', prefix .. 'e:' .. replay.e, 'on', 'ord', 'ordTo')
if endpoint[1] ~= '1' then return finish('stopped', 0) end
local limits = cjson.decode(ARGV[7])
if limits.isRefused then
  redis.call('HSET', KEYS[1], 'full', 'memory')
  return { 'wait', 0 }
end
-- What waits for its turn, or for its next try, delays nobody.
local group = groupOf(replay.e)
if countDue(group, now) > tonumber(ARGV[5]) then
  if replay.full then redis.call('HDEL', KEYS[1], 'full') end
  return { 'wait', 0 }
end

-- The step begins after the last delivery looked at. Those of its own millisecond come in the order of their ids.
local limit = tonumber(ARGV[4])
local function findInLog()
  local log, last = prefix .. 'e:' .. replay.e .. ':log', nil
  if replay.lastAt then last = { at = replay.lastAt, id = replay.lastId } end
  local found = readLog(log, false, replay.lastAt or replay.since, '(' .. replay['until'], last, limit)
  if not found then return nil end
  table.sort(found, function(a, b)
    local first, second = tonumber(a.at), tonumber(b.at)
    return first < second or (first == second and a.id < b.id)
  end)
  return { unpack(found, 1, math.min(limit, #found)) }
end

local given = ARGV[8] and cjson.decode(ARGV[8])
if given then
  if (replay.lastAt or '') ~= given.lastAt or (replay.lastId or '') ~= given.lastId then return { 'wait', 0 } end
  for _, entry in ipairs(given.entries) do
    -- It has left Redis since it was looked at: history has it now.
    local isPresent = redis.call('EXISTS', prefix .. 'd:' .. entry.id) == 1
    if not isPresent and not entry.isGone and not entry.past then return { 'wait', 0 } end
    entry.isPast = not isPresent
  end
end
local found = given and given.entries or findInLog()
if not found then return { 'stepped', 0 } end
local entries, replayedIds = {}, {}
local timeout = tonumber(endpoint[3] or '') or ${DEFAULT_ORDERING_TIMEOUT_MS}
local join, settleTurns = createReplayOrder(replay.e, timeout, tonumber(now))
local function isReplayed(facts)
  if not facts[1] or not string.find(',' .. replay.statuses .. ',', ',' .. facts[1] .. ',', 1, true) then return false end
  local transition = prefix .. 'x:' .. facts[2]
  return redis.call('HEXISTS', transition, 'body') == 1 and redis.call('HGET', transition, 'ev') ~= 'webhook.test'
end
local seen, replayed, restored, lastAt, lastId, full = 0, 0, 0, replay.lastAt, replay.lastId, nil
for _, entry in ipairs(found) do
  local id, record = entry.id, prefix .. 'd:' .. entry.id
  local past, body = entry.isPast and entry.past, ARGV[entry.body or 0] or ''
  local facts, bytes = redis.call('HMGET', record, 's', 'x', 'o', 'owe'), 0
  local wanted = past or isReplayed(facts)
  if past and redis.call('HEXISTS', prefix .. 'x:' .. past.transition, 'ev') == 0 then
    bytes = sizeOfTransition(#body, past.deliveries)
  end
  full = wanted and findNoRoom(replay.ws, replayed + 1, restored + bytes, limits, now)
  if full then break end
  seen, restored, lastAt, lastId = seen + 1, restored + bytes, entry.at, id
  if past then
    restore(past, body, now)
    facts = redis.call('HMGET', record, 's', 'x', 'o', 'owe')
    wanted = isReplayed(facts)
  end
  if wanted then
    local transition = prefix .. 'x:' .. facts[2]
    replayed = replayed + 1
    -- One that is owed and doesn't wait is in work: it is enqueued when its attempt is recorded.
    if not facts[4] or isWaiting(group, id) then replayedIds[#replayedIds + 1] = id end
    redis.call('HSET', record, 's', 'pending', 'n', 0, 'from', now, 'due', now)
    redis.call('HDEL', record, 'end', 'why', 'o', 'rel')
    if endpoint[2] then join(id, facts[3], transition) end
    forgetEnded({ id = id, endpoint = replay.e, workspace = replay.ws, status = facts[1], at = entry.at })
    if facts[1] == 'failed' then redis.call('ZREM', prefix .. 'failed', id) end
    redis.call('HINCRBY', transition, 'open', 1)
    if redis.call('HEXISTS', transition, 'b') == 1 then notePending(replay.ws, 1) end
    for _, key in ipairs({ record, record .. ':a' }) do redis.call('PERSIST', key) end
    leaveAt(transition, nil)
  end
end
if full and seen == 0 then
  redis.call('HSET', KEYS[1], 'full', full)
  writeAccounts()
  return { 'wait', 0 }
end
local dueAt = settleTurns()
for _, id in ipairs(replayedIds) do
  entries[#entries + 1] = { group, id, BACKGROUND + (dueAt[id] or now), replay.ws }
end
-- One that ended without its lease may still wait.
enqueue(entries, tonumber(now), 'NX')
writeAccounts()
if full then redis.call('HSET', KEYS[1], 'full', full) elseif replay.full then redis.call('HDEL', KEYS[1], 'full') end
redis.call('HINCRBY', KEYS[1], 'seen', seen)
redis.call('HINCRBY', KEYS[1], 'replayed', replayed)
if given then
  -- What is in both was counted twice, and of very many not all were counted: in the end, all were looked at.
  local total, all = redis.call('HINCRBY', KEYS[1], 'total', given.total or 0), redis.call('HGET', KEYS[1], 'seen')
  if (seen < limit and not full) or tonumber(all) > total then redis.call('HSET', KEYS[1], 'total', all) end
end
if seen < limit and not full then return finish('done', replayed) end
redis.call('HSET', KEYS[1], 'lastAt', lastAt, 'lastId', lastId)
return { full and 'wait' or 'stepped', replayed }
`;

export const STOP_REPLAY_LUA = /* lua */ `#!lua flags=allow-oom
-- Stop a replay. The deliveries that it has already set pending are still sent.
-- KEYS[1] replay (hash)   KEYS[2] replays under way (zset)
-- ARGV[1] replay id   ARGV[2] workspace id   ARGV[3] now (ms)   ARGV[4] time to live of a finished replay (ms)
-- Returns 'stopped' | 'ended' (it had ended before) | 'missing'.
local facts = redis.call('HMGET', KEYS[1], 'ws', 's')
if facts[1] ~= ARGV[2] then return 'missing' end
if facts[2] ~= 'running' then return 'ended' end
redis.call('HSET', KEYS[1], 's', 'stopped', 'end', ARGV[3])
redis.call('HDEL', KEYS[1], 'full')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZREM', KEYS[2], ARGV[1])
return 'stopped'
`;
