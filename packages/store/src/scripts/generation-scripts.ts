/**
 * For scripts that write a new secret: counts it for the generation that sealed it, in the same step. So the generations
 * of a shard are never fewer than what its secrets need, and a count that stands still means that nothing was added.
 */
export const COUNT_SEALED_LUA = /* lua */ `
local function countSealed(generations, endpoint)
  local fingerprint = string.match(redis.call('HGET', endpoint, 'sec'), '^[^.]*')
  redis.call('HINCRBY', generations, fingerprint, 1)
end
`;

export const JOIN_GENERATIONS_LUA = /* lua */ `
-- Enter the generation that a process seals with, unless there is one that it can't open.
-- KEYS[1] generations (hash)
-- ARGV[1] fingerprint that it seals with, or '' when it seals nothing   ARGV[2..] fingerprints that it opens
-- Returns fingerprint, count, ... of those it can't open; nothing when it may start.
local opens, unlisted = {}, {}
for index = 2, #ARGV do opens[ARGV[index]] = true end
local generations = redis.call('HGETALL', KEYS[1])
for index = 1, #generations, 2 do
  if not opens[generations[index]] then
    unlisted[#unlisted + 1] = generations[index]
    unlisted[#unlisted + 1] = generations[index + 1]
  end
end
if #unlisted == 0 and ARGV[1] ~= '' then redis.call('HSETNX', KEYS[1], ARGV[1], 0) end
return unlisted
`;

export const FORGET_GENERATION_LUA = /* lua */ `
-- Forget a generation, unless a secret was sealed with it since its count was read.
-- KEYS[1] generations (hash)
-- ARGV[1] fingerprint   ARGV[2] its count as it was read
-- Returns 'forgotten' | 'changed'.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 'changed' end
redis.call('HDEL', KEYS[1], ARGV[1])
return 'forgotten'
`;

export const MOVE_SECRET_LUA = /* lua */ `
-- Put a secret that was sealed anew in the place of the same one: a rotation or a removal meanwhile wins.
-- KEYS[1] endpoint (hash)   KEYS[2] generations (hash)
-- ARGV[1] field   ARGV[2] sealed secret as it was read   ARGV[3] the same, sealed anew   ARGV[4] fingerprint of that
-- Returns 'moved' | 'changed'.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 'changed' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HINCRBY', KEYS[2], ARGV[4], 1)
return 'moved'
`;
