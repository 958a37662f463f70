import {
  deliveryIdOf,
  type DeliveryEvent,
  type DeliveryId,
  type DeliveryStatus,
  type EndpointId,
  type TaskId,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA, LEASE_LUA, RINGS } from '@herald/queue';
import { z } from 'zod';
import type { DeliveryRetention } from '../deliveries/delivery-record.ts';
import { SETTLE_LUA } from '../deliveries/delivery-scripts.ts';
import { readKeyName } from '../keys/key-name.ts';
import { GLOBAL_KEYS, PLATFORM_OWNER, type Keyspace, type ShardKeys } from '../keys/keys.ts';
import { ACCOUNT_LUA } from '../keys/account-lua.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';
import { walkKeys } from '../redis/walk-keys.ts';

/** Which deliveries an operator means. What is absent is not asked for. */
export type DropFilter = {
  readonly workspace?: WorkspaceId;
  readonly receiver?: EndpointId;
  readonly task?: TaskId;
  readonly status?: DeliveryStatus;
  readonly event?: DeliveryEvent;
  /** Accepted before, epoch ms. */
  readonly before?: number;
};

/** `count`: changes nothing. `cancel`: ends what is pending. `purge`: ends what is pending, and deletes all of it. */
export type DropMode = 'count' | 'cancel' | 'purge';

const CANCEL_LUA = /* lua */ `#!lua flags=allow-oom
-- Count or end the pending deliveries that are meant, of some that wait in a group or are in work. The lease of one in
-- work ends with it: a replay must not give it a second place. Its worker's record then comes after its lease. A second
-- run changes nothing.
-- KEYS[1] deliveries that wait in a group, or leases (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] ttl, see retain   ARGV[4] 'count' | 'cancel'   ARGV[5] JSON of a DropFilter
-- ARGV[6] the group, '' for leases   ARGV[7] cursor   ARGV[8] how many to look at, roughly, and to end at most
-- Returns {the next cursor ('': that was all), how many it looked at, how many it counted or ended}.
local prefix, now, filter, ofGroup = ARGV[1], tonumber(ARGV[2]), cjson.decode(ARGV[5]), ARGV[6] ~= ''
${GROUP_LUA}
${ENQUEUE_LUA}
${LEASE_LUA}
${SETTLE_LUA}
-- A group that has a tenant is all of that workspace.
local tenant = ofGroup and readGroup(ARGV[6]).tenant
if tenant and (filter.workspace or tenant) ~= tenant then return { '', 0, 0 } end
local isKnown = tenant and not (filter.event or filter.task or filter.before)
local function isMeant(endpoint, transition)
  if isKnown then return (filter.receiver or endpoint) == endpoint end
  local facts = redis.call('HMGET', prefix .. transition, 'ws', 'ev', 'task', 'at')
  local isOurs = facts[1] and string.sub(facts[1], -${PLATFORM_OWNER.length}) ~= '${PLATFORM_OWNER}'
  return isOurs and (filter.workspace or facts[1]) == facts[1] and (filter.receiver or endpoint) == endpoint
    and (filter.event or facts[2]) == facts[2] and (filter.task or facts[3]) == facts[3]
    and (not filter.before or tonumber(facts[4]) < filter.before)
end

local scan, meant = redis.call('ZSCAN', KEYS[1], ARGV[7], 'COUNT', ARGV[8]), {}
local cursor = scan[1] ~= '0' and scan[1] or ''
for index = 1, #scan[2], 2 do
  local _, group, id = nil, ARGV[6], scan[2][index]
  if not ofGroup then _, group, id = readHandle(id) end
  local known = redis.call('HMGET', prefix .. id, 's', 'e', 'x', 'o')
  if known[1] == 'pending' and isMeant(known[2], known[3]) then
    meant[#meant + 1] = { id = id, group = group, handle = scan[2][index], endpoint = known[2], transition = known[3], place = known[4] }
  end
end
if ARGV[4] == 'count' then return { cursor, #scan[2] / 2, #meant } end

-- A scan may find more than it was asked for: the same one again finds those that are left.
local most, ids, lines = tonumber(ARGV[8]), {}, {}
if #meant > most then cursor = ARGV[7] end
meant = { unpack(meant, 1, math.min(#meant, most)) }
for index, each in ipairs(meant) do ids[index] = each.id end
if ofGroup then dequeue(ARGV[6], ids, now) end
for _, each in ipairs(meant) do
  if not ofGroup and endLease(each.handle) then settleGroup(each.group, now, nil, { freed = 1 }) end
  redis.call('HDEL', prefix .. each.id, 'owe')
  local line = settle(each.id, each.transition, 'canceled', 'canceled_by_operator', ARGV[2], ARGV[3], each.place and each.endpoint)
  if line then lines[line] = true end
end
writeSlots()
-- Once, and not for each that ended: the next of a line may be among them.
for line in pairs(lines) do advance(line, now) end
writeAccounts()
return { cursor, #scan[2] / 2, #meant }
`;

