import { PLATFORM } from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA, LEASE_LUA, scoreOf } from '@herald/queue';
import { PLACES_LUA } from '../keyspace/places-lua.ts';
import { PLATFORM_GROUP } from '../keyspace/platform.ts';
import { TEST_GROUP } from '../keyspace/test-group.ts';

const USUAL = scoreOf('usual', 0);
const BACKGROUND = scoreOf('background', 0);

export const ENQUEUE_PENDING_LUA = /* lua */ `
-- Enqueue those of the given deliveries that have something to do and are nowhere in the queue, each in the group of its
-- endpoint's present destination, due when its record says. May run twice: what waits or is in work stays where it is.
-- KEYS[1..n] deliveries (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3..n+2] their ids
-- Returns {number of deliveries enqueued, the group of one of them or ''}.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
${ENQUEUE_LUA}
${LEASE_LUA}
${PLACES_LUA}
local inWork, entries = nil, {}

local function waits(group, id) return redis.call('ZSCORE', prefix .. 'q:' .. group, id) end

-- A replay sets 'from' and resets the tries: a delivery without a try since then goes behind all live ones.
local function scoreOf(due, replayedAt, tries)
  return (replayedAt and tonumber(tries) == 0 and ${BACKGROUND} or ${USUAL}) + (tonumber(due or '') or now)
end

for index, key in ipairs(KEYS) do
  local id = ARGV[index + 2]
  local facts = redis.call('HMGET', key, 's', 'owe', 'x', 'e', 'due', 'from', 'n')
  local isOwed = (tonumber(facts[2] or '') or 0) > 0
  if isOwed or facts[1] == 'pending' then
    inWork = inWork or jobsInWork()
    local isTest = not isOwed and redis.call('HGET', prefix .. 'x:' .. (facts[3] or ''), 'ev') == 'webhook.test'
    -- A notice's endpoint has no record.
    local places = facts[4] == '${PLATFORM}' and { '${PLATFORM_GROUP}' }
      or placesOf(prefix .. 'e:' .. (facts[4] or ''))
    -- An endpoint that was removed has no destination, '': a worker cancels what is enqueued for it.
    local group = isTest and '${TEST_GROUP}' or places[1]
    local isSomewhere = inWork[id] or waits(group, id)
    -- A delivery that waits in a former place is moved by the purge.
    for place = 2, #places do isSomewhere = isSomewhere or waits(places[place], id) end
    if not isSomewhere then
      -- A test event is sent at once or never: a worker that finds it claimed cancels it.
      if isTest then redis.call('HSETNX', key, 'claim', now) end
      -- Urgent deliveries are of class 0.
      local workspace = not isTest and redis.call('HGET', prefix .. 'e:' .. (facts[4] or ''), 'ws')
      local score = (isOwed or isTest) and now or scoreOf(facts[5], facts[6], facts[7])
      entries[#entries + 1] = { group, id, score, workspace or nil }
    end
  end
end
enqueue(entries, now)
return { #entries, entries[1] and entries[1][1] or '' }
`;
