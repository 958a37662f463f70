/**
 * The list of a workspace's Tasks. Needs `local prefix`. `keepTasksUntil(workspace, leaves)` lets it stay as long as a
 * Task that leaves then (ms): no shorter than the last of its Tasks. `dropGone(list)` drops what has expired, two Tasks at
 * most: the oldest, and any one, so that an old Task that lives long keeps none behind it. Each new Task drops two, so
 * that the list has at most about twice as many as live.
 */
export const WORKSPACE_TASKS_LUA = /* lua */ `
local function keepTasksUntil(workspace, leaves)
  local list = prefix .. 'w:' .. workspace .. ':tasks'
  if redis.call('PEXPIRETIME', list) < leaves then redis.call('PEXPIREAT', list, leaves) end
end

local function dropGone(list)
  for _, id in ipairs({ redis.call('ZRANGE', list, 0, 0)[1] or '', redis.call('ZRANDMEMBER', list) or '' }) do
    if redis.call('EXISTS', prefix .. 't:' .. id) == 0 then redis.call('ZREM', list, id) end
  end
end
`;
