import { FIRST_ATTEMPT_LUA } from '../deliveries/first-attempt-lua.ts';
import { ACCOUNT_LUA } from '../keyspace/account-lua.ts';
import { GROUP_OF_LUA } from '../keys/groups.ts';
import { ENDED_LUA } from '../logs/ended-lua.ts';
import { LOG_LUA } from '../logs/segment-lua.ts';

export const FORGET_MOVED_LUA = /* lua */ `#!lua flags=allow-oom
-- Delete deliveries that are in the history, unless they have changed since they were read: then they move once more.
-- A transition goes with the last of its deliveries here. A second run changes nothing.
-- KEYS[1] settled deliveries (zset)
-- ARGV[1] prefix   ARGV[2] JSON: [[id, score, attempts, endpoint id, workspace id of a callback's or '', transition id,
--   when its payloads were erased or ''], ...], as they were read
-- ARGV[3] JSON: [[transition id, ids of all its deliveries], ...]   ARGV[4] now (ms)
-- Returns how many it deleted.
local prefix, forgotten = ARGV[1], 0
${FIRST_ATTEMPT_LUA}
${GROUP_OF_LUA}
${LOG_LUA}
${ENDED_LUA}
${ACCOUNT_LUA}
for _, delivery in ipairs(cjson.decode(ARGV[2])) do
  local id, score, attempts, endpoint, workspace, transition, erased = unpack(delivery)
  local record = prefix .. 'd:' .. id
  local known = redis.call('HMGET', record, 's', 'owe', 'at')
  local isSame = known[1] and known[1] ~= 'pending' and not known[2]
    and redis.call('ZSCORE', KEYS[1], id) == score
    and countLogged(record) == attempts
    and (redis.call('HGET', prefix .. 'x:' .. transition, 'erased') or '') == erased
  if isSame then
    redis.call('DEL', record, record .. ':a')
    removeFromLog(prefix .. 'e:' .. endpoint .. ':log', known[3], id)
    if workspace ~= '' then removeFromLog(prefix .. 'w:' .. workspace .. ':callbacks', known[3], id) end
    forgetEnded({ id = id, endpoint = endpoint, workspace = workspace, status = known[1], at = known[3] })
    if known[1] == 'failed' then
      redis.call('ZREM', prefix .. 'failed', id)
      redis.call('ZREM', prefix .. 'failed:tests', id)
    end
    redis.call('ZREM', KEYS[1], id)
    forgotten = forgotten + 1
  end
end
for _, each in ipairs(cjson.decode(ARGV[3])) do
  local key, longest = prefix .. 'x:' .. each[1], 0
  for _, id in ipairs(each[2]) do
    local ttl = redis.call('PTTL', prefix .. 'd:' .. id)
    -- -1: it is here and doesn't expire. Another expires: it was settled without a history.
    if ttl == -1 then longest = nil break end
    longest = math.max(longest, ttl)
  end
  if longest and longest > 0 then leaveAt(key, timeToLeave(ARGV[4], longest))
  elseif longest then
    leaveAt(key, nil)
    local counted = redis.call('HMGET', key, 'ws', 'b')
    if counted[2] then noteBytes(counted[1], -counted[2]) end
    redis.call('DEL', key)
  end
end
writeAccounts()
return forgotten
`;
