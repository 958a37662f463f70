/**
 * The list of a workspace's Tasks. Needs `local prefix`. `keepTasksUntil(workspace, leaves)` lets it stay as long as a
 * Task that leaves then (ms): no shorter than the last of its Tasks. `dropGone(list, now)` drops what has expired, two at
 * most: the oldest, and the one that the time (ms) picks, so that an old Task that lives long keeps none behind it. Each
 * new Task drops two, so that the list has at most about twice as many as live.
 */
export const WORKSPACE_TASKS_LUA = /* lua */ `
local function keepTasksUntil(workspace, leaves)
  local list = prefix .. 'w:' .. workspace .. ':tasks'
  if redis.call('PEXPIRETIME', list) < leaves then redis.call('PEXPIREAT', list, leaves) end
end

local function dropGone(list, now)
  local count = redis.call('ZCARD', list)
  if count == 0 then return end
  local any = tonumber(now) % count
  for _, id in ipairs({ redis.call('ZRANGE', list, 0, 0)[1], redis.call('ZRANGE', list, any, any)[1] }) do
    if redis.call('EXISTS', prefix .. 't:' .. id) == 0 then redis.call('ZREM', list, id) end
  end
end
`;
