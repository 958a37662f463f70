import { EventName, type CancelReason, type DeliveryId, type EndpointId } from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { z } from 'zod';
import { SETTLE_LUA } from '../deliveries/delivery-scripts.ts';
import type { DeliveryStoreDeps } from '../deliveries/delivery-store.ts';
import { GROUP_OF_LUA, NEWEST_LUA } from '../keys/groups.ts';
import { defineScript } from '../redis/script.ts';

/** A delivery that was canceled. The event is absent when Redis lost it. */
export type PurgedDelivery = { readonly id: DeliveryId; readonly event?: EventName; readonly reason: CancelReason };

/** Another worker purges an endpoint after a dead one after this, in ms. */
export const PURGE_LEASE_MS = 60_000;
/** Deliveries that one step ends: Redis does nothing else for less than a ms. */
const STEP = 20;
/** Steps of one turn: then others that are to be purged have theirs. */
const STEPS_OF_A_TURN = 25;

const FIND_TO_END_LUA = /* lua */ `
${NEWEST_LUA}
-- What waits for an endpoint that is disabled or removed, at most so many deliveries of it.
local function findToEnd(id, most)
  local endpoint = prefix .. 'e:' .. id
  -- Decided here: the endpoint may have been enabled or removed since it was marked.
  if redis.call('HGET', endpoint, 'on') == '1' then return {} end
  local group = groupOf(id)
  if not isCallback(id) then return firstWaiting(group, most) end
  -- Others wait in its group. Of its own, older ones are ended when their turn comes.
  local ids = {}
  for _, each in ipairs(newestOf(endpoint .. ':log')) do
    if #ids == most then break end
    if isWaiting(group, each) then ids[#ids + 1] = each end
  end
  return ids
end
`;

const CLAIM_PURGES_LUA = /* lua */ `#!lua flags=allow-oom
-- Take endpoints that are to be purged, those that have waited longest first, under a lease: others see one only when
-- its lease ends, as after the death of its taker. One for which nothing waits has nothing to end, and its mark goes. What
-- is in work for it is ended by its worker.
-- KEYS[1] endpoints whose waiting deliveries must end (zset: id → due, ms)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] lease ends (ms)   ARGV[4] at most so many
-- Returns {how many were due, the ids of those that it took}.
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
${GROUP_OF_LUA}
${FIND_TO_END_LUA}
local due, taken = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[2], 'LIMIT', 0, ARGV[4]), {}
for _, id in ipairs(due) do
  if #findToEnd(id, 1) == 0 then
    redis.call('ZREM', KEYS[1], id)
  else
    redis.call('ZADD', KEYS[1], ARGV[3], id)
    taken[#taken + 1] = id
  end
end
return { #due, taken }
`;

const PURGE_LUA = /* lua */ `#!lua flags=allow-oom
-- End some of the deliveries that wait for a disabled or removed endpoint, and take them out of the queue. Those in work
-- are ended by their workers. The mark goes with the last; until then its lease is set anew. Whoever else steps
-- meanwhile ends others.
-- KEYS[1] endpoint (hash)   KEYS[2] endpoints whose waiting deliveries must end (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] ttl, see retain   ARGV[4] endpoint id   ARGV[5] end of the lease (ms)
-- ARGV[6] most deliveries
-- Returns {1 when nothing is left to end, else 0, {id, event, reason} of each delivery that it ended}.
local prefix, now, id, most = ARGV[1], tonumber(ARGV[2]), ARGV[4], tonumber(ARGV[6])
${GROUP_LUA}
${ENQUEUE_LUA}
${SETTLE_LUA}
${FIND_TO_END_LUA}
local on, ids = redis.call('HGET', KEYS[1], 'on'), findToEnd(id, most)
local isDone = #ids < most
if isDone then redis.call('ZREM', KEYS[2], id) end
dequeue(groupOf(id), ids, now)
if not isDone then redis.call('ZADD', KEYS[2], 'XX', ARGV[5], id) end
local ended, lines, reason = {}, {}, on and 'receiver_disabled' or 'receiver_removed'
for _, each in ipairs(ids) do
  local record = prefix .. each
  local facts = redis.call('HMGET', record, 's', 'owe', 'x', 'o')
  if facts[2] then redis.call('HDEL', record, 'owe') end
  if facts[1] == 'pending' then
    local event = redis.call('HGET', prefix .. facts[3], 'ev') or ''
    local line = settle(each, facts[3], 'canceled', reason, ARGV[2], ARGV[3], facts[4] and id)
    if line then lines[line] = true end
    ended[#ended + 1] = { each, event, reason }
  elseif facts[2] then
    -- The redelivery kept it from expiring.
    retain(each, ARGV[2], ARGV[3], true)
    local transition = prefix .. facts[3]
    if (tonumber(redis.call('HGET', transition, 'open')) or 0) <= 0 then retainTransition(transition, now, ARGV[3], true) end
  end
end
-- Once, and not for each that ended: the endpoint may be enabled before the next of a line is reached.
for line in pairs(lines) do advance(line, now) end
writeAccounts()
return { isDone and 1 or 0, ended }
`;

const Claimed = z.tuple([z.number(), z.array(z.string())]);
const Reason = z.enum(['receiver_disabled', 'receiver_removed']);
const Purged = z.tuple([z.number(), z.array(z.tuple([z.string(), z.union([EventName, z.literal('')]), Reason]))]);

/** Ends the waiting deliveries of disabled and removed endpoints. */
export function createPurgeStore({ redis, keys, retention }: DeliveryStoreDeps) {
  const claim = defineScript(redis, CLAIM_PURGES_LUA);
  const purge = defineScript(redis, PURGE_LUA);
  return {
    /**
     * Takes endpoints that are to be purged; another worker gets them only after `leaseEndsAt` (epoch ms). `due`: how many
     * it found, at most `limit`. Those for which nothing waits are done, and not among the ids.
     */
    async claim(now: number, leaseEndsAt: number, limit: number) {
      const [due, ids] = Claimed.parse(await claim([keys.purge], [keys.prefix, now, leaseEndsAt, limit]));
      return { due, ids };
    },
    /**
     * A turn of an endpoint: ends its waiting deliveries while it is disabled or removed, and yields those of each step. The
     * last step of a turn ends the lease, too. What waits then has its next turn after all others that are due.
     */
    async *purge(id: EndpointId, now: () => number): AsyncGenerator<readonly PurgedDelivery[]> {
      for (let step = 1, isDone = 0; isDone === 0 && step <= STEPS_OF_A_TURN; step++) {
        const at = now();
        const leaseEndsAt = step === STEPS_OF_A_TURN ? at : at + PURGE_LEASE_MS;
        const args = [keys.prefix, at, retention.expiryMs, id, leaseEndsAt, STEP];
        const reply = Purged.parse(await purge([keys.endpoint(id), keys.purge], args));
        isDone = reply[0];
        yield reply[1].map(([each, event, reason]) => ({ id: each, reason, ...(event && { event }) }));
      }
    },
  };
}
export type PurgeStore = ReturnType<typeof createPurgeStore>;
