/**
 * For scripts that add jobs in the same step as something else: `enqueue(entries, now, mode)`. Needs GROUP_LUA. Adding a job that waits
 * already moves it to the new place, unless the mode is 'NX'. A job that is in work must not be added: see `jobsInWork`.
 */
export const ENQUEUE_LUA = /* lua */ `
-- entries: list of {group, job id, score}   now (ms)   mode: 'NX', or nil
local function enqueue(entries, now, mode)
  local jobs, groups = {}, {}
  for _, entry in ipairs(entries) do
    local group = entry[1]
    local list = jobs[group]
    if not list then
      list = {}
      jobs[group] = list
      groups[#groups + 1] = group
    end
    list[#list + 1] = entry[3]
    list[#list + 1] = entry[2]
  end
  for _, group in ipairs(groups) do
    if mode then redis.call('ZADD', prefix .. 'q:' .. group, mode, unpack(jobs[group]))
    else redis.call('ZADD', prefix .. 'q:' .. group, unpack(jobs[group])) end
    local state = readGroup(group)
    -- What is ready stays so, and what is full becomes ready when a slot is free.
    if not state.place or state.place == 'l' then place(group, state, now) end
  end
end

-- Takes jobs out that wait; one that is in work stays. ids: list. Returns their scores by id.
local function dequeue(group, ids, now)
  local key, scores = prefix .. 'q:' .. group, {}
  for _, id in ipairs(ids) do
    local score = redis.call('ZSCORE', key, id)
    if score then
      scores[id] = score
      redis.call('ZREM', key, id)
    end
  end
  if next(scores) then place(group, readGroup(group), now) end
  return scores
end
`;
