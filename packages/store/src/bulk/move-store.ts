import {
  deliveryIdOf,
  isCallbackId,
  PLATFORM,
  type DeliveryId,
  type MovedDelivery,
  type MovedTransition,
  type TransitionId,
} from '@herald/core';
import { z } from 'zod';
import { ASIDE } from '../lists/history-mark.ts';
import {
  FIRST_ATTEMPT_FIELDS,
  FIRST_ATTEMPT_LUA,
  readAttempt,
  readFirstAttempt,
  writeAttempt,
} from '../deliveries/attempt-record.ts';
import { readDelivery, takeFields } from '../deliveries/delivery-record.ts';
import { GROUP_OF_LUA } from '../keys/groups.ts';
import type { ShardKeys } from '../keys/keys.ts';
import { ACCOUNT_LUA } from '../keys/account-lua.ts';
import { ENDED_LUA, LOG_LUA } from '../keys/segment-lua.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';

export type SettledBatch = {
  /** Ids that were looked at: fewer than asked for are all. */
  readonly looked: number;
  readonly deliveries: readonly SettledDelivery[];
  readonly transitions: readonly SettledTransition[];
  /** They can't be read. */
  readonly damaged: readonly DeliveryId[];
};

/** Another worker takes a shard over this long after the last batch of a dead one, in ms. */
const LEASE_MS = 5_000;
/** Notices don't move: an operator sees the latest, for as long as without a history, in ms. */
const NOTICE_TTL_MS = 7 * 86_400_000;
/** Between two tries to move what was set aside, in ms. */
const ASIDE_PAUSE_MS = 3_600_000;

type MoveStoreDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** Epoch ms. */
  readonly now: () => number;
};

/** What moves from a shard to the history, and leaves Redis once it is there. */
export function createMoveStore({ redis, keys, now: clock }: MoveStoreDeps) {
  const take = defineScript(redis, TAKE_SETTLED_LUA);
  const forget = defineScript(redis, FORGET_MOVED_LUA);
  const expire = defineScript(redis, EXPIRE_SETTLED_LUA);
  return {
    /** Whether something settled until then, or what was set aside is to be tried again. */
    isDue: async (settledUntil: number, now: number) => {
      const ranges = [['-inf', settledUntil] as const, [ASIDE, ASIDE + now] as const];
      const counts = await Promise.all(ranges.map(([from, to]) => redis.zcount(keys.settled, from, to)));
      return counts.some((count) => count > 0);
    },
    /**
     * Reads what settled until then, the oldest first, and then what was set aside until now; undefined while another
     * mover has the shard.
     * @param mover names who asks: the lease is its own
     */
    async take(
      mover: string,
      settledUntil: number,
      limit: number,
      now = settledUntil,
    ): Promise<SettledBatch | undefined> {
      const args = [keys.prefix, mover, LEASE_MS, settledUntil, limit, NOTICE_TTL_MS, ASIDE, ASIDE + now, clock()];
      const reply = TakeReply.parse(await take([keys.settled, keys.mover], args));
      return reply[0] === 'held' ? undefined : { looked: reply[1], ...readTaken(reply) };
    },
    /** Deletes what is in the history and hasn't changed since. Returns how many deliveries. */
    async forget({ deliveries, transitions }: Pick<SettledBatch, 'deliveries' | 'transitions'>): Promise<number> {
      const rows = deliveries.map(({ delivery, attempts, score }) => [
        ...[delivery.id, score, attempts.length, delivery.endpointId],
        isCallbackId(delivery.endpointId) ? delivery.workspaceId : '',
        ...[delivery.transitionId, String(delivery.erasedAt ?? '')],
      ]);
      const siblings = transitions.map(({ id, deliveryIds }) => [id, deliveryIds]);
      const args = [keys.prefix, JSON.stringify(rows), JSON.stringify(siblings), clock()];
      return z.number().parse(await forget([keys.settled], args));
    },
    /** What can't move now is tried again in an hour, and holds up no other. */
    setAside: (ids: readonly DeliveryId[], now: number) =>
      Promise.all(ids.map((id) => redis.zadd(keys.settled, 'XX', ASIDE + now + ASIDE_PAUSE_MS, id))),
    /** What waits for a history expires. Returns how many deliveries; undefined: there is a history, and nothing expires. */
    async expire(ttlMs: number, limit: number): Promise<number | undefined> {
      const count = z.number().parse(await expire([keys.settled, keys.history], [keys.prefix, ttlMs, limit, clock()]));
      return count === -1 ? undefined : count;
    },
  };
}
export type MoveStore = ReturnType<typeof createMoveStore>;

/** What a mover reads of each hash, in this order. The script reads `e`, `x`, `s` and `owe` by position. */
const MOVED_DELIVERY_FIELDS = [
  ...(['e', 'x', 's', 'owe', 'n', 'at', 'from', 'end', 'why', 'o', 'rel'] as const),
  ...FIRST_ATTEMPT_FIELDS,
];
const MOVED_TRANSITION_FIELDS = ['ws', 'ev', 'task', 'as', 'erased', 'req', 'trace', 'eps', 'body'] as const;

