/**
 * Puts replayed deliveries in their lines. Needs GROUP_LUA, ENQUEUE_LUA, LINE_LUA, ADVANCE_LUA and
 * `local prefix`.
 *
 * `createReplayOrder(endpoint, timeout, now)` (timeout, now: ms) returns
 * `join(id, place, transition)`, to be called once a record is pending, and `settleTurns()`, to be called once all have
 * joined. The latter sets when each is due, and returns these times by id. A delivery that was first so far, waits and
 * has not been tried, waits again behind those that came before it.
 */
export const REPLAY_ORDER_LUA = /* lua */ `
-- The sequence in a body, as renderWebhookBody begins it.
local function sequenceIn(body)
  return string.match(body or '', '^{"id":"[^"]*","event":"[^"]*","created_at":"[^"]*","sequence":(%d+),')
end

local function createReplayOrder(endpoint, timeout, now)
  -- Former first ones, and those that joined, by line.
  local former, joined = {}, {}

  local function join(id, place, transition)
    local facts = redis.call('HMGET', transition, 'task', place and 'ev' or 'body')
    place = place or sequenceIn(facts[2])
    if not facts[1] or not place then return end
    local line = lineOf(prefix, endpoint, facts[1])
    if not joined[line] then
      local first, known = firstInLine(prefix, line)
      former[line] = first and { id = first, known = known } or nil
      joined[line] = {}
    end
    redis.call('ZADD', line, place, id)
    redis.call('HSET', prefix .. 'd:' .. id, 'o', place)
    table.insert(joined[line], id)
  end

  local function settleTurns()
    local dueAt = {}
    for line, ids in pairs(joined) do
      local first, before = redis.call('ZRANGE', line, 0, 0)[1], former[line]
      for _, id in ipairs(ids) do
        dueAt[id] = id == first and now or now + timeout
        redis.call('HSET', prefix .. 'd:' .. id, 'due', dueAt[id])
      end
      if before and before.id ~= first and before.known.isUntried and not before.known.isOwed and isWaiting(groupOf(endpoint), before.id) then
        redis.call('HSET', prefix .. 'd:' .. before.id, 'due', now + timeout)
        local class = before.known.isReplayed and BACKGROUND or USUAL
        moveWaiting(before.id, endpoint, class + now + timeout, now)
      end
    end
    return dueAt
  end

  return join, settleTurns
end
`;
