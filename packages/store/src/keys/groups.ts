/** The group of test events: express, so that no limit and no breaker holds one back. */
export const TEST_GROUP = '!tests';

export function isTestGroup(group: string): boolean {
  return group === TEST_GROUP;
}

/** The group of an endpoint as `groupOf` of the core has it, in scripts. Needs `local prefix`. */
export const GROUP_OF_LUA = /* lua */ `
local function isCallback(endpoint) return string.sub(endpoint, 1, 3) == 'cb_' end

local function groupOf(endpoint)
  -- That of a callback whose record is gone is unknown. A worker ends what is enqueued for it.
  return isCallback(endpoint) and redis.call('HGET', prefix .. 'e:' .. endpoint, 'dst') or endpoint
end
`;

/**
 * `newestOf(log)` returns the newest ids of an endpoint's log, some of which may be there twice: some 60 to 120 of a longer
 * one. In the group of a callback others wait too, so its own are found by its log.
 */
export const NEWEST_LUA = /* lua */ `
local function newestOf(log)
  local ids = redis.call('ZRANGE', log, 0, -1)
  local segment = redis.call('ZRANGE', log .. ':segments', -1, -1)[1]
  for _, id in ipairs(segment and redis.call('ZRANGE', log .. ':' .. segment, 0, -1) or {}) do ids[#ids + 1] = id end
  return ids
end
`;
