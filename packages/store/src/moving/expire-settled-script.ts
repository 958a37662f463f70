import { ACCOUNT_LUA } from '../keyspace/account-lua.ts';

export const EXPIRE_SETTLED_LUA = /* lua */ `#!lua flags=allow-oom
-- Let settled deliveries expire that wait for a history, since there is none any more. Nothing expires while the data has
-- one: it is this process that doesn't know it.
-- KEYS[1] settled deliveries (zset)   KEYS[2] the history of the data (string)
-- ARGV[1] prefix   ARGV[2] time to live (ms)   ARGV[3] at most so many   ARGV[4] now (ms)
-- Returns how many left the list; -1: the data has a history.
if redis.call('EXISTS', KEYS[2]) == 1 then return -1 end
local prefix = ARGV[1]
${ACCOUNT_LUA}
local rows = redis.call('ZPOPMIN', KEYS[1], ARGV[3])
for index = 1, #rows, 2 do
  local record = prefix .. 'd:' .. rows[index]
  local known = redis.call('HMGET', record, 's', 'owe', 'x')
  if known[1] and known[1] ~= 'pending' and not known[2] then
    redis.call('PEXPIRE', record, ARGV[2])
    redis.call('PEXPIRE', record .. ':a', ARGV[2])
    local key = prefix .. 'x:' .. known[3]
    if (tonumber(redis.call('HGET', key, 'open')) or 0) <= 0 then leaveAt(key, timeToLeave(ARGV[4], ARGV[2])) end
  end
end
writeAccounts()
return #rows / 2
`;
