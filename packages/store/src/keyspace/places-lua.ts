/** Former groups of an endpoint that are remembered, at most: those that it has been in last. */
const FORMER_PLACES = 8;

/**
 * The groups of the queue in which deliveries of an endpoint may wait: `dst`, that of its present destination, or its
 * lane in it while it has a rate (see `laneOf` of the queue); and `dstWas`, former ones joined by `|`, from which a
 * purge moves what waits. They stay, because a lease may still put a delivery back into one.
 */
export const PLACES_LUA = /* lua */ `
-- The present place of an endpoint, '' when it is unknown, and then its former ones, latest first.
local function placesOf(endpoint)
  local fields = redis.call('HMGET', endpoint, 'dst', 'dstWas')
  local places = { fields[1] or '' }
  for place in string.gmatch(fields[2] or '', '[^|]+') do places[#places + 1] = place end
  return places
end

-- Notes the place that follows from the present url and rate. before: its places before the change. Returns whether
-- what waits must move.
local function movePlace(endpoint, before, id)
  local fields = redis.call('HMGET', endpoint, 'dst', 'rate')
  if not fields[1] then return false end
  local present = string.match(fields[1], '^[^~]*')
  if fields[2] then present = present .. '~' .. fields[2] .. '~' .. id end
  if present ~= fields[1] then redis.call('HSET', endpoint, 'dst', present) end
  if before[1] == '' or before[1] == present then return false end
  local former = {}
  for _, place in ipairs(before) do
    if place ~= present and #former < ${FORMER_PLACES} then former[#former + 1] = place end
  end
  redis.call('HSET', endpoint, 'dstWas', table.concat(former, '|'))
  return true
end
`;

/** Needs ENQUEUE_LUA and PLACES_LUA. */
export const LEAVE_FORMER_LUA = /* lua */ `
-- Takes deliveries that wait in former places out of them. Returns their scores by id.
local function leaveFormer(places, ids, now)
  local scores = {}
  for index = 2, #places do
    local isUsed = places[index] ~= places[1] and redis.call('EXISTS', prefix .. 'q:' .. places[index]) == 1
    for id, score in pairs(isUsed and dequeue(places[index], ids, now) or {}) do scores[id] = score end
  end
  return scores
end
`;
