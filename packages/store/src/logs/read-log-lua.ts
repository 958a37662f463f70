/**
 * `readLog(log, isNewestFirst, first, final, last, count)` reads entries of a log (see `LOG_LUA`) from one bound to the
 * other, as ZRANGE takes bounds, oldest or newest first. last: { at, id } of the entry before them; nil: from `first` on.
 * Returns { id =, at = (a text) } of each, in no order: the first `count` of them, and perhaps further ones.
 */
export const READ_LOG_LUA = /* lua */ `
local function readLog(log, isNewestFirst, first, final, last, count)
  local found, segments = {}, log .. ':segments'
  local numberOf = function(bound) return (string.gsub(bound, '^%(', '')) end
  local from, to = numberOf(first), numberOf(final)

  local function range(key, low, high, limit)
    if isNewestFirst then
      return redis.call('ZRANGE', key, low, high, 'BYSCORE', 'REV', 'LIMIT', 0, limit, 'WITHSCORES')
    end
    return redis.call('ZRANGE', key, low, high, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
  end

  local function note(id, at)
    local isSameTime = last and at == last.at
    local isBehind = not isSameTime or (isNewestFirst and id < last.id) or (not isNewestFirst and id > last.id)
    if isBehind then found[#found + 1] = { id = id, at = at } end
  end

  -- A batch gives many deliveries one millisecond: all of those of the last entry's are read.
  local function readFrom(key)
    local limit = count + (last and redis.call('ZCOUNT', key, last.at, last.at) or 0)
    local rows = range(key, first, final, limit)
    local cut = #rows == 2 * limit and rows[#rows]
    for index = 1, #rows, 2 do
      if rows[index + 1] ~= cut then note(rows[index], rows[index + 1]) end
    end
    if not cut then return end
    local sameTime = range(key, cut, cut, -1)
    for index = 1, #sameTime, 2 do note(sameTime[index], cut) end
  end

  -- Whether nothing in further segments, all from this time on, can come before the first entries found.
  local function isEnough(bound)
    if #found < count then return false end
    local sure = 0
    for _, entry in ipairs(found) do
      local at = tonumber(entry.at)
      if (isNewestFirst and at > bound) or (not isNewestFirst and at < bound) then sure = sure + 1 end
    end
    return sure >= count
  end

  readFrom(log)
  local offset = 0
  if isNewestFirst then
    if from ~= '+inf' then
      local name = redis.call('ZRANGE', segments, '(' .. from, '+inf', 'BYSCORE', 'LIMIT', 0, 1)[1]
      if name then readFrom(log .. ':' .. name) end
    end
    while true do
      local rows = redis.call('ZRANGE', segments, from, to, 'BYSCORE', 'REV', 'LIMIT', offset, 1, 'WITHSCORES')
      if not rows[1] or isEnough(tonumber(rows[2])) then return found end
      readFrom(log .. ':' .. rows[1])
      offset = offset + 1
    end
  end
  local newest = nil
  while true do
    local rows = redis.call('ZRANGE', segments, from, '+inf', 'BYSCORE', 'LIMIT', offset, 1, 'WITHSCORES')
    if not rows[1] or (newest and isEnough(newest)) then return found end
    readFrom(log .. ':' .. rows[1])
    newest, offset = tonumber(rows[2]), offset + 1
    if to ~= '+inf' and newest > tonumber(to) then return found end
  end
end
`;
