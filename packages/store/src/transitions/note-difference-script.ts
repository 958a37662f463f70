export const NOTE_DIFFERENCE_LUA = /* lua */ `
-- Note that a report about a Task was repeated with other contents. It changes nothing that a transition is decided on.
-- KEYS[1] Task (hash)
-- Returns 1 the first time, 0 from then on and when the Task is gone.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HSETNX', KEYS[1], 'differs', '1')
`;
