import { ERASED_ATTEMPT_LUA } from '../deliveries/erased-attempt-lua.ts';
import { FIRST_ATTEMPT_LUA } from '../deliveries/first-attempt-lua.ts';

export const ERASE_ATTEMPTS_LUA = /* lua */ `#!lua flags=allow-oom
-- Erase the answers in a delivery's log. Attempts that are recorded later have none, once the transition is erased. A
-- second run changes nothing.
-- KEYS[1] delivery (hash)   KEYS[2] its attempts (list)
-- Returns how many it changed.
${ERASED_ATTEMPT_LUA}
${FIRST_ATTEMPT_LUA}
local changed = eraseFirst(KEYS[1]) and 1 or 0
for index, attempt in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  local kept = withoutContent(attempt)
  if kept ~= attempt then
    redis.call('LSET', KEYS[2], index - 1, kept)
    changed = changed + 1
  end
end
return changed
`;
