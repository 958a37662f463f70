import { EventName, type CancelReason, type DeliveryId, type EndpointId } from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { z } from 'zod';
import { SETTLE_LUA } from '../deliveries/delivery-scripts.ts';
import type { DeliveryStoreDeps } from '../deliveries/delivery-store.ts';
import { NEWEST_LUA } from '../keys/groups.ts';
import { CLAIM_IDS_LUA, defineScript } from '../redis/script.ts';

/** A delivery that was canceled. The event is absent when Redis lost it. */
export type PurgedDelivery = { readonly id: DeliveryId; readonly event?: EventName; readonly reason: CancelReason };

/** Another worker purges an endpoint after a dead one after this, in ms. */
export const PURGE_LEASE_MS = 60_000;
/** Deliveries that one step ends: Redis does nothing else for less than a ms. */
const STEP = 20;

const PURGE_LUA = /* lua */ `#!lua flags=allow-oom
-- End some of the deliveries that wait for a disabled or removed endpoint, and take them out of the queue. Those in work
-- are ended by their workers. The mark goes with the last; until then its lease is renewed. Whoever else steps
-- meanwhile ends others.
-- KEYS[1] endpoint (hash)   KEYS[2] endpoints whose waiting deliveries must end (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] ttl, see retain   ARGV[4] endpoint id   ARGV[5] end of the lease (ms)
-- ARGV[6] most deliveries
-- Returns {1 when nothing is left to end, else 0, {id, event, reason} of each delivery that it ended}.
local prefix, now, id, most = ARGV[1], tonumber(ARGV[2]), ARGV[4], tonumber(ARGV[6])
${GROUP_LUA}
${ENQUEUE_LUA}
${SETTLE_LUA}
${NEWEST_LUA}
-- Decided here: the endpoint may have been enabled or removed since it was marked.
local on, group, ids = redis.call('HGET', KEYS[1], 'on'), groupOf(id), {}
if on ~= '1' and isCallback(id) then
  -- Others wait in its group. Of its own, older ones are ended when their turn comes.
  for _, each in ipairs(newestOf(KEYS[1] .. ':log')) do
    if #ids < most and isWaiting(group, each) then ids[#ids + 1] = each end
  end
elseif on ~= '1' then
  ids = firstWaiting(group, most)
end
local isDone = #ids < most
if isDone then redis.call('ZREM', KEYS[2], id) end
dequeue(group, ids, now)
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

const Ids = z.array(z.string());
const Reason = z.enum(['receiver_disabled', 'receiver_removed']);
const Purged = z.tuple([z.number(), z.array(z.tuple([z.string(), z.union([EventName, z.literal('')]), Reason]))]);

/** Ends the waiting deliveries of disabled and removed endpoints. */
export function createPurgeStore({ redis, keys, retention }: DeliveryStoreDeps) {
  const claim = defineScript(redis, CLAIM_IDS_LUA);
  const purge = defineScript(redis, PURGE_LUA);
  return {
    /** Takes endpoints that are to be purged; another worker gets them only after `leaseEndsAt` (epoch ms). */
    claim: async (now: number, leaseEndsAt: number, limit: number) =>
      Ids.parse(await claim([keys.purge], [now, leaseEndsAt, limit])),
    /** Ends the waiting deliveries of an endpoint while it is disabled or removed, and yields those of each step. */
    async *purge(id: EndpointId, now: () => number): AsyncGenerator<readonly PurgedDelivery[]> {
      for (let isDone = 0; isDone === 0;) {
        const at = now();
        const args = [keys.prefix, at, retention.expiryMs, id, at + PURGE_LEASE_MS, STEP];
        const reply = Purged.parse(await purge([keys.endpoint(id), keys.purge], args));
        isDone = reply[0];
        yield reply[1].map(([each, event, reason]) => ({ id: each, reason, ...(event && { event }) }));
      }
    },
  };
}
export type PurgeStore = ReturnType<typeof createPurgeStore>;
