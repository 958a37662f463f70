/**
 * An idempotency record is a hash: `body` (fingerprint), `at` and `random` (the seed of all runs), `token` and `until`
 * (the present run, and the end of its lease), and `answer` once a run succeeded. Another run may acquire it after
 * `until`.
 */
export const ACQUIRE_RECORD_LUA = /* lua */ `
-- Acquire a request's record under a lease, unless another run holds it or has answered.
-- KEYS[1] idempotency record (hash)
-- ARGV[1] token   ARGV[2] fingerprint of the body   ARGV[3] now (ms)   ARGV[4] end of the lease (ms)
-- ARGV[5] random part of the seed   ARGV[6] time to live (ms)
-- Returns {'acquired', at, random} (those of the first run) | {'answered', answer} | {'conflict'} | {'in_progress'}.
local body, at, random, token, ends, answer =
  unpack(redis.call('HMGET', KEYS[1], 'body', 'at', 'random', 'token', 'until', 'answer'))
if not body then
  redis.call('HSET', KEYS[1], 'body', ARGV[2], 'at', ARGV[3], 'random', ARGV[5], 'token', ARGV[1], 'until', ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
  return { 'acquired', ARGV[3], ARGV[5] }
end
if body ~= ARGV[2] then return { 'conflict' } end
if answer then return { 'answered', answer } end
-- The same token: the client lost the reply and sends the same call again.
if token ~= ARGV[1] and tonumber(ends) > tonumber(ARGV[3]) then return { 'in_progress' } end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'until', ARGV[4])
return { 'acquired', at, random }
`;

export const RENEW_RECORD_LUA = /* lua */ `#!lua flags=allow-oom
-- Extend the lease while the request runs.
-- KEYS[1] idempotency record (hash)
-- ARGV[1] token   ARGV[2] end of the lease (ms)
-- Returns 'renewed' | 'lost' (the lease had ended, and the record is gone or another run's).
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
redis.call('HSET', KEYS[1], 'until', ARGV[2])
return 'renewed'
`;

export const KEEP_ANSWER_LUA = /* lua */ `
-- Keep the answer of a run that succeeded, unless a newer run has the record.
-- KEYS[1] idempotency record (hash)
-- ARGV[1] token   ARGV[2] answer (JSON)   ARGV[3] time to live (ms)
-- Returns 'kept' | 'lost'.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
redis.call('HSET', KEYS[1], 'answer', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'kept'
`;

export const GIVE_BACK_RECORD_LUA = /* lua */ `#!lua flags=allow-oom
-- End a run that did not succeed. When it changed nothing, the record is deleted. When it may have, the body and the
-- seed stay: only the same request can run again, and it finds what this run created.
-- KEYS[1] idempotency record (hash)
-- ARGV[1] token   ARGV[2] 'nothing' | 'perhaps': what the run changed
-- Returns 'given_back' | 'lost'.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
if ARGV[2] == 'nothing' then
  redis.call('DEL', KEYS[1])
else
  redis.call('HSET', KEYS[1], 'token', '', 'until', 0)
end
return 'given_back'
`;
