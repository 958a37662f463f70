/** Begins the time for which settled deliveries are kept. Needs ACCOUNT_LUA and `local prefix`. */
export const RETAIN_LUA = /* lua */ `
-- Whether what has settled waits for the history: ttl is 0, or this process has none, though its data has one.
local hasHistory = nil
local function waits(ttl)
  if tonumber(ttl) == 0 then return true end
  if hasHistory == nil then hasHistory = redis.call('EXISTS', prefix .. 'history') == 1 end
  return hasHistory
end

-- ttl: ms from now; 0: until the delivery has moved to the history. isFirst: a time that has begun goes on. hasList:
-- false when all of its attempts are in its record.
local function retain(id, now, ttl, isFirst, hasList)
  if waits(ttl) then
    redis.call('ZADD', prefix .. 'settled', now, id)
    return
  end
  local record = prefix .. 'd:' .. id
  for _, key in ipairs({ record, hasList ~= false and record .. ':a' or nil }) do
    if isFirst then redis.call('PEXPIRE', key, ttl, 'NX') else redis.call('PEXPIRE', key, ttl) end
  end
end

-- A transition goes with the last of its deliveries.
local function retainTransition(key, now, ttl, isFirst)
  local at = not waits(ttl) and timeToLeave(now, ttl)
  if at and not (isFirst and redis.call('PEXPIRETIME', key) > 0) then leaveAt(key, at) end
end
`;
