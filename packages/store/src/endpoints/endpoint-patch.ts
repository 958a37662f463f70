import {
  askedOrderingTimeout,
  originOf,
  PreconditionFailedError,
  ReceiverLockedError,
  type DisabledBy,
  type EndpointId,
  type PatchReceiver,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { COUNT_KEY_USE_LUA } from '../redis/key-version-scripts.ts';
import type { ScriptArg } from '../redis/script.ts';
import { toFields, type EndpointChange, type SealedHeaders } from './endpoint-record.ts';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { GROUP_OF_LUA, NEWEST_LUA } from '../keys/groups.ts';

/** A patch whose headers are encrypted. */
export type EndpointPatch = Omit<PatchReceiver, 'headers'> & {
  readonly headers?: SealedHeaders;
  /** Who asks: the record shows it if this disables the endpoint. */
  readonly by?: DisabledBy;
};

/** The fields that only a disabled endpoint has. */
type Disabling = Pick<EndpointChange, 'disabledAt' | 'disabledReason' | 'disabledBy' | 'lockedReason'>;

const NO_FAILURES = { consecutiveFailures: null, failingSince: null, lastFailure: null };

/** Enabling forgets why it was disabled, a lock included, and its failures. */
function enabling(now: number): EndpointChange {
  const forgotten: Disabling = { disabledAt: null, disabledReason: null, disabledBy: null, lockedReason: null };
  return { enabled: true, healthySince: now, ...forgotten, ...NO_FAILURES };
}

/** The arguments of `patchEndpoint` for a patch, which a lock refuses. A new url resets the health. */
export function patchArgs(workspaceId: WorkspaceId, patch: EndpointPatch, now: number): ScriptArg[] {
  const { url, enabled, headers, by, orderingTimeout, orderingTimeoutSeconds, ...same } = patch;
  const change: EndpointChange = {
    ...same,
    orderingTimeoutMs: askedOrderingTimeout(patch),
    ...(headers && toHeaderFields(headers)),
    ...(url !== undefined && {
      url,
      urlChangedAt: now,
      origin: originOf(workspaceId, url),
      healthySince: now,
      lastSuccessAt: null,
      ...NO_FAILURES,
    }),
    ...(enabled === true && enabling(now)),
    ...(enabled === false && { enabled }),
  };
  const disabling: Disabling = { disabledAt: now, disabledReason: 'by_request', disabledBy: by };
  return toArgs('obey', change, enabled === false ? disabling : {});
}

/** The arguments of `patchEndpoint` that lock an endpoint, whether or not it is disabled already. */
export function lockArgs(reason: string | undefined, now: number): ScriptArg[] {
  const change: EndpointChange = {
    enabled: false,
    disabledReason: 'locked',
    disabledBy: 'platform',
    lockedReason: reason ?? null,
  };
  return toArgs('pass', change, { disabledAt: now });
}

/** The arguments of `patchEndpoint` that enable an endpoint and lift its lock. */
export function unlockArgs(now: number): ScriptArg[] {
  return toArgs('pass', enabling(now), {});
}

/**
 * The arguments of `patchEndpoint` that pause a receiver. It stays enabled or disabled as it is, and a change by its
 * customer leaves the pause. @param since epoch ms
 */
export function pauseArgs(reason: string | undefined, since: number): ScriptArg[] {
  return toArgs('pass', { pausedAt: since, pausedReason: reason ?? null }, {});
}

/** The arguments of `patchEndpoint` that let a paused receiver go on. */
export function resumeArgs(): ScriptArg[] {
  return toArgs('pass', { pausedAt: null, pausedReason: null }, {});
}

/** The arguments of `patchEndpoint` that end the overlap of a rotation. A locked receiver's secret is rotated, too. */
export function endOverlapArgs(): ScriptArg[] {
  return toArgs('pass', { previousSecret: null, previousUntil: null }, {});
}

/** The names alone: `patchEndpoint` adds the origin that they are for. */
function toHeaderFields({ names, encrypted }: SealedHeaders): EndpointChange {
  if (names.length === 0) return { encryptedHeaders: null, headersOf: null };
  return { encryptedHeaders: encrypted, headersOf: names.join(',') };
}

function toArgs(atLock: 'obey' | 'pass', change: EndpointChange, disabling: Disabling): ScriptArg[] {
  const { removed, set } = toFields(change);
  const whenEnabled = toFields(disabling).set;
  return [atLock, removed.length, ...removed, whenEnabled.length, ...whenEnabled, ...set];
}

/** The reply of a script that a lock refused: with its reason, '' for none. */
export const LockedReply = z.tuple([z.literal('locked'), z.string()]);
const PatchReply = z.union([z.tuple([z.enum(['patched', 'missing', 'changed'])]), LockedReply]);

/**
 * Parses the reply of a script that calls `patchEndpoint`. False: the workspace has no such endpoint.
 * @throws ReceiverLockedError or PreconditionFailedError
 */
export function readPatchReply(id: EndpointId, reply: unknown): boolean {
  const [kind, reason] = PatchReply.parse(reply);
  if (kind === 'locked') throw new ReceiverLockedError(id, reason);
  if (kind === 'changed') throw new PreconditionFailedError(id);
  return kind === 'patched';
}

/** An endpoint is locked while this is why it is disabled. Whatever enables it lifts the lock, also an earlier version. */
export const LOCK_LUA = /* lua */ `
-- The reason that the platform gave for locking this endpoint (hash), '' for none; nil when it is not locked.
local function lockOf(endpoint)
  local facts = redis.call('HMGET', endpoint, 'offWhy', 'lockWhy')
  if facts[1] ~= 'locked' then return nil end
  return facts[2] or ''
end
`;

/** Changes fields of a receiver or a callback. */
export const PATCH_ENDPOINT_LUA = /* lua */ `
-- endpoint (hash)   purge: endpoints whose waiting deliveries must end (zset)   keyVersions (hash)
-- id: the endpoint's   now (ms)
-- ARGV[first] 'obey': a lock refuses the change | 'pass': it doesn't
-- ARGV[first+1] number n of fields to remove   then their names
-- then a number m of names and values   then these: fields to set if it is enabled until now
-- then names and values of the other fields to set
-- Returns nil, or the reason of the lock that refused it, '' for none.
${GROUP_LUA}
${ENQUEUE_LUA}
${GROUP_OF_LUA}
${NEWEST_LUA}
${COUNT_KEY_USE_LUA}
${LOCK_LUA}
-- Follows a change of the url. What was known of the former one says nothing about it. The newest deliveries of a callback
-- move to its new group; older ones go from the former one.
local function followUrl(id, former, now)
  local group = groupOf(id)
  if not isCallback(id) then return forgetGroup(id, now) end
  if group == former then return end
  local entries, workspace = {}, redis.call('HGET', prefix .. 'e:' .. id, 'ws')
  for each, score in pairs(dequeue(former, newestOf(prefix .. 'e:' .. id .. ':log'), now)) do
    entries[#entries + 1] = { group, each, score, workspace }
  end
  enqueue(entries, now)
end

local function patchEndpoint(endpoint, purge, keyVersions, id, now, first)
  local lock = ARGV[first] == 'obey' and lockOf(endpoint)
  if lock then return lock end
  local lastRemoved, former = first + 1 + tonumber(ARGV[first + 1]), groupOf(id)
  local firstOnce = lastRemoved + 2
  local firstSet = firstOnce + tonumber(ARGV[lastRemoved + 1])
  local before = redis.call('HMGET', endpoint, 'on', 'url', 'pauseAt', 'hdr')
  for index = first + 2, lastRemoved do redis.call('HDEL', endpoint, ARGV[index]) end
  -- Disabled once more, it stays disabled as it was: by the first, for his reason, since then.
  if before[1] == '1' and firstSet > firstOnce then redis.call('HSET', endpoint, unpack(ARGV, firstOnce, firstSet - 1)) end
  if #ARGV >= firstSet then redis.call('HSET', endpoint, unpack(ARGV, firstSet)) end
  local state = redis.call('HMGET', endpoint, 'on', 'offAt', 'dst', 'hdrOf', 'url', 'pauseAt', 'hdr')
  if before[2] and before[2] ~= state[5] then followUrl(id, former, now) end
  if state[6] and not before[3] then stopGroup(id, now) elseif before[3] and not state[6] then freeGroup(id, now) end
  local headersOf = state[4] and string.match(state[4], '^(%S+) ')
  if state[4] and not headersOf then
    -- New headers: names alone. They are for the origin that it has now, and for no other.
    redis.call('HSET', endpoint, 'hdrOf', (state[3] or '') .. ' ' .. state[4])
    -- Nothing is encrypted to the same text twice: with these this call was sent again, after its reply was lost.
    if state[7] ~= before[4] then countKeyUse(keyVersions, endpoint, 'hdr') end
  elseif headersOf and headersOf ~= state[3] then
    redis.call('HDEL', endpoint, 'hdr', 'hdrOf')
  end
  if state[1] == '0' then redis.call('ZADD', purge, state[2], id) end
  return nil
end
`;
