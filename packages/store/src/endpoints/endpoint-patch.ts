import { destinationOf, type PatchReceiver, type WorkspaceId } from '@herald/core';
import type { ScriptArg } from '../scripts/script.ts';
import { PLACES_LUA } from './places-lua.ts';

/** The arguments of `patchEndpoint`. A new url resets the health; enabling also removes the reason for disabling. */
export function patchArgs(
  workspaceId: WorkspaceId,
  { url, events, description, enabled, rateLimit }: PatchReceiver,
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
  if (rateLimit === null) unset.push('rate');
  else if (rateLimit !== undefined) set.push('rate', rateLimit.perSecond);
  if (enabled === true) {
    set.push('on', '1', 'okFrom', now);
    unset.push('offAt', 'offWhy', 'fails', 'failAt');
  }
  if (enabled === false) set.push('on', '0', 'offAt', now, 'offWhy', 'by_request');
  return [unset.length, ...unset, ...set];
}

/** Changes fields of a receiver or a callback. */
export const PATCH_ENDPOINT_LUA = /* lua */ `${PLACES_LUA}
-- endpoint (hash)   purge: endpoints whose pending deliveries must end or move (zset)   id: the endpoint's
-- ARGV[first] number n of fields to remove   ARGV[first+1..first+n] their names   ARGV[first+n+1..] fields to set
local function patchEndpoint(endpoint, purge, id, first)
  local last, before = first + tonumber(ARGV[first]), placesOf(endpoint)
  for index = first + 1, last do redis.call('HDEL', endpoint, ARGV[index]) end
  if #ARGV > last then redis.call('HSET', endpoint, unpack(ARGV, last + 1)) end
  local isMoved = movePlace(endpoint, before, id)
  local state = redis.call('HMGET', endpoint, 'on', 'offAt')
  if state[1] == '0' then
    redis.call('ZADD', purge, state[2], id)
  elseif isMoved then
    redis.call('ZADD', purge, 0, id)
  end
end
`;