const DROP_LUA = /* lua */ `#!lua flags=allow-oom
-- Delete deliveries of a transition, and the transition with the last of them, or count them. One in work is being sent:
-- what its worker records of it is dropped, and ends its lease, as the recovery does when that worker dies. Without its
-- record nothing can give it a second place. A second run changes nothing.
-- KEYS[1] transition (hash)   KEYS[2..n+1] its deliveries that are meant (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] ttl, see retain   ARGV[4] 'count' | 'purge'
-- ARGV[5] status that is meant, '' for any   ARGV[6] transition id   ARGV[7] ids of all its deliveries, joined by commas
-- ARGV[8..n+7] ids of those that are meant
-- Returns {how many it counted or deleted, how many of these were pending}.
local prefix, now, mode = ARGV[1], tonumber(ARGV[2]), ARGV[4]
${GROUP_LUA}
${ENQUEUE_LUA}
${SETTLE_LUA}
local workspace, done, pending = redis.call('HGET', KEYS[1], 'ws'), 0, 0
local function delete(record, id, endpoint, at, status)
  grow(KEYS[1], -sizeOfList(record .. ':a'))
  redis.call('DEL', record, record .. ':a')
  removeFromLog(prefix .. 'e:' .. endpoint .. ':log', at, id)
  removeFromLog(prefix .. 'w:' .. workspace .. ':callbacks', at, id)
  forgetEnded({ id = id, endpoint = endpoint, workspace = workspace, status = status, at = at })
  for _, index in ipairs({ 'failed', 'failed:tests', 'settled' }) do redis.call('ZREM', prefix .. index, id) end
end

for index = 2, #KEYS do
  local record, id = KEYS[index], ARGV[index + 6]
  local facts = redis.call('HMGET', record, 's', 'e', 'o', 'at', 'owe')
  local isPending = facts[1] == 'pending'
  local isMeant = facts[1] and (ARGV[5] == '' or facts[1] == ARGV[5])
  if isMeant then
    done = done + 1
    if isPending then pending = pending + 1 end
    if mode == 'purge' then
      if isPending then
        local line = settle(id, ARGV[6], 'canceled', 'canceled_by_operator', ARGV[2], ARGV[3], facts[3] and facts[2])
        if line then advance(line, now) end
      end
      if isPending or facts[5] then dequeue(groupOf(facts[2]), { id }, now) end
      delete(record, id, facts[2], facts[4], isPending and 'canceled' or facts[1])
    end
  end
end
if mode == 'purge' and done > 0 then
  local isLast = true
  for id in string.gmatch(ARGV[7], '[^,]+') do
    if redis.call('EXISTS', prefix .. id) == 1 then isLast = false break end
  end
  if isLast then
    leaveAt(KEYS[1], nil)
    local counted = redis.call('HGET', KEYS[1], 'b')
    if counted then noteBytes(workspace, -counted) end
    redis.call('DEL', KEYS[1])
  end
end
writeAccounts()
return { done, pending }
`;

const SHORTEN_LUA = /* lua */ `#!lua flags=allow-oom
-- Let deliveries that have settled leave as early as they would, had the retention been so short when they did.
-- KEYS[1] transition (hash)   KEYS[2..] its deliveries (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] time to live from settlement (ms)
-- Returns how many leave earlier.
local prefix, now, ttl, shortened, last = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), 0, 0
-- A time to live began some milliseconds after the end that the record tells.
local BEGAN_WITHIN = 1000
${ACCOUNT_LUA}
for index = 2, #KEYS do
  local record = KEYS[index]
  local leavesAt = redis.call('PEXPIRETIME', record)
  if leavesAt == -1 then return 0 end
  if leavesAt > 0 then
    local settledAt = tonumber(redis.call('HGET', record, 'end') or '') or now
    local at = math.max(settledAt + ttl, now + 1000)
    last = math.max(last, math.min(leavesAt, at))
    if at + BEGAN_WITHIN < leavesAt then
      shortened = shortened + 1
      for _, key in ipairs({ record, record .. ':a' }) do redis.call('PEXPIREAT', key, at) end
    end
  end
end
local leavesAt = redis.call('PEXPIRETIME', KEYS[1])
local at = last > 0 and timeToLeave(now, last - now) or nil
if at and leavesAt > at then leaveAt(KEYS[1], at) end
writeAccounts()
return shortened
`;