const quote = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ');

export const TAKE_SETTLED_LUA = /* lua */ `#!lua flags=allow-oom
-- Read settled deliveries that are old enough to move to the history, the oldest first, under the lease of the shard;
-- where there is room, those that were set aside, too.
-- It changes none of them. What isn't settled any more leaves the list; it comes back once it is settled again.
-- Notices stay here: they expire, and so does what has lost its transition.
-- KEYS[1] settled deliveries (zset: id → when it settled or changed last, ms)   KEYS[2] lease of the mover (string)
-- ARGV[1] prefix   ARGV[2] the mover   ARGV[3] lease (ms)   ARGV[4] settled until (ms)   ARGV[5] at most so many
-- ARGV[6] time to live of notices (ms)   ARGV[7] ARGV[8] scores of those that were set aside and are to be tried again
-- ARGV[9] now (ms)
-- Returns {'held'} (another mover has the shard) | {'taken', ids looked at, deliveries, transitions}; a delivery is
-- {id, score, fields, list of its attempts}, a transition {id, fields}, once for all of its deliveries.
local prefix = ARGV[1]
${ACCOUNT_LUA}
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[2] then return { 'held' } end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
local rows = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[4], 'WITHSCORES', 'LIMIT', 0, ARGV[5])
local room = ARGV[5] - #rows / 2
if room > 0 then
  local aside = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[7], ARGV[8], 'WITHSCORES', 'LIMIT', 0, room)
  for index = 1, #aside do rows[#rows + 1] = aside[index] end
end
local deliveries, transitions, known, gone = {}, {}, {}, {}
local function readTransition(id)
  if known[id] == nil then
    local fields = redis.call('HMGET', prefix .. id, ${quote(MOVED_TRANSITION_FIELDS)})
    known[id] = fields[1] and true or false
    if fields[1] then transitions[#transitions + 1] = { id, fields } end
  end
  return known[id]
end
for index = 1, #rows, 2 do
  local id, score = rows[index], rows[index + 1]
  local record = prefix .. id
  local fields = redis.call('HMGET', record, ${quote(MOVED_DELIVERY_FIELDS)})
  if not fields[3] or fields[3] == 'pending' or fields[4] then
    gone[#gone + 1] = id
  elseif fields[1] == '${PLATFORM}' or not readTransition(fields[2]) then
    for _, key in ipairs({ record, record .. ':a' }) do redis.call('PEXPIRE', key, ARGV[6]) end
    leaveAt(prefix .. fields[2], timeToLeave(ARGV[9], ARGV[6]))
    gone[#gone + 1] = id
  else
    deliveries[#deliveries + 1] = { id, score, fields, redis.call('LRANGE', record .. ':a', 0, -1) }
  end
end
if #gone > 0 then redis.call('ZREM', KEYS[1], unpack(gone)) end
writeAccounts()
return { 'taken', #rows / 2, deliveries, transitions }
`;

/** A settled delivery as it moves. */
type SettledDelivery = MovedDelivery & {
  /** Its place in the list of what is to move: by it and by its attempts it is told from a later version. */
  readonly score: string;
};

type SettledTransition = MovedTransition & {
  /** All of its deliveries, those elsewhere too. */
  readonly deliveryIds: readonly DeliveryId[];
};

const Values = z.array(z.string().nullable());
const TakeReply = z.union([
  z.tuple([z.literal('held')]),
  z.tuple([
    z.literal('taken'),
    z.number(),
    z.array(z.tuple([z.string(), z.string(), Values, z.array(z.string())])),
    z.array(z.tuple([z.string(), Values])),
  ]),
]);
type Taken = Extract<z.infer<typeof TakeReply>, readonly ['taken', ...unknown[]]>;

/** As renderWebhookBody begins it. */
const SEQUENCE = /^\{"id":"[^"]*","event":"[^"]*","created_at":"[^"]*","sequence":(\d+),/;

/** Parses what was taken. A record that is damaged is named in `damaged`, and holds up no other. */
function readTaken([, , rows, transitionRows]: Taken) {
  const fieldsOf = new Map(transitionRows.map(([id, values]) => [id, takeFields(MOVED_TRANSITION_FIELDS, values)]));
  const transitions = new Map<TransitionId, SettledTransition>();
  const deliveries: SettledDelivery[] = [];
  const damaged: DeliveryId[] = [];
  for (const [id, score, values, list] of rows) {
    try {
      const fields = takeFields(MOVED_DELIVERY_FIELDS, values);
      const transitionFields = fieldsOf.get(fields.x ?? '') ?? {};
      const delivery = readDelivery(id, fields, transitionFields);
      const { transitionId, createdAt, settledAt = createdAt, erasedAt = 0 } = delivery;
      const first = readFirstAttempt(fields);
      const attempts = [...(first ? [writeAttempt(first)] : []), ...list];
      const last = attempts.at(-1);
      const changedAt = Math.max(settledAt, erasedAt, last === undefined ? 0 : readAttempt(last).at);
      deliveries.push({ delivery, attempts, changedAt, score });
      if (!transitions.has(transitionId)) {
        transitions.set(transitionId, toTransition(transitionId, createdAt, transitionFields));
      }
    } catch {
      damaged.push(id);
    }
  }
  return { deliveries, transitions: [...transitions.values()], damaged };
}

