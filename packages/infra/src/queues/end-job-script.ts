/**
 * For scripts that end jobs themselves: `endJob(prefix, id, token)`. It leaves what BullMQ's moveToFinished leaves of a job that is
 * completed and not kept, but for the entries in its stream of events, to which nobody listens.
 */
export const END_JOB_LUA = /* lua */ `
-- prefix: of the jobs' keys   token: of the lock
-- Returns 1 when the job is gone, 0 when it is not this token's: it was taken up by somebody else, or is to be.
local function endJob(prefix, id, token)
  local key = prefix .. id
  if redis.call('EXISTS', key) == 0 then return 1 end
  if redis.call('GET', key .. ':lock') ~= token then return 0 end
  if redis.call('LREM', prefix .. 'active', -1, id) == 0 then return 0 end
  redis.call('SREM', prefix .. 'stalled', id)
  redis.call('DEL', key, key .. ':lock')
  return 1
end
`;
