import { ERASED_ATTEMPT_LUA } from '../deliveries/erased-attempt-lua.ts';

export const ERASE_ATTEMPTS_LUA = /* lua */ `
-- Erase the answers in a delivery's log. Attempts that are recorded later have none, once the transition is erased. A
-- second run changes nothing.
-- KEYS[1] attempts (list)
-- Returns how many it changed.
${ERASED_ATTEMPT_LUA}
local changed = 0
for index, attempt in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local kept = withoutContent(attempt)
  if kept ~= attempt then
    redis.call('LSET', KEYS[1], index - 1, kept)
    changed = changed + 1
  end
end
return changed
`;
