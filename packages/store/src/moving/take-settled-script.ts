import { PLATFORM } from '@herald/core';
import { ACCOUNT_LUA } from '../keyspace/account-lua.ts';
import { FIRST_ATTEMPT_FIELDS } from '../deliveries/first-attempt.ts';

/** What a mover reads of each hash, in this order. The script reads `e`, `x`, `s` and `owe` by position. */
export const MOVED_DELIVERY_FIELDS = [
  ...(['e', 'x', 's', 'owe', 'n', 'at', 'from', 'end', 'why', 'o', 'rel'] as const),
  ...FIRST_ATTEMPT_FIELDS,
];
export const MOVED_TRANSITION_FIELDS = ['ws', 'ev', 'task', 'as', 'erased', 'req', 'trace', 'eps', 'body'] as const;

const quote = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ');

export const TAKE_SETTLED_LUA = /* lua */ `#!lua flags=allow-oom
-- Read settled deliveries that are old enough to move to the history, the oldest first, under the lease of the shard;
-- where there is room, those that were set aside, too.
-- It changes none of them. What isn't settled any more leaves the list; it comes back once it is settled again.
-- Notices stay here: they expire, and so does what has lost its transition.
-- KEYS[1] settled deliveries (zset: id → when it settled or changed last, ms)   KEYS[2] lease of the mover (string)
-- ARGV[1] prefix   ARGV[2] the mover   ARGV[3] lease (ms)   ARGV[4] settled until (ms)   ARGV[5] at most so many
-- ARGV[6] time to live of notices (ms)   ARGV[7] ARGV[8] scores of those that were set aside and are to be tried again
-- ARGV[9] now (ms)
-- Returns {'held'} (another mover has the shard) | {'taken', ids looked at, deliveries, transitions}; a delivery is
-- {id, score, fields, list of its attempts}, a transition {id, fields}, once for all of its deliveries.
local prefix = ARGV[1]
${ACCOUNT_LUA}
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[2] then return { 'held' } end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
local rows = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[4], 'WITHSCORES', 'LIMIT', 0, ARGV[5])
local room = ARGV[5] - #rows / 2
if room > 0 then
  local aside = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[7], ARGV[8], 'WITHSCORES', 'LIMIT', 0, room)
  for index = 1, #aside do rows[#rows + 1] = aside[index] end
end
local deliveries, transitions, known, gone = {}, {}, {}, {}
local function readTransition(id)
  if known[id] == nil then
    local fields = redis.call('HMGET', prefix .. 'x:' .. id, ${quote(MOVED_TRANSITION_FIELDS)})
    known[id] = fields[1] and true or false
    if fields[1] then transitions[#transitions + 1] = { id, fields } end
  end
  return known[id]
end
for index = 1, #rows, 2 do
  local id, score = rows[index], rows[index + 1]
  local record = prefix .. 'd:' .. id
  local fields = redis.call('HMGET', record, ${quote(MOVED_DELIVERY_FIELDS)})
  if not fields[3] or fields[3] == 'pending' or fields[4] then
    gone[#gone + 1] = id
  elseif fields[1] == '${PLATFORM}' or not readTransition(fields[2]) then
    for _, key in ipairs({ record, record .. ':a' }) do redis.call('PEXPIRE', key, ARGV[6]) end
    leaveAt(prefix .. 'x:' .. fields[2], timeToLeave(ARGV[9], ARGV[6]))
    gone[#gone + 1] = id
  else
    deliveries[#deliveries + 1] = { id, score, fields, redis.call('LRANGE', record .. ':a', 0, -1) }
  end
end
if #gone > 0 then redis.call('ZREM', KEYS[1], unpack(gone)) end
writeAccounts()
return { 'taken', #rows / 2, deliveries, transitions }
`;
