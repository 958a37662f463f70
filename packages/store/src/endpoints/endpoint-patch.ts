import { destinationOf, type PatchReceiver, type WorkspaceId } from '@herald/core';
import { COUNT_KEY_USE_LUA } from '../scripts/key-version-scripts.ts';
import type { ScriptArg } from '../scripts/script.ts';
import type { SealedHeaders } from './endpoint-record.ts';
import { PLACES_LUA } from '../keyspace/places-lua.ts';

/** A patch whose headers are encrypted. */
export type EndpointPatch = Omit<PatchReceiver, 'headers'> & { readonly headers?: SealedHeaders };

/** The arguments of `patchEndpoint`. A new url resets the health; enabling also removes the reason for disabling. */
export function patchArgs(
  workspaceId: WorkspaceId,
  { url, events, description, enabled, headers, maxRetryHours, ordering, orderingTimeout, rateLimit }: EndpointPatch,
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
  if (headers && headers.names.length > 0) set.push('hdr', headers.encrypted, 'hdrOf', headers.names.join(','));
  else if (headers) unset.push('hdr', 'hdrOf');
  if (maxRetryHours === null) unset.push('maxH');
  else if (maxRetryHours !== undefined) set.push('maxH', maxRetryHours);
  if (ordering === 'task') set.push('ord', '1');
  if (ordering === 'none') unset.push('ord');
  if (orderingTimeout !== undefined) set.push('ordTo', orderingTimeout);
  return [unset.length, ...unset, ...set];
}

/** Changes fields of a receiver or a callback. */
export const PATCH_ENDPOINT_LUA = /* lua */ `
-- endpoint (hash)   purge: endpoints whose pending deliveries must end or move (zset)   keyVersions (hash)
-- id: the endpoint's
-- ARGV[first] number n of fields to remove   ARGV[first+1..first+n] their names   ARGV[first+n+1..] fields to set
${PLACES_LUA}
${COUNT_KEY_USE_LUA}
local function patchEndpoint(endpoint, purge, keyVersions, id, first)
  local last, before = first + tonumber(ARGV[first]), placesOf(endpoint)
  for index = first + 1, last do redis.call('HDEL', endpoint, ARGV[index]) end
  if #ARGV > last then redis.call('HSET', endpoint, unpack(ARGV, last + 1)) end
  local isMoved = movePlace(endpoint, before, id)
  local state = redis.call('HMGET', endpoint, 'on', 'offAt', 'dst', 'hdrOf')
  local destination = string.match(state[3] or '', '^[^~]*')
  local headersOf = state[4] and string.match(state[4], '^(%S+) ')
  if state[4] and not headersOf then
    -- New headers: names alone. They are for the destination that it has now, and for no other.
    redis.call('HSET', endpoint, 'hdrOf', destination .. ' ' .. state[4])
    countKeyUse(keyVersions, endpoint, 'hdr')
  elseif headersOf and headersOf ~= destination then
    redis.call('HDEL', endpoint, 'hdr', 'hdrOf')
  end
  if state[1] == '0' then
    redis.call('ZADD', purge, state[2], id)
  elseif isMoved then
    redis.call('ZADD', purge, 0, id)
  end
end
`;