const DropReply = z.tuple([z.number(), z.number()]);
/** Transitions that are looked at together. */
const AT_ONCE = 50;

type DropDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly retention: DeliveryRetention;
  /** Epoch ms. */
  readonly now: () => number;
  readonly onProgress?: (looked: number, total: number) => void;
};

/** `left`: those that are meant and pending when it gives up looking again. 0: it has had all that there were. */
export type DropReport = { readonly deliveries: number; readonly pending: number; readonly left: number };

/** Deliveries that one step counts, or ends, roughly: Redis does nothing else for less than a ms. */
const STEPS = { count: 150, cancel: 20 };
const CancelReply = z.tuple([z.string(), z.number(), z.number()]);
/** Deliveries come while it walks, and some move from where it hasn't been to where it has: it looks again, but not for ever. */
const MOST_ROUNDS = 10;

/**
 * Counts the deliveries that an operator means, ends those that are pending, or deletes all of them with their bodies. It
 * goes in bounded steps, each complete in itself: another run goes on where one was stopped. What is pending is found
 * where it waits, again and again until nothing is; for all else it walks all transitions once.
 */
export async function dropDeliveries(deps: DropDeps, filter: DropFilter, mode: DropMode): Promise<DropReport> {
  if (mode === 'purge' || (mode === 'count' && filter.status !== 'pending')) return await dropAll(deps, filter, mode);
  let all = 0;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found = await walkPending(deps, filter, mode);
    all += found;
    if (mode === 'count' || found === 0) return { deliveries: all, pending: all, left: 0 };
  }
  return { deliveries: all, pending: all, left: await walkPending(deps, filter, 'count') };
}

/** Returns how many it counted or ended. */
async function walkPending(deps: DropDeps, filter: DropFilter, mode: 'count' | 'cancel'): Promise<number> {
  const { redis, keyspace, retention, now, onProgress } = deps;
  const cancel = defineScript(redis, CANCEL_LUA);
  const shards = filter.workspace === undefined ? keyspace.shards : [keyspace.of(filter.workspace)];
  const waiting = await Promise.all(shards.map(({ queue }) => redis.hget(queue.settings, 'n')));
  const total = waiting.reduce((sum, count) => sum + Number(count ?? 0), 0);
  let [looked, found] = [0, 0];
  const walk = async ({ prefix }: ShardKeys, place: string, group: string): Promise<void> => {
    for (let cursor = '0'; cursor !== '';) {
      const args = [prefix, now(), retention.expiryMs, mode, JSON.stringify(filter), group, cursor, STEPS[mode]];
      const reply = CancelReply.parse(await cancel([place], args));
      cursor = reply[0];
      looked = Math.min(looked + reply[1], total);
      found += reply[2];
      onProgress?.(looked, total);
    }
  };
  for (const keys of shards) {
    for (const group of await findGroups(redis, keys)) {
      const isOthers = filter.receiver !== undefined && group.startsWith('wh_') && group !== filter.receiver;
      if (!isOthers) await walk(keys, keys.queue.waiting(group), group);
    }
    await walk(keys, keys.queue.leases, '');
  }
  return found;
}

/** The groups of a shard in which deliveries wait. */
async function findGroups(redis: RedisClient, { queue }: ShardKeys): Promise<ReadonlySet<string>> {
  const groups = new Set<string>();
  for (const place of [...RINGS.map(queue.ready), queue.later]) {
    let cursor = '0';
    do {
      const [next, rows] = await redis.zscan(place, cursor, 'COUNT', 200);
      for (let index = 0; index < rows.length; index += 2) groups.add(rows[index] ?? '');
      cursor = next;
    } while (cursor !== '0');
  }
  return groups;
}

