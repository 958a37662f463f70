import { PLATFORM } from '@herald/core';

/**
 * Entries of a segment. Redis keeps up to 128 short entries in one block, with some 50 bytes for each, where a large
 * sorted set takes 150. A block is searched from its beginning, so that a longer one costs more time. One of 63 entries
 * has 3,031 bytes, for which the allocator gives 3,072; for one more it gives 3,584.
 */
export const SEGMENT_ENTRIES = 63;
const DAY_MS = 86_400_000;
/** The longest that a delivery is tried, in ms: so much longer than its record an entry stays, which goes by its acceptance. */
export const TRIED_MS = 5 * DAY_MS;
/** With a history, an entry of a log leaves with its delivery. This only ends logs to which nothing comes any more, in ms. */
export const UNUSED_LOG_MS = 100 * DAY_MS;
/** Late entries that are moved, and segments that are counted, in one script: Redis does nothing else meanwhile. */
const MOVED_AT_ONCE = 100;
const COUNTED_AT_ONCE = 1_000;

/**
 * A log holds the ids of deliveries by time of acceptance. `log` is the zset that gets new entries. When it is full, it
 * becomes a segment `log:<time of its newest entry>-<number>`, and `log:segments`, a zset, holds the segments' names by
 * that time. A segment has the entries from the newest of the segment before it to its own newest. Only `log` may have
 * earlier ones, such as what came back from the history; they go where they belong before it becomes a segment. So a
 * log that is one large zset, as in version 0.2.0, is a log without segments.
 *
 * `appendToLog(log, ttl, entries)` adds time, id, ... in the order of time. All of the log goes `ttl` ms after the last
 * entry, and a segment `ttl` ms after it was closed. `removeFromLog(log, at, id)` removes the entry of a time.
 */
export const LOG_LUA = /* lua */ `
local function segmentAt(log, first, offset)
  return unpack(
    redis.call('ZRANGE', log .. ':segments', first, '+inf', 'BYSCORE', 'LIMIT', offset, 1, 'WITHSCORES'))
end

-- Returns whether there may be more of them.
local function moveEarlier(log, ttl, newest)
  local rows = redis.call(
    'ZRANGE', log, '-inf', '(' .. newest, 'BYSCORE', 'LIMIT', 0, ${MOVED_AT_ONCE}, 'WITHSCORES')
  for index = 1, #rows, 2 do
    local id, at = rows[index], rows[index + 1]
    local segment = log .. ':' .. segmentAt(log, '(' .. at, 0)
    redis.call('ZADD', segment, at, id)
    redis.call('ZREM', log, id)
    redis.call('PEXPIRE', segment, ttl)
  end
  if #rows > 0 then redis.call('PEXPIRE', log .. ':segments', ttl) end
  return #rows == 2 * ${MOVED_AT_ONCE}
end

local function closeSegment(log, ttl)
  local segments = log .. ':segments'
  local newest = redis.call('ZRANGE', segments, -1, -1, 'WITHSCORES')[2]
  if newest and moveEarlier(log, ttl, newest) then return end
  if redis.call('ZCARD', log) < ${SEGMENT_ENTRIES} then return end
  local last, number = redis.call('ZRANGE', log, -1, -1, 'WITHSCORES')[2], 1
  while redis.call('ZSCORE', segments, last .. '-' .. number) do number = number + 1 end
  local name = last .. '-' .. number
  redis.call('RENAME', log, log .. ':' .. name)
  redis.call('PEXPIRE', log .. ':' .. name, ttl)
  redis.call('ZADD', segments, last, name)
  redis.call('PEXPIRE', segments, ttl)
  -- Segments go as a whole, but one that was a whole log of version 0.2.0 can be large.
  redis.call('ZREMRANGEBYSCORE', segments, '-inf', last - ttl)
  local oldest = segmentAt(log, '-inf', 0)
  redis.call('ZREMRANGEBYSCORE', log .. ':' .. oldest, '-inf', last - ttl)
end

local function appendToLog(log, ttl, entries)
  local from = 1
  while from <= #entries do
    local room = math.max(${SEGMENT_ENTRIES} - redis.call('ZCARD', log), 1)
    local to = math.min(#entries, from + 2 * room - 1)
    redis.call('ZADD', log, unpack(entries, from, to))
    if to - from + 1 == 2 * room then closeSegment(log, ttl) end
    from = to + 1
  end
  redis.call('PEXPIRE', log, ttl)
end

local function removeFromLog(log, at, id)
  if redis.call('ZREM', log, id) == 1 then return end
  local offset = 0
  repeat
    local name, newest = segmentAt(log, at, offset)
    if not name then return end
    local segment = log .. ':' .. name
    if redis.call('ZREM', segment, id) == 1 then
      if redis.call('EXISTS', segment) == 0 then redis.call('ZREM', log .. ':segments', name) end
      return
    end
    offset = offset + 1
  -- Several segments may have entries of one millisecond.
  until tonumber(newest) > tonumber(at)
end
`;

