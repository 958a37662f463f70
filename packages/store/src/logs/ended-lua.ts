import { PLATFORM } from '@herald/core';
import { TRIED_MS, UNUSED_LOG_MS } from './segment-lua.ts';

/**
 * Deliveries that failed or were canceled stand in a second log as well (see `LOG_LUA`), one for each of these statuses:
 * beside the log of their receiver, or beside that of all callbacks of their workspace. So a list of them reads no others,
 * and one that is delivered costs nothing more. Needs GROUP_OF_LUA, LOG_LUA and `local prefix`.
 *
 * `endedLog(endpoint, workspace, status)` names it; nil: there is none. `noteEnded(entry, ttl)` adds a delivery: { id =,
 * endpoint =, workspace =, status =, at = (of its acceptance, ms) }; ttl: of its record from now (ms), 0: until it moves to
 * the history. `forgetEnded(entry)` removes it, whatever its status.
 */
export const ENDED_LUA = /* lua */ `
local function endedLog(endpoint, workspace, status)
  if endpoint == '${PLATFORM}' or (status ~= 'failed' and status ~= 'canceled') then return nil end
  if not isCallback(endpoint) then return prefix .. 'e:' .. endpoint .. ':log:' .. status end
  return workspace and prefix .. 'w:' .. workspace .. ':callbacks:' .. status
end

local function noteEnded(entry, ttl)
  local log = endedLog(entry.endpoint, entry.workspace, entry.status)
  local expiry = tonumber(ttl) > 0 and ttl + ${TRIED_MS} or ${UNUSED_LOG_MS}
  if log then appendToLog(log, expiry, { entry.at, entry.id }) end
end

local function forgetEnded(entry)
  local log = endedLog(entry.endpoint, entry.workspace, entry.status)
  if log then removeFromLog(log, entry.at, entry.id) end
end
`;
