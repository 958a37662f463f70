export const REDELIVER_LUA = /* lua */ `
-- Owe a delivery one more attempt: a fact in the record before it is a job.
-- KEYS[1] delivery (hash)   KEYS[2] owed (zset)
-- ARGV[1] prefix   ARGV[2] delivery id   ARGV[3] workspace id   ARGV[4] time from which a sweeper sees to it (ms)
-- Returns {'owed', event} | {'missing'} | {'removed'} (its endpoint is gone) | {'disabled', endpoint id}.
local names = redis.call('HMGET', KEYS[1], 'x', 'e')
if not names[1] then return { 'missing' } end
local transition = ARGV[1] .. 'x:' .. names[1]
local facts = redis.call('HMGET', transition, 'ws', 'ev')
if facts[1] ~= ARGV[3] then return { 'missing' } end
local on = redis.call('HGET', ARGV[1] .. 'e:' .. names[2], 'on')
if not on then return { 'removed' } end
if on ~= '1' then return { 'disabled', names[2] } end
redis.call('HINCRBY', KEYS[1], 'owe', 1)
redis.call('PERSIST', KEYS[1])
redis.call('PERSIST', KEYS[1] .. ':a')
redis.call('PERSIST', transition)
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[2])
return { 'owed', facts[2] }
`;