function toTransition(id: TransitionId, createdAt: number, fields: Record<string, string>): SettledTransition {
  const { as, req, trace, erased, body, eps = '' } = fields;
  const sequence = SEQUENCE.exec(body ?? '')?.[1];
  return {
    id,
    createdAt,
    ...(sequence !== undefined && { sequence: Number(sequence) }),
    ...(as !== undefined && { sampleOf: as }),
    ...(req !== undefined && { requestId: req }),
    ...(trace !== undefined && { traceparent: trace }),
    ...(erased !== undefined && { erasedAt: Number(erased) }),
    ...(body !== undefined && { body }),
    deliveryIds: eps.split(',').map((endpointId) => deliveryIdOf(id, endpointId)),
  };
}

export const FORGET_MOVED_LUA = /* lua */ `#!lua flags=allow-oom
-- Delete deliveries that are in the history, unless they have changed since they were read: then they move once more.
-- A transition goes with the last of its deliveries here. A second run changes nothing.
-- KEYS[1] settled deliveries (zset)
-- ARGV[1] prefix   ARGV[2] JSON: [[id, score, attempts, endpoint id, workspace id of a callback's or '', transition id,
--   when its payloads were erased or ''], ...], as they were read
-- ARGV[3] JSON: [[transition id, ids of all its deliveries], ...]   ARGV[4] now (ms)
-- Returns how many it deleted.
local prefix, forgotten = ARGV[1], 0
${ACCOUNT_LUA}
${FIRST_ATTEMPT_LUA}
${GROUP_OF_LUA}
${LOG_LUA}
${ENDED_LUA}
for _, delivery in ipairs(cjson.decode(ARGV[2])) do
  local id, score, attempts, endpoint, workspace, transition, erased = unpack(delivery)
  local record = prefix .. id
  local known = redis.call('HMGET', record, 's', 'owe', 'at')
  local isSame = known[1] and known[1] ~= 'pending' and not known[2]
    and redis.call('ZSCORE', KEYS[1], id) == score
    and countLogged(record) == attempts
    and (redis.call('HGET', prefix .. transition, 'erased') or '') == erased
  if isSame then
    grow(prefix .. transition, -sizeOfList(record .. ':a'))
    redis.call('DEL', record, record .. ':a')
    removeFromLog(prefix .. 'e:' .. endpoint .. ':log', known[3], id)
    if workspace ~= '' then removeFromLog(prefix .. 'w:' .. workspace .. ':callbacks', known[3], id) end
    forgetEnded({ id = id, endpoint = endpoint, workspace = workspace, status = known[1], at = known[3] })
    if known[1] == 'failed' then
      redis.call('ZREM', prefix .. 'failed', id)
      redis.call('ZREM', prefix .. 'failed:tests', id)
    end
    redis.call('ZREM', KEYS[1], id)
    forgotten = forgotten + 1
  end
end
for _, each in ipairs(cjson.decode(ARGV[3])) do
  local key, longest = prefix .. each[1], 0
  for _, id in ipairs(each[2]) do
    local ttl = redis.call('PTTL', prefix .. id)
    -- -1: it is here and doesn't expire. Another expires: it was settled without a history.
    if ttl == -1 then longest = nil break end
    longest = math.max(longest, ttl)
  end
  if longest and longest > 0 then leaveAt(key, timeToLeave(ARGV[4], longest))
  elseif longest then
    leaveAt(key, nil)
    local counted = redis.call('HMGET', key, 'ws', 'b')
    if counted[2] then noteBytes(counted[1], -counted[2]) end
    redis.call('DEL', key)
  end
end
writeAccounts()
return forgotten
`;

const EXPIRE_SETTLED_LUA = /* lua */ `#!lua flags=allow-oom
-- Let settled deliveries expire that wait for a history, since there is none any more. Nothing expires while the data has
-- one: it is this process that doesn't know it.
-- KEYS[1] settled deliveries (zset)   KEYS[2] the history of the data (string)
-- ARGV[1] prefix   ARGV[2] time to live (ms)   ARGV[3] at most so many   ARGV[4] now (ms)
-- Returns how many left the list; -1: the data has a history.
if redis.call('EXISTS', KEYS[2]) == 1 then return -1 end
local prefix = ARGV[1]
${ACCOUNT_LUA}
local rows = redis.call('ZPOPMIN', KEYS[1], ARGV[3])
for index = 1, #rows, 2 do
  local record = prefix .. rows[index]
  local known = redis.call('HMGET', record, 's', 'owe', 'x')
  if known[1] and known[1] ~= 'pending' and not known[2] then
    redis.call('PEXPIRE', record, ARGV[2])
    redis.call('PEXPIRE', record .. ':a', ARGV[2])
    local key = prefix .. known[3]
    if (tonumber(redis.call('HGET', key, 'open')) or 0) <= 0 then leaveAt(key, timeToLeave(ARGV[4], ARGV[2])) end
  end
end
writeAccounts()
return #rows / 2
`;
