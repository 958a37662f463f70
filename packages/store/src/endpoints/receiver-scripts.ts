import { COUNT_KEY_USE_LUA } from '../redis/key-version-scripts.ts';
import { VERSION_LUA } from './endpoint-record.ts';
import { PATCH_ENDPOINT_LUA } from './endpoint-patch.ts';
import { SUBSCRIPTION_VERSION_LUA } from '../keyspace/subscription-version.ts';

/** Removed receivers that the list of a workspace's deliveries still has: each costs every page a look into its log. */
export const REMOVED_LIMIT = 40;

export const REGISTER_RECEIVER_LUA = /* lua */ `
-- Add a receiver unless the workspace is full. A second run leaves what the first one wrote.
-- KEYS[1] receivers of the workspace (zset)   KEYS[2] receiver (hash)   KEYS[3] subscription version (string)
-- KEYS[4] key versions (hash)
-- ARGV[1] limit   ARGV[2] now (ms)   ARGV[3] receiver id   ARGV[4] new version   ARGV[5..] hash fields
-- Returns 'registered' | 'exists' | 'full'.
${COUNT_KEY_USE_LUA}
${SUBSCRIPTION_VERSION_LUA}
if redis.call('ZSCORE', KEYS[1], ARGV[3]) then return 'exists' end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 'full' end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[2], unpack(ARGV, 5))
countKeyUse(KEYS[4], KEYS[2], 'sec')
countKeyUse(KEYS[4], KEYS[2], 'hdr')
changeVersion(KEYS[3], ARGV[4])
return 'registered'
`;

export const PATCH_RECEIVER_LUA = /* lua */ `#!lua flags=allow-oom
-- Change fields of a receiver that its workspace still holds.
-- KEYS[1] receivers of the workspace (zset)   KEYS[2] receiver (hash)   KEYS[3] subscription version (string)
-- KEYS[4] endpoints whose waiting deliveries must end (zset)   KEYS[5] key versions (hash)
-- ARGV[1] receiver id   ARGV[2] new version   ARGV[3] prefix   ARGV[4] now (ms)   ARGV[5] the version that it must have,
-- '' for any; a call that is sent again finds another one   ARGV[6..] see patchEndpoint
-- Returns {'patched'} | {'missing'} | {'changed'} (it has another version) | {'locked', reason, '' for none}.
local prefix = ARGV[3]
${PATCH_ENDPOINT_LUA}
${SUBSCRIPTION_VERSION_LUA}
${VERSION_LUA}
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return { 'missing' } end
if ARGV[5] ~= '' and versionOf(KEYS[2]) ~= ARGV[5] then return { 'changed' } end
local lock = patchEndpoint(KEYS[2], KEYS[4], KEYS[5], ARGV[1], tonumber(ARGV[4]), 6)
if lock then return { 'locked', lock } end
changeVersion(KEYS[3], ARGV[2])
return { 'patched' }
`;

export const REMOVE_RECEIVER_LUA = /* lua */ `#!lua flags=allow-oom
-- Remove a receiver. Its deliveries keep their records, and a purge ends the waiting ones.
-- KEYS[1] receivers of the workspace (zset)   KEYS[2] receiver (hash)   KEYS[3] subscription version (string)
-- KEYS[4] endpoints whose waiting deliveries must end (zset)   KEYS[5] its log (zset)
-- KEYS[6] removed receivers whose logs still have deliveries (zset)   KEYS[7] its counters (string)
-- ARGV[1] receiver id   ARGV[2] new version   ARGV[3] now (ms)   ARGV[4] the version that it must have, '' for any
-- Returns 'removed' | 'missing' | 'changed' (it has another version).
${SUBSCRIPTION_VERSION_LUA}
${VERSION_LUA}
if ARGV[4] ~= '' and redis.call('EXISTS', KEYS[2]) == 1 and versionOf(KEYS[2]) ~= ARGV[4] then return 'changed' end
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 'missing' end
redis.call('DEL', KEYS[2])
redis.call('UNLINK', KEYS[7])
changeVersion(KEYS[3], ARGV[2])
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1])
-- The newest part of the log may have moved to the history.
local logTtl = math.max(redis.call('PTTL', KEYS[5]), redis.call('PTTL', KEYS[5] .. ':segments'))
if logTtl > 0 then
  redis.call('ZADD', KEYS[6], ARGV[3], ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[6], 0, -1 - ${REMOVED_LIMIT})
  if redis.call('PTTL', KEYS[6]) < logTtl then redis.call('PEXPIRE', KEYS[6], logTtl) end
end
return 'removed'
`;

export const ROTATE_SECRET_LUA = /* lua */ `
-- Put a new signing secret in force, beside the old one until the overlap ends. During an overlap the old secret stays
-- the same: receivers still verify with it, and a caller that lost the new secret rotates again.
-- KEYS[1] endpoint (hash)   KEYS[2] key versions (hash)
-- ARGV[1] workspace id   ARGV[2] encrypted new secret   ARGV[3] end of the overlap (ms), '' for none   ARGV[4] now (ms)
-- Returns 'rotated' | 'missing'.
${COUNT_KEY_USE_LUA}
if redis.call('HGET', KEYS[1], 'ws') ~= ARGV[1] then return 'missing' end
-- No secret is encrypted to the same text twice: this call was sent again, after its reply was lost.
if redis.call('HGET', KEYS[1], 'sec') == ARGV[2] then return 'rotated' end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], 'sec2', 'sec2To')
else
  local old = redis.call('HMGET', KEYS[1], 'sec', 'sec2', 'sec2To')
  local inForce = old[1]
  if old[3] and tonumber(old[3]) > tonumber(ARGV[4]) then inForce = old[2] end
  redis.call('HSET', KEYS[1], 'sec2', inForce, 'sec2To', ARGV[3])
end
redis.call('HSET', KEYS[1], 'sec', ARGV[2])
countKeyUse(KEYS[2], KEYS[1], 'sec')
return 'rotated'
`;
