import { PLATFORM } from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { LOCK_LUA } from '../endpoints/endpoint-patch.ts';
import { GROUP_OF_LUA } from '../keys/groups.ts';
import { ACCOUNT_LUA, NO_ROOM_LUA, ROOM_LUA } from '../keyspace/account-lua.ts';
import { ENDED_LUA } from '../logs/ended-lua.ts';
import { LOG_LUA } from '../logs/segment-lua.ts';
import { RESTORE_LUA } from './restore-lua.ts';

export const REDELIVER_LUA = /* lua */ `
-- Ask for one more attempt of a delivery, and enqueue it before all others of its group. A delivery that is in work, or
-- waits as a test event, is enqueued when that attempt is recorded. One that has left Redis comes back in this step.
-- KEYS[1] delivery (hash)
-- ARGV[1] prefix   ARGV[2] delivery id   ARGV[3] workspace id   ARGV[4] now (ms)
-- ARGV[5] JSON of limits, see takeRoom
-- ARGV[6] of one that Redis may lack: JSON of it, see RESTORE_LUA   ARGV[7] its body, '' for none
-- Returns {'pending', event} | {'missing'} | {'removed'} (its endpoint is gone) | {'disabled', endpoint id}
-- | {'locked', endpoint id, reason of the lock, '' for none} | {'erased'} (its body is) | {'not_kept'} (so is its body)
-- | {'no_room', 'pending' | 'bytes' (of its workspace)}.
local prefix, id, now = ARGV[1], ARGV[2], tonumber(ARGV[4])
${GROUP_LUA}
${ENQUEUE_LUA}
${GROUP_OF_LUA}
${ACCOUNT_LUA}
${ROOM_LUA}
${NO_ROOM_LUA}
${LOG_LUA}
${ENDED_LUA}
${RESTORE_LUA}
${LOCK_LUA}
local names = redis.call('HMGET', KEYS[1], 'x', 'e', 's', 'owe')
local past = not names[1] and ARGV[6] and cjson.decode(ARGV[6]) or nil
if past then names = { past.transition, past.endpoint, '', false } end
if not names[1] then return { 'missing' } end
local transition = prefix .. 'x:' .. names[1]
local facts = redis.call('HMGET', transition, 'ws', 'ev', 'erased')
local hasBody = facts[1]
if past and not facts[1] then facts = { past.workspace, past.event, false } end
if facts[1] ~= ARGV[3] then return { 'missing' } end
if facts[3] then return { 'erased' } end
-- A notice's endpoint has no record.
local isNotice = names[2] == '${PLATFORM}'
local on = isNotice and '1' or redis.call('HGET', prefix .. 'e:' .. names[2], 'on')
if not on then return { 'removed' } end
if on ~= '1' then
  local lock = lockOf(prefix .. 'e:' .. names[2])
  return lock and { 'locked', names[2], lock } or { 'disabled', names[2] }
end
-- What is pending has its room already. A notice is the platform's.
local isNew = not isNotice and names[3] ~= 'pending' and not names[4]
local bytes = past and not hasBody and sizeOfTransition(#ARGV[7], past.deliveries) or 0
local full = isNew and findNoRoom(ARGV[3], 1, bytes, cjson.decode(ARGV[5]), ARGV[4])
if full then
  writeAccounts()
  return { 'no_room', full }
end
local refusal = past and restore(past, ARGV[7], ARGV[4])
if refusal then return { refusal } end
redis.call('HINCRBY', KEYS[1], 'owe', 1)
for _, key in ipairs({ KEYS[1], KEYS[1] .. ':a' }) do redis.call('PERSIST', key) end
leaveAt(transition, nil)
writeAccounts()
-- One that has something to do and doesn't wait here is in work, or waits as a test event.
local group, isQueued = groupOf(names[2]), names[3] == 'pending' or names[4]
if not isQueued or isWaiting(group, id) then
  enqueue({ { group, id, URGENT + now, not isNotice and ARGV[3] or nil } }, now)
end
return { 'pending', facts[2] }
`;
