import { LANE_LUA } from './lane-lua.ts';

/** Jobs in one ZADD at most: Lua limits the arguments of a call. */
const JOBS_AT_ONCE = 1_000;

/**
 * For scripts that add or remove jobs in the same step as other changes. Needs GROUP_LUA.
 *
 * `enqueue(entries, now, mode)` adds jobs. A job that waits already moves to the new score, unless the mode is 'NX'.
 * The caller must not add a job in work: see `jobsInWork`. The name of a group with a `|`, which separates the parts of
 * a handle, or with a `~` that names no lane, is an error before anything is added. So is an id that begins like a
 * marker, with a `~`.
 *
 * Groups of a tenant share its turns. A group remembers its tenant, so it is enough to name it where it is at hand.
 *
 * A group may be a lane (see LANE_LUA, which this has too).
 *
 * `dequeue(group, ids, now)` removes jobs that wait. Both update `n` of the settings, the number of all waiting jobs.
 */
export const ENQUEUE_LUA = /* lua */ `${LANE_LUA}
-- entries: list of {group, job id, score, the tenant to which the group belongs, or nil}   now (ms)   mode: 'NX', or nil
local function enqueue(entries, now, mode)
  local jobs, groups, tenants, added = {}, {}, {}, 0
  for _, entry in ipairs(entries) do
    if isMarker(entry[2]) then error('the id of a job must not begin with a "~": ' .. entry[2]) end
    local group = entry[1]
    local list = jobs[group]
    if not list then
      if string.find(group, '|', 1, true) then error('the name of a group must not have a "|": ' .. group) end
      if not splitLane(group) then error('the name of a group must not have a "~", except as a lane: ' .. group) end
      list = {}
      jobs[group] = list
      groups[#groups + 1] = group
    end
    tenants[group] = tenants[group] or entry[4]
    list[#list + 1] = entry[3]
    list[#list + 1] = entry[2]
  end
  for _, group in ipairs(groups) do
    local key, list = prefix .. 'q:' .. group, jobs[group]
    for first = 1, #list, ${2 * JOBS_AT_ONCE} do
      local last = math.min(#list, first + ${2 * JOBS_AT_ONCE - 1})
      if mode then added = added + redis.call('ZADD', key, mode, unpack(list, first, last))
      else added = added + redis.call('ZADD', key, unpack(list, first, last)) end
    end
    local base, rate, name = splitLane(group)
    if rate then placeLaneAdded(base, rate, name, now, tenants[group]) else placeAdded(base, now, tenants[group]) end
  end
  if added > 0 then redis.call('HINCRBY', prefix .. 'queue', 'n', added) end
end

-- Removes jobs that wait; a job in work stays. ids: list. Returns the scores of the removed jobs by id.
local function dequeue(group, ids, now)
  local key, scores, removed = prefix .. 'q:' .. group, {}, 0
  for _, id in ipairs(ids) do
    local score = redis.call('ZSCORE', key, id)
    if score then
      scores[id] = score
      removed = removed + redis.call('ZREM', key, id)
    end
  end
  if removed > 0 then
    redis.call('HINCRBY', prefix .. 'queue', 'n', -removed)
    local base, rate, name = splitLane(group)
    if rate then placeLane(base, rate, name, now) end
    place(base, readGroup(base), now)
  end
  return scores
end
`;
