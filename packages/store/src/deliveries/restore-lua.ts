/**
 * `restore(past, body, now)` writes a delivery back as history has it, with its attempts, its transition and its places
 * in the logs; `past` is what `toRestored` made. It is settled, and leaves Redis again unless it is to be sent. What
 * Redis already has of the transition stays. Call it only when the delivery's record is absent. Needs ACCOUNT_LUA, ENDED_LUA
 * and `local prefix`.
 * Returns nil, or why nothing was written: 'erased' (the Task's payloads were, meanwhile) or 'not_kept' (there is no
 * body).
 */
export const RESTORE_LUA = /* lua */ `
local function restore(past, body, now)
  local record, transition = prefix .. 'd:' .. past.id, prefix .. 'x:' .. past.transition
  -- An erasure may have run after history was read. Of a Task that is gone, it marks the transitions.
  if past.isErased or redis.call('HEXISTS', transition, 'erased') == 1 then return 'erased' end
  if past.task and redis.call('HEXISTS', prefix .. 't:' .. past.task, 'erased') == 1 then return 'erased' end
  if redis.call('HEXISTS', transition, 'ev') == 0 then
    if body == '' then return 'not_kept' end
    redis.call('DEL', transition)
    local size = sizeOfTransition(#body, past.deliveries)
    redis.call('HSET', transition, 'open', 0, 'body', body, 'b', size, unpack(past.transitionFields))
    noteBytes(past.workspace, size)
  end
  leaveAt(transition, nil)
  redis.call('DEL', record .. ':a')
  redis.call('HSET', record, unpack(past.fields))
  if #past.attempts > 0 then redis.call('RPUSH', record .. ':a', unpack(past.attempts)) end
  redis.call('ZADD', prefix .. 'e:' .. past.endpoint .. ':log', past.at, past.id)
  if past.isCallback then redis.call('ZADD', prefix .. 'w:' .. past.workspace .. ':callbacks', past.at, past.id) end
  local status = redis.call('HGET', record, 's')
  noteEnded({ id = past.id, endpoint = past.endpoint, workspace = past.workspace, status = status, at = past.at }, 0)
  redis.call('ZADD', prefix .. 'settled', now, past.id)
  return nil
end
`;
