/** Begins the time for which settled deliveries are kept. Needs `local prefix`. */
export const RETAIN_LUA = /* lua */ `
-- ttl: ms from now; 0: until the delivery has moved to the history. isFirst: a time that has begun goes on.
local function retain(id, now, ttl, isFirst)
  if tonumber(ttl) == 0 then
    redis.call('ZADD', prefix .. 'settled', now, id)
    return
  end
  local record = prefix .. 'd:' .. id
  for _, key in ipairs({ record, record .. ':a' }) do
    if isFirst then redis.call('PEXPIRE', key, ttl, 'NX') else redis.call('PEXPIRE', key, ttl) end
  end
end

-- A transition goes with the last of its deliveries.
local function retainTransition(key, ttl, isFirst)
  if tonumber(ttl) == 0 then return end
  if isFirst then redis.call('PEXPIRE', key, ttl, 'NX') else redis.call('PEXPIRE', key, ttl) end
end
`;
