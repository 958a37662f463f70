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