export const COUNT_LOG_LUA = /* lua */ `
-- Count the entries of a log (see LOG_LUA) from one time until before another, in steps.
-- KEYS[1] log (zset)
-- ARGV[1] from (ms)   ARGV[2] to (ms, exclusive)   ARGV[3] segments that were counted before
-- Returns {entries, segments counted by now, or -1 when these are all}.
local log, from, to, offset = KEYS[1], ARGV[1], '(' .. ARGV[2], tonumber(ARGV[3])
local count = offset == 0 and redis.call('ZCOUNT', log, from, to) or 0
local rows = redis.call('ZRANGE', log .. ':segments', from, '+inf', 'BYSCORE', 'LIMIT', offset, ${COUNTED_AT_ONCE},
  'WITHSCORES')
for index = 1, #rows, 2 do
  count = count + redis.call('ZCOUNT', log .. ':' .. rows[index], from, to)
  if tonumber(rows[index + 1]) >= tonumber(ARGV[2]) then return { count, -1 } end
end
return { count, #rows < 2 * ${COUNTED_AT_ONCE} and -1 or offset + ${COUNTED_AT_ONCE} }
`;

/** Segments without entries that one script forgets: Redis does nothing else meanwhile. */
const FORGOTTEN_AT_ONCE = 1_000;

/**
 * `readLog(log, isNewestFirst, first, final, last, count)` reads entries of a log (see `LOG_LUA`) from one bound to the
 * other, as ZRANGE takes bounds, oldest or newest first. last: { at, id } of the entry before them; nil: from `first` on.
 * Returns { id =, at = (a text) } of each, in no order: the first `count` of them, and perhaps further ones. In its place
 * nil means: read again, for it only forgot segments that have expired.
 */
export const READ_LOG_LUA = /* lua */ `
local function readLog(log, isNewestFirst, first, final, last, count)
  local found, segments, forgotten = {}, log .. ':segments', 0
  local numberOf = function(bound) return (string.gsub(bound, '^%(', '')) end
  local from, to = numberOf(first), numberOf(final)

  local function range(key, limit)
    if isNewestFirst then
      return redis.call('ZRANGE', key, first, final, 'BYSCORE', 'REV', 'LIMIT', 0, limit, 'WITHSCORES')
    end
    return redis.call('ZRANGE', key, first, final, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
  end

  local function note(id, at)
    local isSameTime = last and at == last.at
    local isBehind = not isSameTime or (isNewestFirst and id < last.id) or (not isNewestFirst and id > last.id)
    if isBehind then found[#found + 1] = { id = id, at = at } end
  end

  local function readFrom(key)
    -- Those of the last entry's millisecond come again, and a batch gives many deliveries one millisecond.
    local rows = range(key, count + (last and redis.call('ZCOUNT', key, last.at, last.at) or 0))
    for index = 1, #rows, 2 do note(rows[index], rows[index + 1]) end
  end

  -- Whether nothing in further segments, all from this time on, can come before the first entries found.
  local askedBound = nil
  local function isEnough(bound)
    -- Segments of one millisecond add nothing that is sure.
    if #found < count or bound == askedBound then return false end
    askedBound = bound
    local sure = 0
    for _, entry in ipairs(found) do
      local at = tonumber(entry.at)
      if (isNewestFirst and at > bound) or (not isNewestFirst and at < bound) then sure = sure + 1 end
    end
    return sure >= count
  end

  -- Returns false for a segment that has expired, and forgets it.
  local function readSegment(name)
    local key = log .. ':' .. name
    if redis.call('EXISTS', key) == 0 then
      redis.call('ZREM', segments, name)
      forgotten = forgotten + 1
      return false
    end
    readFrom(key)
    return true
  end

  readFrom(log)
  if isNewestFirst and from ~= '+inf' then
    local name
    repeat
      name = redis.call('ZRANGE', segments, '(' .. from, '+inf', 'BYSCORE', 'LIMIT', 0, 1)[1]
      if forgotten >= ${FORGOTTEN_AT_ONCE} then return nil end
    until not name or readSegment(name)
  end
  local offset, newest = 0, nil
  while forgotten < ${FORGOTTEN_AT_ONCE} do
    local rows
    if isNewestFirst then
      rows = redis.call('ZRANGE', segments, from, to, 'BYSCORE', 'REV', 'LIMIT', offset, 1, 'WITHSCORES')
      if not rows[1] or isEnough(tonumber(rows[2])) then return found end
    else
      rows = redis.call('ZRANGE', segments, from, '+inf', 'BYSCORE', 'LIMIT', offset, 1, 'WITHSCORES')
      if not rows[1] or (newest and isEnough(newest)) then return found end
    end
    if readSegment(rows[1]) then offset, newest = offset + 1, tonumber(rows[2]) end
    if not isNewestFirst and to ~= '+inf' and tonumber(rows[2]) > tonumber(to) then return found end
  end
  return nil
end
`;

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
