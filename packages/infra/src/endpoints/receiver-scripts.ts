export const REGISTER_RECEIVER_LUA = /* lua */ `
-- Add a receiver unless the workspace is full.
-- KEYS[1] receivers of the workspace (zset)   KEYS[2] receiver (hash)   KEYS[3] subscription version (string)
-- ARGV[1] limit   ARGV[2] now (ms)   ARGV[3] receiver id   ARGV[4] new version   ARGV[5..] hash fields
-- Returns 'registered' | 'full'.
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 'full' end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[2], unpack(ARGV, 5))
redis.call('SET', KEYS[3], ARGV[4])
return 'registered'
`;

export const PATCH_RECEIVER_LUA = /* lua */ `
-- Change fields of a receiver that its workspace still holds.
-- KEYS[1] receivers of the workspace (zset)   KEYS[2] receiver (hash)   KEYS[3] subscription version (string)
-- ARGV[1] receiver id   ARGV[2] new version   ARGV[3] number n of fields to remove   ARGV[4..n+3] their names
-- ARGV[n+4..] fields to set
-- Returns 'patched' | 'missing'.
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 'missing' end
local removed = tonumber(ARGV[3])
for index = 4, removed + 3 do redis.call('HDEL', KEYS[2], ARGV[index]) end
if #ARGV > removed + 3 then redis.call('HSET', KEYS[2], unpack(ARGV, removed + 4)) end
redis.call('SET', KEYS[3], ARGV[2])
return 'patched'
`;

export const REMOVE_RECEIVER_LUA = /* lua */ `
-- Remove a receiver. Its deliveries keep their records; the pending ones are canceled when their turn comes.
-- KEYS[1] receivers of the workspace (zset)   KEYS[2] receiver (hash)   KEYS[3] subscription version (string)
-- ARGV[1] receiver id   ARGV[2] new version
-- Returns 'removed' | 'missing'.
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 'missing' end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[3], ARGV[2])
return 'removed'
`;
