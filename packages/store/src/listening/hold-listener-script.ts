export const HOLD_LISTENER_LUA = /* lua */ `
-- Give a listener a slot of its workspace, or keep the one that it has. A slot that nobody keeps ends by itself.
-- The version of the subscriptions then says until when somebody listens. It changes only when less than half of that
-- time is left: however many come and go, every cached copy of the subscriptions is read anew as rarely as that.
-- KEYS[1] listeners of the workspace (zset: id, end of its slot)   KEYS[2] subscription version (string)
-- ARGV[1] listener id   ARGV[2] limit   ARGV[3] now (ms)   ARGV[4] how long a slot lasts (ms)
-- ARGV[5] token of a new version   ARGV[6] how long a version tells of listeners (ms)
-- Returns 'held' | 'full'.
local now, lasts = tonumber(ARGV[3]), tonumber(ARGV[6])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local isKnown = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not isKnown and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 'full' end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[4]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local listened = tonumber(string.match(redis.call('GET', KEYS[2]) or '', ':(%d+)$') or 0)
if listened - now < lasts / 2 then
  redis.call('SET', KEYS[2], ARGV[5] .. ':' .. string.format('%.0f', now + lasts))
end
return 'held'
`;
