import type { EndpointId, WorkspaceId } from '@herald/core';
import { WAITING_LUA } from '@herald/queue';
import { z } from 'zod';
import { GROUP_OF_LUA } from '../keys/groups.ts';
import type { Keyspace } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';
import { SLOTS_AT } from './counter-layout.ts';

type ActivityReaderDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace };

const Version = z.string().nullable();

/** Tells whether anything happened to deliveries since the last look, for the price of one short script. */
export function createActivityReader({ redis, keyspace }: ActivityReaderDeps) {
  const read = defineScript(redis, READ_ACTIVITY_LUA);
  return {
    /**
     * A text that changes with what happens to the deliveries of the workspace, or of one of its endpoints.
     * Undefined: the workspace has no such endpoint.
     */
    async readVersion(workspaceId: WorkspaceId, endpointId?: EndpointId): Promise<string | undefined> {
      const { prefix, subscriptionVersion } = keyspace.of(workspaceId);
      const reply = await read([subscriptionVersion(workspaceId)], [prefix, workspaceId, endpointId ?? '']);
      return Version.parse(reply) ?? undefined;
    },
  };
}
export type ActivityReader = ReturnType<typeof createActivityReader>;

/** What of an endpoint changes with its deliveries, or changes them. The first is whose it is. */
const FIELDS = ['ws', 'dst', 'on', 'offAt', 'fails', 'okAt', 'urlAt'];

const READ_ACTIVITY_LUA = /* lua */ `
-- Tell whether anything happened to the deliveries of a workspace, or of one of its endpoints, without looking at them.
-- Nothing is written. Each read costs the same however many deliveries there are.
-- KEYS[1] version of the workspace's subscriptions (string): changes with every change to its receivers
-- ARGV[1] prefix of the other keys, in the same slot   ARGV[2] workspace id   ARGV[3] endpoint id, '' for all
-- Returns a text that is the same as long as nothing was seen to happen; nil: the workspace has no such endpoint.
local prefix, workspace, wanted = ARGV[1], ARGV[2], ARGV[3]
${GROUP_OF_LUA}
${WAITING_LUA}
local seen = {}
local function note(fact)
  seen[#seen + 1] = tostring(fact)
end
local function noteAll(facts)
  for index = 1, #facts do note(facts[index]) end
end

-- What was accepted. Two of one millisecond are told apart by their number.
local function noteLog(log)
  noteAll(redis.call('ZRANGE', log, 0, 0, 'REV'))
  note(redis.call('ZCARD', log))
  noteAll(redis.call('ZRANGE', log .. ':segments', 0, 0, 'REV'))
end

-- What was attempted: the counters of the present minute.
local function noteCounters(key)
  note(redis.call('GETRANGE', key, 0, ${SLOTS_AT - 1}))
end

local function noteEndpoint(id)
  local endpoint = prefix .. 'e:' .. id
  local facts = redis.call('HMGET', endpoint, ${FIELDS.map((name) => `'${name}'`).join(', ')})
  if facts[1] ~= workspace then return false end
  note(id)
  noteAll(facts)
  noteLog(endpoint .. ':log')
  noteCounters(endpoint .. ':stats')
  -- A purge is marked as long as it is to be done. Each of its leases changes the mark.
  note(redis.call('ZSCORE', prefix .. 'purge', id))
  -- A redelivery or a replay waits here.
  noteAll(factsOfWaiting(groupOf(id)))
  return true
end

if wanted == '' then
  for _, id in ipairs(redis.call('ZRANGE', prefix .. 'w:' .. workspace .. ':receivers', 0, -1)) do noteEndpoint(id) end
  noteLog(prefix .. 'w:' .. workspace .. ':callbacks')
  noteCounters(prefix .. 'w:' .. workspace .. ':stats')
elseif not noteEndpoint(wanted) then
  return nil
end
for _, id in ipairs(redis.call('ZRANGE', prefix .. 'w:' .. workspace .. ':replays', 0, -1)) do
  local replay = redis.call('HMGET', prefix .. 'r:' .. id, 'e', 's', 'seen', 'replayed')
  if wanted == '' or replay[1] == wanted then noteAll(replay) end
end
note(redis.call('GET', KEYS[1]))
return redis.sha1hex(table.concat(seen, '|'))
`;