async function dropAll(deps: DropDeps, filter: DropFilter, mode: 'count' | 'purge'): Promise<DropReport> {
  const { redis, retention, now } = deps;
  const drop = defineScript(redis, DROP_LUA);
  const sum = { deliveries: 0, pending: 0, left: 0 };
  await walkTransitions(deps, async (keys, id) => {
    const [ws, ev, task, at, eps] = await redis.hmget(keys.transition(id), 'ws', 'ev', 'task', 'at', 'eps');
    const isMeant =
      ws != null &&
      ev != null &&
      !ws.endsWith(PLATFORM_OWNER) &&
      (filter.workspace === undefined || ws === filter.workspace) &&
      (filter.event === undefined || ev === filter.event) &&
      (filter.task === undefined || task === filter.task) &&
      (filter.before === undefined || Number(at) < filter.before);
    if (!isMeant) return;
    const endpoints = (eps ?? '').split(',');
    const meant = endpoints.filter((each) => filter.receiver === undefined || each === filter.receiver);
    if (meant.length === 0) return;
    const idOf = (endpointId: EndpointId): DeliveryId => deliveryIdOf(id, endpointId);
    const ids = meant.map(idOf);
    const args = [keys.prefix, now(), retention.expiryMs, mode, filter.status ?? '', id];
    const reply = await drop(
      [keys.transition(id), ...ids.map(keys.delivery)],
      [...args, endpoints.map(idOf).join(','), ...ids],
    );
    const [deliveries, pending] = DropReply.parse(reply);
    sum.deliveries += deliveries;
    sum.pending += pending;
  });
  return sum;
}

const RAISE_RETENTION_LUA = /* lua */ `#!lua flags=allow-oom
-- Note that deliveries may settle under so long a retention from now on. Data of a former version stays unknown.
-- KEYS[1] record of the data (hash)
-- ARGV[1] retention (ms)
-- Returns nothing.
local known = tonumber(redis.call('HGET', KEYS[1], 'retention') or '')
if known and known < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'retention', ARGV[1]) end
`;

/** Notes the retention of a process before it settles anything, so that a shorter one finds what must leave earlier. */
export async function raiseRetention(redis: RedisClient, { expiryMs }: DeliveryRetention): Promise<void> {
  await defineScript(redis, RAISE_RETENTION_LUA)([GLOBAL_KEYS.shards], [expiryMs]);
}

/**
 * Lets what settled under a longer retention leave as early as under this one, in bounded steps. The record of the data
 * says which retention all of it has.
 * @returns deliveries that leave earlier
 */
export async function shortenRetention(deps: DropDeps): Promise<number> {
  const { redis, retention, now } = deps;
  const known = await redis.hget(GLOBAL_KEYS.shards, 'retention');
  // What has settled for a history leaves with that, by the present retention.
  if (retention.expiryMs === 0 || known === String(retention.expiryMs)) return 0;
  // A record that has no number of shards is none: nothing may begin one anew where the data has vanished.
  const note = async (): Promise<void> => {
    if ((await redis.hexists(GLOBAL_KEYS.shards, 'count')) === 0) return;
    await redis.hset(GLOBAL_KEYS.shards, 'retention', retention.expiryMs);
  };
  if (Number(known ?? Infinity) < retention.expiryMs) {
    await raiseRetention(redis, retention);
    return 0;
  }
  const shorten = defineScript(redis, SHORTEN_LUA);
  let shortened = 0;
  await walkTransitions(deps, async (keys, id) => {
    const eps = await redis.hget(keys.transition(id), 'eps');
    const deliveries = eps?.split(',').map((endpointId) => keys.delivery(deliveryIdOf(id, endpointId))) ?? [];
    const args = [keys.prefix, now(), retention.expiryMs];
    shortened += z.number().parse(await shorten([keys.transition(id), ...deliveries], args));
  });
  await note();
  return shortened;
}

async function walkTransitions(
  { redis, keyspace, onProgress }: DropDeps,
  use: (keys: ShardKeys, id: TransitionId) => Promise<void>,
): Promise<void> {
  for await (const { names, looked, total } of walkKeys(redis, '{*}:trn_*')) {
    const found = names.flatMap((name) => {
      const key = readKeyName(name);
      const keys = key?.kind === 'transition' ? keyspace.shards[key.shard] : undefined;
      return key && keys ? [{ keys, id: key.id }] : [];
    });
    for (let start = 0; start < found.length; start += AT_ONCE) {
      await Promise.all(found.slice(start, start + AT_ONCE).map(({ keys, id }) => use(keys, id)));
    }
    onProgress?.(looked, total);
  }
}
