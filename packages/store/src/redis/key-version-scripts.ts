/**
 * For scripts that write a new secret into a field of an endpoint: counts it for its key version in the same step. So a
 * shard knows every key version that its secrets need, and an unchanged count means that no secret was added.
 */
export const COUNT_KEY_USE_LUA = /* lua */ `
local function countKeyUse(keyVersions, endpoint, field)
  local encrypted = redis.call('HGET', endpoint, field)
  if encrypted then redis.call('HINCRBY', keyVersions, string.match(encrypted, '^[^.]*'), 1) end
end
`;

export const REGISTER_KEY_VERSION_LUA = /* lua */ `#!lua flags=allow-oom
-- Register the key version that a process encrypts with, unless it lacks a key of another version.
-- KEYS[1] key versions (hash)
-- ARGV[1] fingerprint that it encrypts with, or '' when it only decrypts   ARGV[2..] fingerprints of all its keys
-- Returns fingerprint, count, ... of the versions that it lacks; nothing when it may start.
local known, missing = {}, {}
for index = 2, #ARGV do known[ARGV[index]] = true end
local keyVersions = redis.call('HGETALL', KEYS[1])
for index = 1, #keyVersions, 2 do
  if not known[keyVersions[index]] then
    missing[#missing + 1] = keyVersions[index]
    missing[#missing + 1] = keyVersions[index + 1]
  end
end
if #missing == 0 and ARGV[1] ~= '' then redis.call('HSETNX', KEYS[1], ARGV[1], 0) end
return missing
`;

export const FORGET_KEY_VERSION_LUA = /* lua */ `#!lua flags=allow-oom
-- Delete a key version, unless a secret was encrypted with it since its count was read.
-- KEYS[1] key versions (hash)
-- ARGV[1] fingerprint   ARGV[2] its count as it was read
-- Returns 'forgotten' | 'changed'.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 'changed' end
redis.call('HDEL', KEYS[1], ARGV[1])
return 'forgotten'
`;

export const REPLACE_SECRET_LUA = /* lua */ `
-- Replace a secret by the same one, re-encrypted. A rotation or a removal meanwhile wins.
-- KEYS[1] endpoint (hash)   KEYS[2] key versions (hash)
-- ARGV[1] field   ARGV[2] encrypted secret as it was read   ARGV[3] the same, re-encrypted
-- ARGV[4] fingerprint of the key that it is re-encrypted with
-- Returns 'replaced' | 'changed'.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 'changed' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HINCRBY', KEYS[2], ARGV[4], 1)
return 'replaced'
`;
