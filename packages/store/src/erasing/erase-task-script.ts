import { ACCOUNT_LUA, COUNTED_TASK_FIELDS } from '../keyspace/account-lua.ts';

/** Fields of a Task that tell nothing of its content. `usage` is what it is billed by. */
const KEPT = [
  'ws',
  'ews',
  'status',
  'seq',
  'rev',
  'at',
  'upd',
  'cb',
  'cbUrl',
  'cbEvents',
  'cbOrd',
  'usage',
  'differs',
  'erased',
  'erasedTo',
  'b',
  'leaves',
];

export const ERASE_TASK_LUA = /* lua */ `#!lua flags=allow-oom
-- Erase what a closed Task itself holds, and note that it is erased: a later report adds nothing. A second run changes
-- nothing. Of fields that this script doesn't know, none stays.
-- KEYS[1] Task (hash)   KEYS[2] its messages (list)   KEYS[3] its decisions (hash)
-- ARGV[1] workspace id   ARGV[2] now (ms)   ARGV[3] new revision   ARGV[4] prefix
-- Returns {'missing'} | {'open', status} | {'erased', when first (ms), sequence up to which its transitions are erased}.
local prefix = ARGV[4]
${ACCOUNT_LUA}
local facts = redis.call('HMGET', KEYS[1], 'ws', 'status', 'erased', 'erasedTo', 'b', 'leaves')
if facts[1] ~= ARGV[1] then return { 'missing' } end
if facts[2] ~= 'done' and facts[2] ~= 'canceled' then return { 'open', facts[2] } end
if not facts[3] then redis.call('HSET', KEYS[1], 'erased', ARGV[2], 'rev', ARGV[3]) end
local kept, counted, freed = {}, {}, 0
for _, name in ipairs({ ${COUNTED_TASK_FIELDS.map((name) => `'${name}'`).join(', ')} }) do counted[name] = true end
for _, name in ipairs({ ${KEPT.map((name) => `'${name}'`).join(', ')} }) do kept[name] = true end
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if not kept[name] then
    if counted[name] then freed = freed + redis.call('HSTRLEN', KEYS[1], name) end
    redis.call('HDEL', KEYS[1], name)
  end
end
for _, message in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do freed = freed + sizeOfEntry('', message) end
local decisions = redis.call('HGETALL', KEYS[3])
for index = 1, #decisions, 2 do freed = freed + sizeOfEntry(decisions[index], decisions[index + 1]) end
redis.call('DEL', KEYS[2], KEYS[3])
if facts[5] and freed > 0 then
  redis.call('HSET', KEYS[1], 'b', facts[5] - freed)
  noteBytes(facts[1], -freed, tonumber(facts[6]))
  writeAccounts()
end
return { 'erased', facts[3] or ARGV[2], facts[4] or '0' }
`;

export const NOTE_ERASED_LUA = /* lua */ `#!lua flags=allow-oom
-- Note how far the transitions of a Task are erased, so that another run goes on from there.
-- KEYS[1] Task (hash)
-- ARGV[1] sequence of the last one
-- Returns 'noted' | 'missing' (it has expired).
if redis.call('EXISTS', KEYS[1]) == 0 then return 'missing' end
redis.call('HSET', KEYS[1], 'erasedTo', ARGV[1])
return 'noted'
`;

export const MARK_ERASED_LUA = /* lua */ `
-- Note that a transition is being erased which is gone from Redis: none of its deliveries comes back from history (see
-- RESTORE_LUA), even if history was read before. One that Redis has is left to ERASE_TRANSITION_LUA.
-- KEYS[1] transition (hash)
-- ARGV[1] workspace id   ARGV[2] now (ms)   ARGV[3] how long the mark stays (ms)
-- Returns 'marked' | 'present'.
if redis.call('HEXISTS', KEYS[1], 'ev') == 1 then return 'present' end
redis.call('HSET', KEYS[1], 'ws', ARGV[1], 'erased', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'marked'
`;
