import { destinationOf, type PatchReceiver, type WorkspaceId } from '@herald/core';
import { COUNT_KEY_USE_LUA } from '../scripts/key-version-scripts.ts';
import type { ScriptArg } from '../scripts/script.ts';
import { toFields, type EndpointChange, type SealedHeaders } from './endpoint-record.ts';
import { PLACES_LUA } from '../keyspace/places-lua.ts';

/** A patch whose headers are encrypted. */
export type EndpointPatch = Omit<PatchReceiver, 'headers'> & { readonly headers?: SealedHeaders };

const NO_FAILURES = { consecutiveFailures: null, failingSince: null };

/** The arguments of `patchEndpoint`. A new url resets the health; enabling also removes the reason for disabling. */
export function patchArgs(workspaceId: WorkspaceId, patch: EndpointPatch, now: number): ScriptArg[] {
  const { url, enabled, headers, orderingTimeout, ...same } = patch;
  const { removed, set } = toFields({
    ...same,
    orderingTimeoutMs: orderingTimeout,
    ...(headers && toHeaderFields(headers)),
    ...(url !== undefined && {
      url,
      urlChangedAt: now,
      group: destinationOf(workspaceId, url),
      healthySince: now,
      lastSuccessAt: null,
      ...NO_FAILURES,
    }),
    ...(enabled === true && { enabled, healthySince: now, disabledAt: null, disabledReason: null, ...NO_FAILURES }),
    ...(enabled === false && { enabled, disabledAt: now, disabledReason: 'by_request' }),
  });
  return [removed.length, ...removed, ...set];
}

/** The names alone: `patchEndpoint` adds the destination that they are for. */
function toHeaderFields({ names, encrypted }: SealedHeaders): EndpointChange {
  if (names.length === 0) return { encryptedHeaders: null, headersOf: null };
  return { encryptedHeaders: encrypted, headersOf: names.join(',') };
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
