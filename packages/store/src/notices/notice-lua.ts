import { PLATFORM } from '@herald/core';
import { PLATFORM_OWNER } from '../keys/keys.ts';

/**
 * Makes a notice to the platform, in the script that makes the fact: a crash leaves both or neither. Needs GROUP_LUA,
 * ENQUEUE_LUA and `local prefix`.
 *
 * `tellPlatform(draft, workspace, event, since, now, more)` writes the notice, its one delivery and its place in the
 * queue. draft: a NoticeDraft, with logTtl (of the list of notices, ms); since, now: ms; more: further fields of the
 * body as JSON, each behind a comma. The caller tells of a fact once: the endpoint's record says what was told.
 */
export const NOTICE_LUA = /* lua */ `
-- As JavaScript's toISOString. The calendar is Howard Hinnant's civil_from_days: its years begin in March.
local function toTime(ms)
  local days, rest = math.floor(ms / 86400000) + 719468, ms % 86400000
  local era = math.floor(days / 146097)
  local ofEra = days - era * 146097
  local leapDays = math.floor(ofEra / 1460) - math.floor(ofEra / 36524) + math.floor(ofEra / 146096)
  local years = math.floor((ofEra - leapDays) / 365)
  local ofYear = ofEra - (365 * years + math.floor(years / 4) - math.floor(years / 100))
  local months = math.floor((5 * ofYear + 2) / 153)
  local day = ofYear - math.floor((153 * months + 2) / 5) + 1
  local month = months < 10 and months + 3 or months - 9
  local year = years + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, math.floor(rest / 3600000),
    math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end

local function tellPlatform(draft, workspace, event, since, now, more)
  local id, transition = draft.deliveryId, draft.transitionId
  local body = '{"id":"' .. transition .. '","event":"' .. event .. '",' .. draft.fields .. ',"since":"'
    .. toTime(since) .. '"' .. more .. '}'
  redis.call('HSET', prefix .. 'x:' .. transition, 'open', 1, 'ev', event, 'ws', workspace .. '${PLATFORM_OWNER}',
    'at', now, 'eps', '${PLATFORM}', 'body', body)
  redis.call('HSET', prefix .. 'd:' .. id, 'x', transition, 'e', '${PLATFORM}', 's', 'pending', 'n', 0, 'at', now,
    'due', now)
  local log = prefix .. 'notices'
  redis.call('ZADD', log, now, id)
  redis.call('ZREMRANGEBYSCORE', log, '-inf', now - draft.logTtl)
  redis.call('PEXPIRE', log, draft.logTtl)
  enqueue({ { '${PLATFORM}', id, USUAL + now } }, now)
end
`;
