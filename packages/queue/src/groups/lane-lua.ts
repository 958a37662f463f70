/** What an unused bucket holds, as time at its rate: a burst of one second, in ms. */
const BURST_MS = 1_000;
/** A lane whose bucket is empty waits for the tokens of so many ms, so that it wakes workers 50 times a second at most. */
const TOKENS_TOGETHER_MS = 20;
/** Covers rounding: a double holds an epoch time to less than a thousandth of a ms. */
const ROUNDING_MS = 0.01;
/**
 * The time until a bucket is full is this at most, in ms. A job that waits for no token can take one that isn't there;
 * many of them must not keep the others waiting for longer.
 */
const MOST_MISSING_MS = 60_000;
/** How much longer than until it is full a bucket is kept, in ms, because the clocks of workers differ a little. */
const KEPT_FULL_MS = 10_000;

/**
 * Lanes are parts of a group that have a rate, `<group>~<jobs per second>~<name>`. Needs GROUP_LUA.
 *
 * The jobs of a lane wait in a zset of their own, `q:<lane>`. In the group's zset stands a marker for each class of
 * which a job of the lane may go, `~<class>~<jobs per second>~<name>`, scored like the first of these jobs. A reserve
 * that comes to a marker takes jobs of the lane. While the lane has no token, only its urgent jobs have a marker, and
 * the lane itself stands in `later` until it has some. So nothing of it is in the way of the group's other jobs, and it
 * comes back to the place that the age of its jobs gives it. `lanes` (zset, all scores 0) has the lanes with waiting
 * jobs.
 *
 * The bucket of tokens is a string, `m:<group>~<name>`: when it will be full again (ms, see GCRA); absent: it is full.
 * A change of the rate keeps it. A job takes its token when it is reserved, and nothing gives one back.
 *
 * Rates are strings, as they stand in the names.
 */
export const LANE_LUA = /* lua */ `
local function isMarker(member) return string.byte(member) == 126 end

-- Tokens in a bucket, since or from when it has one (ms), when it is full (ms), and the time that one token takes (ms).
local function readBucket(group, rate, name, now)
  local fullAt, interval = tonumber(redis.call('GET', prefix .. 'm:' .. group .. '~' .. name) or '') or 0, 1000 / rate
  -- It was written before the clock was set back, as a failover may do.
  if fullAt > now + ${2 * MOST_MISSING_MS} then fullAt = 0 end
  local missing = math.max(0, fullAt - now)
  local tokens = math.max(0, math.floor((${BURST_MS + ROUNDING_MS} - missing) / interval))
  return tokens, fullAt - ${BURST_MS} + interval, fullAt, interval
end

-- Puts a lane where its jobs and its bucket say, after a change of either. The caller then puts the group.
local function placeLane(group, rate, name, now)
  local lane, key = group .. '~' .. rate .. '~' .. name, prefix .. 'q:' .. group
  local tokens, _, fullAt, interval = readBucket(group, rate, name, now)
  local goesAt = 0
  if tokens == 0 then
    goesAt = math.ceil(fullAt - ${BURST_MS} + interval * math.ceil(${TOKENS_TOGETHER_MS} / interval))
  end
  local present, absent, scores, waits = {}, {}, {}, false
  local found = redis.call('ZRANGE', prefix .. 'q:' .. lane, 0, 0, 'WITHSCORES')
  local isEmpty = not found[1]
  while found[1] do
    local score = tonumber(found[2])
    local class = math.floor(score / CLASS)
    if class == 0 or score - class * CLASS >= goesAt then scores[class] = score else waits = true end
    found = redis.call('ZRANGE', prefix .. 'q:' .. lane, (class + 1) * CLASS, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  end
  for class = 0, 2 do
    local marker = '~' .. class .. '~' .. rate .. '~' .. name
    if scores[class] then
      present[#present + 1] = scores[class]
      present[#present + 1] = marker
    else
      absent[#absent + 1] = marker
    end
  end
  if #present > 0 then redis.call('ZADD', key, unpack(present)) end
  if #absent > 0 then redis.call('ZREM', key, unpack(absent)) end
  if waits then standLater(lane, goesAt) else redis.call('ZREM', prefix .. 'later', lane) end
  if isEmpty then redis.call('ZREM', prefix .. 'lanes', lane) else redis.call('ZADD', prefix .. 'lanes', 0, lane) end
end

-- The same after jobs were added; also puts the group.
local function placeLaneAdded(group, rate, name, now, tenant)
  placeLane(group, rate, name, now)
  -- It may have lost its last marker: a lane of the same name has taken the tokens since that was set.
  local state = redis.call('EXISTS', prefix .. 'q:' .. group) == 0 and readGroup(group)
  if state then put(group, state, nil, now) else placeAdded(group, now, tenant) end
end

-- Takes at most so many due jobs from the lane of a marker that was taken from the group's zset, and their tokens.
-- Urgent jobs wait for no token. Returns the lane, and ids and scores.
local function takeFromLane(group, marker, now, most)
  local class, rate, name = string.match(marker, '^~(%d)~(%d+)~(.*)$')
  local lane = group .. '~' .. rate .. '~' .. name
  local tokens, _, fullAt, interval = readBucket(group, rate, name, now)
  if class ~= '0' then most = math.min(most, tokens) end
  local from, taken = class * CLASS, {}
  if most > 0 then
    taken = redis.call('ZRANGE', prefix .. 'q:' .. lane, from, from + now, 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
  end
  for index = 1, #taken, 2 do redis.call('ZREM', prefix .. 'q:' .. lane, taken[index]) end
  if #taken > 0 then
    fullAt = math.min(math.max(fullAt, now) + interval * #taken / 2, now + ${MOST_MISSING_MS})
    redis.call('SET', prefix .. 'm:' .. group .. '~' .. name, fullAt, 'PX', math.ceil(fullAt - now) + ${KEPT_FULL_MS})
  end
  placeLane(group, rate, name, now)
  return lane, taken
end

-- The lanes of a group that have waiting jobs.
local function lanesOf(group)
  return redis.call('ZRANGE', prefix .. 'lanes', '[' .. group .. '~', '(' .. group .. string.char(127), 'BYLEX')
end
`;
