import { destinationOf, type PatchReceiver, type WorkspaceId } from '@herald/core';
import type { ScriptArg } from '../scripts/script.ts';

/** The arguments of `patchEndpoint`. A new url resets the health; enabling also removes the reason for disabling. */
export function patchArgs(
  workspaceId: WorkspaceId,
  { url, events, description, enabled, ordering, orderingTimeout }: PatchReceiver,
  now: number,
): ScriptArg[] {
  const unset: string[] = [];
  const set: ScriptArg[] = [];
  if (url !== undefined) {
    set.push('url', url, 'urlAt', now, 'dst', destinationOf(workspaceId, url), 'okFrom', now);
    unset.push('fails', 'failAt', 'okAt');
  }
  if (events !== undefined) set.push('events', events.join(','));
  if (description !== undefined) set.push('desc', description);
  if (enabled === true) {
    set.push('on', '1', 'okFrom', now);
    unset.push('offAt', 'offWhy', 'fails', 'failAt');
  }
  if (enabled === false) set.push('on', '0', 'offAt', now, 'offWhy', 'by_request');
  if (ordering === 'task') set.push('ord', '1');
  if (ordering === 'none') unset.push('ord');
  if (orderingTimeout !== undefined) set.push('ordTo', orderingTimeout);
  return [unset.length, ...unset, ...set];
}

/** Changes fields of a receiver or a callback. */
export const PATCH_ENDPOINT_LUA = /* lua */ `
-- endpoint (hash)   purge: endpoints whose pending deliveries must end or move (zset)   id: the endpoint's
-- ARGV[first] number n of fields to remove   ARGV[first+1..first+n] their names   ARGV[first+n+1..] fields to set
local function patchEndpoint(endpoint, purge, id, first)
  local last, before = first + tonumber(ARGV[first]), redis.call('HGET', endpoint, 'dst')
  for index = first + 1, last do redis.call('HDEL', endpoint, ARGV[index]) end
  if #ARGV > last then redis.call('HSET', endpoint, unpack(ARGV, last + 1)) end
  local state = redis.call('HMGET', endpoint, 'on', 'offAt', 'dst')
  if state[1] == '0' then
    redis.call('ZADD', purge, state[2], id)
  elseif before and before ~= state[3] then
    redis.call('HSET', endpoint, 'dstWas', before)
    redis.call('ZADD', purge, 0, id)
  end
end
`;
