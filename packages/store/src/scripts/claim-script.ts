export const CLAIM_IDS_LUA = /* lua */ `#!lua flags=allow-oom
-- Take work that is due, under a lease: others see it only when the lease ends, as after the death of its taker.
-- KEYS[1] work (zset: id → due, ms)
-- ARGV[1] now (ms)   ARGV[2] lease ends (ms)   ARGV[3] at most so many
-- Returns the ids.
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do redis.call('ZADD', KEYS[1], ARGV[2], id) end
return ids
`;
