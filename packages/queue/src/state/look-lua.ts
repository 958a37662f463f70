/** Groups to look at in each ring, and in `later`, at most: Redis does nothing else meanwhile. */
const LOOKED_AT_A_RING = 80;
const LOOKED_AT_LATER = 200;

/**
 * For scripts that only read. Needs `local prefix`.
 *
 * `jobsOf(group, most)` returns the ids of a group's jobs, those that wait and those in work; nil: more than so many wait,
 * or are in work in all groups.
 */
export const JOBS_LUA = /* lua */ `
local function jobsOf(group, most)
  local waiting, leases = prefix .. 'q:' .. group, prefix .. 'leases'
  if redis.call('ZCARD', waiting) > most then return nil end
  local ids = redis.call('ZRANGE', waiting, 0, -1)
  if (tonumber(redis.call('HGET', prefix .. 'g:' .. group, 'n') or '') or 0) == 0 then return ids end
  if redis.call('ZCARD', leases) > most then return nil end
  for _, handle in ipairs(redis.call('ZRANGE', leases, 0, -1)) do
    local of, id = string.match(handle, '^[^|]*|([^|]*)|[^|]*|(.*)$')
    if of == group then ids[#ids + 1] = id end
  end
  return ids
end
`;

/**
 * For scripts that only read. Needs `local prefix`.
 *
 * `factsOfWaiting(group)` returns the id and the score of the job that stands first, if one waits, and how many do: a list
 * that is another one whenever jobs came to wait, or went.
 */
export const WAITING_LUA = /* lua */ `
local function factsOfWaiting(group)
  local waiting = prefix .. 'q:' .. group
  local facts = redis.call('ZRANGE', waiting, 0, 0, 'WITHSCORES')
  facts[#facts + 1] = redis.call('ZCARD', waiting)
  return facts
end
`;

/**
 * For scripts that only read. Needs GROUP_LUA.
 *
 * `standing()` finds groups with waiting jobs: of very many only those that are served soonest. Returns a list of
 * {name, place ('0' to '3', 'later'), its turn or until when it stands there (ms)}, the number of groups with waiting jobs, and the
 * number of ready groups that are not in the list.
 *
 * `lookAt(group, now)` reads one group: `state` (see readGroup); `total` waiting jobs; `due` ones among them; `mayGo`,
 * those of the due ones that wait only for a worker or a slot; `since` and, for background jobs, `backgroundSince`,
 * when the first of these could go; `id` and `dueAt` of the job that goes first.
 */
export const LOOK_LUA = /* lua */ `
local function standing()
  local found, total, readyLeft = {}, 0, 0
  local function add(place, key, limit)
    local rows, count = redis.call('ZRANGE', key, 0, limit - 1, 'WITHSCORES'), redis.call('ZCARD', key)
    for index = 1, #rows, 2 do found[#found + 1] = { rows[index], place, tonumber(rows[index + 1]) } end
    total = total + count
    return count - #rows / 2
  end
  for ring = 0, 3 do readyLeft = readyLeft + add(tostring(ring), prefix .. 'ready:' .. ring, ${LOOKED_AT_A_RING}) end
  add('later', prefix .. 'later', ${LOOKED_AT_LATER})
  return found, total, readyLeft
end

local function goesBefore(seen, class, dueAt, now)
  if not seen.id then return true end
  if dueAt > now then return dueAt < seen.dueAt end
  return seen.dueAt > now or class < seen.class or (class == seen.class and dueAt < seen.dueAt)
end

local function lookAt(group, now)
  local key, state = prefix .. 'q:' .. group, readGroup(group)
  local waitUntil, isProbing = waitUntilOf(group, state, now), state.isOpen and not isExpress(group)
  local seen = { state = state, total = redis.call('ZCARD', key), due = 0, mayGo = 0 }
  local found = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  while found[1] do
    local score = tonumber(found[2])
    local class = math.floor(score / CLASS)
    local dueAt = score - class * CLASS
    -- Due jobs go first, by class; otherwise the job that is due soonest.
    if goesBefore(seen, class, dueAt, now) then seen.id, seen.class, seen.dueAt = found[1], class, dueAt end
    if dueAt <= now then
      local count = seen.total == 1 and 1 or redis.call('ZCOUNT', key, class * CLASS, class * CLASS + now)
      local since = class == 0 and dueAt or math.max(dueAt, waitUntil)
      if state.place == 's' then since = math.huge end
      seen.due = seen.due + count
      if since <= now then
        -- A probe goes alone.
        if class > 0 and isProbing then count = math.min(count, math.max(0, 1 - seen.mayGo)) end
        seen.mayGo = seen.mayGo + count
        if class == 2 then seen.backgroundSince = since else seen.since = math.min(seen.since or since, since) end
      end
    end
    if seen.total == 1 or class == 2 then break end
    found = redis.call('ZRANGE', key, (class + 1) * CLASS, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  end
  return seen
end
`;
