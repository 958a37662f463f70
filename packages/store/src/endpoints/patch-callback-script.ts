import { DEFAULT_ORDERING_TIMEOUT_MS } from '@herald/core';
import { PATCH_ENDPOINT_LUA } from './endpoint-patch.ts';

export const PATCH_CALLBACK_LUA = /* lua */ `#!lua flags=allow-oom
-- Change fields of a callback. Its Task, by which transitions are routed, takes over its url, filter and order, and gets a
-- new revision: what was decided on the former ones is refused. A callback may outlive its Task.
-- KEYS[1] Task (hash)   KEYS[2] callback (hash)   KEYS[3] endpoints whose waiting deliveries must end (zset)
-- KEYS[4] key versions (hash)
-- ARGV[1] callback id   ARGV[2] new revision of the Task   ARGV[3] prefix   ARGV[4] now (ms)   ARGV[5] workspace id
-- ARGV[6..] see patchEndpoint
-- Returns {'patched'} | {'missing'} | {'locked', reason, '' for none}.
local prefix = ARGV[3]
${PATCH_ENDPOINT_LUA}
if redis.call('HGET', KEYS[2], 'ws') ~= ARGV[5] then return { 'missing' } end
local lock = patchEndpoint(KEYS[2], KEYS[3], KEYS[4], ARGV[1], tonumber(ARGV[4]), 6)
if lock then return { 'locked', lock } end
if redis.call('EXISTS', KEYS[1]) == 1 then
  local route = redis.call('HMGET', KEYS[2], 'url', 'events', 'ord', 'ordTo')
  redis.call('HSET', KEYS[1], 'cbUrl', route[1], 'cbEvents', route[2], 'rev', ARGV[2])
  if route[3] then redis.call('HSET', KEYS[1], 'cbOrd', route[4] or ${DEFAULT_ORDERING_TIMEOUT_MS})
  else redis.call('HDEL', KEYS[1], 'cbOrd') end
end
return { 'patched' }
`;
