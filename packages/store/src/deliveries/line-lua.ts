import { GROUP_OF_LUA } from '../keys/groups.ts';

/**
 * The pending deliveries of one Task to one endpoint stand in a line, if the endpoint asks for order: a zset, scored by
 * sequence. The first may go. The others wait in the queue as well, due when their timeout ends: nothing has to look
 * after them. A delivery leaves when it is settled, in the same step.
 *
 * `lineOf(prefix, endpoint, task)` names the line. `firstInLine(prefix, line)` returns the id of its first and what
 * its record says, or nil. It drops members that are no longer pending.
 */
export const LINE_LUA = /* lua */ `
local function lineOf(prefix, endpoint, task) return prefix .. 'o:' .. endpoint .. ':' .. task end

local function firstInLine(prefix, line)
  while true do
    local id = redis.call('ZRANGE', line, 0, 0)[1]
    if not id then return nil end
    local facts = redis.call('HMGET', prefix .. id, 's', 'n', 'due', 'owe', 'e', 'from')
    if facts[1] == 'pending' then
      return id, {
        isUntried = (facts[2] or '0') == '0', due = tonumber(facts[3] or '') or 0, isOwed = facts[4] ~= false,
        endpoint = facts[5], isReplayed = facts[6] ~= false,
      }
    end
    redis.call('ZREM', line, id)
  end
end
`;

/**
 * Needs GROUP_LUA, ENQUEUE_LUA, LINE_LUA and `local prefix`.
 *
 * `moveWaiting(id, endpoint, score, now)` moves a delivery within its group, if it waits there. One in work stays as it
 * is.
 *
 * `advance(line, now)` makes the first of a line due, if it has waited for its turn until now. Returns its id, or nil.
 */
export const ADVANCE_LUA = /* lua */ `${GROUP_OF_LUA}
local function moveWaiting(id, endpoint, score, now)
  local group = groupOf(endpoint)
  if isWaiting(group, id) then enqueue({ { group, id, score } }, now) end
end

local function advance(line, now)
  local id, first = firstInLine(prefix, line)
  -- One that has been tried goes by its schedule.
  if id and first.isUntried and first.due > now then
    redis.call('HSET', prefix .. id, 'due', now)
    local class = first.isReplayed and BACKGROUND or USUAL
    if not first.isOwed then moveWaiting(id, first.endpoint, class + now, now) end
  end
  return id
end
`;
