import {
  DEFAULT_ORDERING_TIMEOUT_MS,
  HistoryUnavailableError,
  type HistoryReader,
  type ListPlace,
  type PastDelivery,
} from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { z } from 'zod';
import type { ShardKeys } from '../keys/keys.ts';
import { ACCOUNT_LUA, NO_ROOM_LUA, ROOM_LUA } from '../keys/account-lua.ts';
import { RESTORE_LUA, toRestored } from '../lists/delivery-log.ts';
import { hasResult, lastOf, toListedPast } from '../lists/delivery-reader.ts';
import { createLogReader } from '../lists/log-reader.ts';
import { ENDED_LUA, LOG_LUA, READ_LOG_LUA } from '../keys/segment-lua.ts';
import { LAST_RESULT_LUA } from '../deliveries/attempt-record.ts';
import { ADVANCE_LUA, LINE_LUA } from '../deliveries/line-lua.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';
import type { RoomDeps } from '../stats/memory-guard.ts';
import { NO_LIMITS } from '../stats/workspace-accounts.ts';
import { readReplay, type Replay } from './replay-store.ts';

/** Deliveries that one step looks at: Redis does nothing else for about a ms. */
export const REPLAY_STEP = 20;
/** A replay pauses while more deliveries than this are due in its group. */
const DUE_LIMIT = 500;

type ReplayStepsDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly keepMs: number;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: HistoryReader | undefined;
} & RoomDeps;

const Ids = z.array(z.string());
const StepReply = z.tuple([z.enum(['stepped', 'wait', 'ended']), z.number()]);

/** The work of a worker on the replays of one shard. */
export function createReplaySteps({ redis, keys, keepMs, history, limits = NO_LIMITS, findRefusal }: ReplayStepsDeps) {
  const claim = defineScript(redis, CLAIM_REPLAYS_LUA);
  const step = defineScript(redis, STEP_REPLAY_LUA);
  const findReplayed = history && createFindReplayed({ redis, keys, history });
  return {
    /**
     * Takes replays to carry on; another worker gets them only after `leaseEndsAt` (epoch ms). A worker that isn't told of the
     * data's history gets none: it would leave out what has moved.
     */
    async claim(now: number, leaseEndsAt: number, limit: number): Promise<readonly string[]> {
      if (!history && (await redis.exists(keys.history)) === 1) return [];
      return Ids.parse(await claim([keys.replays], [now, leaseEndsAt, limit]));
    },
    /**
     * `replayed`: deliveries that the step set pending.
     * @throws HistoryUnavailableError; the replay goes on when history is back
     */
    async step(id: string, now: number) {
      const found = findReplayed ? await findReplayed(id, REPLAY_STEP) : [];
      const workspaceId = findRefusal && (await redis.hget(keys.replay(id), 'ws'));
      const isRefused = workspaceId != null && findRefusal?.(workspaceId) !== undefined;
      const room = JSON.stringify({ ...limits, isRefused });
      const args = [keys.prefix, id, now, REPLAY_STEP, DUE_LIMIT, keepMs, room, ...found];
      const [kind, replayed] = StepReply.parse(await step([keys.replay(id), keys.replays], args));
      return { kind, replayed };
    },
  };
}
export type ReplaySteps = ReturnType<typeof createReplaySteps>;

type FindReplayedDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly history: HistoryReader;
};

type Entry = {
  readonly id: string;
  readonly at: string;
  readonly isGone?: true;
  readonly past?: unknown;
  readonly body?: number;
};

/** The place of the first body among the arguments of the script. */
const FIRST_BODY = 9;

/** Finds the deliveries that a replay looks at next, in Redis and in history, oldest first. */
function createFindReplayed({ redis, keys, history }: FindReplayedDeps) {
  const logs = createLogReader(redis);
  /** Those in the log of the endpoint, and whether Redis has each. */
  const readLog = async ({ endpointId, since, until, last }: ReplayRange, limit: number) => {
    const places = await logs.oldestFirst(keys.endpointLog(endpointId), { since, until }, limit, last);
    const present = await Promise.all(places.map(({ id }) => redis.exists(keys.delivery(id))));
    return places.map((place, index) => ({ ...place, isPresent: present[index] === 1 }));
  };

  /** The arguments for the script, from its eighth on: none when the replay is not under way. */
  return async function findReplayed(replayId: string, limit: number): Promise<string[]> {
    const fields = await redis.hgetall(keys.replay(replayId));
    if (fields.s !== 'running') return [];
    const replay = readReplay(replayId, fields);
    const { endpointId, since, until } = replay;
    const { ws: workspaceId = '', lastAt, lastId = '' } = fields;
    const last = lastAt === undefined ? undefined : { at: Number(lastAt), id: lastId };
    const range = { endpointId, since, until, last };
    // Redis first: what has left it since then is in history.
    const inLog = await readLog(range, limit);
    const query = { workspaceId, endpointId, since, until, after: last };
    const past = await history.listOldestFirst(query, limit);
    const total = last ? undefined : await history.count(query).catch(withoutHistory);

    const present = new Map(inLog.map((each) => [each.id, each]));
    const moved = new Map(past.map((each) => [each.delivery.id, each]));
    const places = [...inLog, ...past.map(({ delivery: { id, createdAt } }) => ({ id, at: createdAt }))];
    const ids = [...new Map(places.map((place) => [place.id, place])).values()]
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
      .slice(0, limit);

    const bodies: string[] = [];
    const entries = await Promise.all(
      ids.map(async ({ id, at }): Promise<Entry> => {
        const place = { id, at: String(at) };
        if (present.get(id)?.isPresent) return place;
        const found = moved.get(id);
        if (!found || !isWanted(found, replay)) return { ...place, isGone: true };
        const transition = await history.findTransition(found.delivery);
        if (!transition) return { ...place, isGone: true };
        const body = FIRST_BODY + bodies.push(transition.body ?? '') - 1;
        return { ...place, past: JSON.parse(toRestored(found, transition)) as unknown, body };
      }),
    );
    const position = { lastAt: last ? String(last.at) : '', lastId: last?.id ?? '' };
    return [JSON.stringify({ ...position, total, entries }), ...bodies];
  };
}

/** A number for people. To count very many takes longer than to find the first, and must not keep a replay from it. */
function withoutHistory(error: unknown): undefined {
  if (!(error instanceof HistoryUnavailableError)) throw error;
}

type ReplayRange = {
  readonly endpointId: string;
  readonly since: number;
  readonly until: number;
  readonly last: ListPlace | undefined;
};

/** Test events are never sent again. */
function isWanted(past: PastDelivery, { statuses, event, ...result }: Replay): boolean {
  const { delivery } = past;
  return (
    statuses.includes(delivery.status) &&
    delivery.event !== 'webhook.test' &&
    (event ?? delivery.event) === delivery.event &&
    delivery.erasedAt === undefined &&
    hasResult({ delivery, last: lastOf(toListedPast(past)) }, result)
  );
}

/**
 * Puts replayed deliveries in their lines. Needs GROUP_LUA, ENQUEUE_LUA, LINE_LUA, ADVANCE_LUA and
 * `local prefix`.
 *
 * `createReplayOrder(endpoint, timeout, now)` (timeout, now: ms) returns
 * `join(id, place, transition)`, to be called once a record is pending, and `settleTurns()`, to be called once all have
 * joined. The latter sets when each is due, and returns these times by id. A delivery that was first so far, waits and
 * has not been tried, waits again behind those that came before it.
 */
const REPLAY_ORDER_LUA = /* lua */ `
-- The sequence in a body, as renderWebhookBody begins it.
local function sequenceIn(body)
  return string.match(body or '', '^{"id":"[^"]*","event":"[^"]*","created_at":"[^"]*","sequence":(%d+),')
end

local function createReplayOrder(endpoint, timeout, now)
  -- Former first ones, and those that joined, by line.
  local former, joined = {}, {}

  local function join(id, place, transition)
    local facts = redis.call('HMGET', transition, 'task', place and 'ev' or 'body')
    place = place or sequenceIn(facts[2])
    if not facts[1] or not place then return end
    local line = lineOf(prefix, endpoint, facts[1])
    if not joined[line] then
      local first, known = firstInLine(prefix, line)
      former[line] = first and { id = first, known = known } or nil
      joined[line] = {}
    end
    redis.call('ZADD', line, place, id)
    redis.call('HSET', prefix .. id, 'o', place)
    table.insert(joined[line], id)
  end

  local function settleTurns()
    local dueAt = {}
    for line, ids in pairs(joined) do
      local first, before = redis.call('ZRANGE', line, 0, 0)[1], former[line]
      for _, id in ipairs(ids) do
        dueAt[id] = id == first and now or now + timeout
        redis.call('HSET', prefix .. id, 'due', dueAt[id])
      end
      if before and before.id ~= first and before.known.isUntried and not before.known.isOwed and isWaiting(groupOf(endpoint), before.id) then
        redis.call('HSET', prefix .. before.id, 'due', now + timeout)
        local class = before.known.isReplayed and BACKGROUND or USUAL
        moveWaiting(before.id, endpoint, class + now + timeout, now)
      end
    end
    return dueAt
  end

  return join, settleTurns
end
`;

const CLAIM_REPLAYS_LUA = /* lua */ `#!lua flags=allow-oom
-- Take replays that are due, under a lease: others see them only when the lease ends, as after the death of its taker.
-- KEYS[1] replays under way (zset: id → due, ms)
-- ARGV[1] now (ms)   ARGV[2] lease ends (ms)   ARGV[3] at most so many
-- Returns the ids.
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do redis.call('ZADD', KEYS[1], ARGV[2], id) end
return ids
`;

const STEP_REPLAY_LUA = /* lua */ `
-- Carry a replay on by one step. What failed or was canceled is set pending; if the endpoint asks for order, it waits for
-- its turn. What is pending or delivered gets one more attempt beside that. Both and the replay's progress are written
-- together: a crash repeats or skips nothing, and two workers at the same replay do each step once. With history, the
-- caller looks for the deliveries, and what has left Redis comes back.
-- KEYS[1] replay (hash)   KEYS[2] replays under way (zset)
-- ARGV[1] prefix   ARGV[2] replay id   ARGV[3] now (ms)   ARGV[4] deliveries looked at in one step
-- ARGV[5] most deliveries of the group that may be due   ARGV[6] time to live of a finished replay (ms)
-- ARGV[7] JSON of limits, see takeRoom; isRefused: Redis is too full for its workspace
-- ARGV[8] with history only: JSON of { lastAt, lastId ('' before the first step), total? (deliveries in history alone),
--   entries: [{ id, at, isGone? (neither has it), past? (see RESTORE_LUA), body? (its place in ARGV) }, ...] }, at most
--   ARGV[4] entries; fewer are the last ones   ARGV[9..] bodies
-- Returns {'stepped' | 'wait' (others must go first, its workspace is full, or what was found has changed: look again) | 'ended',
-- deliveries set pending, or others that get an attempt now}. While its workspace is full, 'full' of the replay says of what.
local prefix, now = ARGV[1], ARGV[3]
${GROUP_LUA}
${ENQUEUE_LUA}
${LINE_LUA}
${ADVANCE_LUA}
${REPLAY_ORDER_LUA}
${ACCOUNT_LUA}
${ROOM_LUA}
${NO_ROOM_LUA}
${LOG_LUA}
${ENDED_LUA}
${RESTORE_LUA}
${READ_LOG_LUA}
${LAST_RESULT_LUA}
local replay = {}
local flat = redis.call('HGETALL', KEYS[1])
for index = 1, #flat, 2 do replay[flat[index]] = flat[index + 1] end

local function finish(status, count)
  redis.call('HSET', KEYS[1], 's', status, 'end', now)
  redis.call('HDEL', KEYS[1], 'full')
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
  redis.call('ZREM', KEYS[2], ARGV[2])
  return { 'ended', count }
end
if replay.s ~= 'running' then
  redis.call('ZREM', KEYS[2], ARGV[2])
  return { 'ended', 0 }
end
local endpoint = redis.call('HMGET', prefix .. 'e:' .. replay.e, 'on', 'ord', 'ordTo')
if endpoint[1] ~= '1' then return finish('stopped', 0) end
local limits = cjson.decode(ARGV[7])
if limits.isRefused then
  redis.call('HSET', KEYS[1], 'full', 'memory')
  return { 'wait', 0 }
end
-- What waits for its turn, or for its next try, delays nobody.
local group = groupOf(replay.e)
if countDue(group, now) > tonumber(ARGV[5]) then
  if replay.full then redis.call('HDEL', KEYS[1], 'full') end
  return { 'wait', 0 }
end

-- The step begins after the last delivery looked at. Those of its own millisecond come in the order of their ids.
local limit = tonumber(ARGV[4])
local function findInLog()
  local log, last = prefix .. 'e:' .. replay.e .. ':log', nil
  if replay.lastAt then last = { at = replay.lastAt, id = replay.lastId } end
  local found = readLog(log, false, replay.lastAt or replay.since, '(' .. replay['until'], last, limit)
  if not found then return nil end
  table.sort(found, function(a, b)
    local first, second = tonumber(a.at), tonumber(b.at)
    return first < second or (first == second and a.id < b.id)
  end)
  return { unpack(found, 1, math.min(limit, #found)) }
end

local given = ARGV[8] and cjson.decode(ARGV[8])
if given then
  if (replay.lastAt or '') ~= given.lastAt or (replay.lastId or '') ~= given.lastId then return { 'wait', 0 } end
  for _, entry in ipairs(given.entries) do
    -- It has left Redis since it was looked at: history has it now.
    local isPresent = redis.call('EXISTS', prefix .. entry.id) == 1
    if not isPresent and not entry.isGone and not entry.past then return { 'wait', 0 } end
    entry.isPast = not isPresent
  end
end
local found = given and given.entries or findInLog()
if not found then return { 'stepped', 0 } end
local entries, replayedIds, owedEntries = {}, {}, {}
local timeout = tonumber(endpoint[3] or '') or ${DEFAULT_ORDERING_TIMEOUT_MS}
local join, settleTurns = createReplayOrder(replay.e, timeout, tonumber(now))
local seen, replayed, added, restored, lastAt, lastId, full = 0, 0, 0, 0, replay.lastAt, replay.lastId, nil
-- Nothing but urgent jobs may go now: the breaker is open, or the endpoint asked for a pause.
local isHeld = waitUntilOf(group, readGroup(group), tonumber(now)) > tonumber(now)

local function hasResult(record)
  if not replay.err and not replay.http then return true end
  local status, problem = lastResult(record)
  local isOfError = not replay.err or replay.err == problem or replay.err == redis.call('HGET', record, 'why')
  local isOfStatus = not replay.http or replay.http == status
    or (status ~= '' and replay.http == string.sub(status, 1, 1) .. 'xx')
  return isOfError and isOfStatus
end

local function isFirst() return replayed == 0 and tonumber(replay.replayed) == 0 end

local function isReplayed(id, facts)
  if not facts[1] or not string.find(',' .. replay.statuses .. ',', ',' .. facts[1] .. ',', 1, true) then return false end
  local about = redis.call('HMGET', prefix .. facts[2], 'ev', 'task')
  if redis.call('HEXISTS', prefix .. facts[2], 'body') == 0 or about[1] == 'webhook.test' then return false end
  if replay.ev and replay.ev ~= about[1] then return false end
  if facts[1] == 'delivered' and facts[4] then return false end
  -- One that is pending has its attempt now, unless it has one already, or is not the first in its line. What is due goes
  -- by itself; but while the endpoint is held, the first of all is tried at once, since its success lets all go.
  if facts[1] == 'pending' then
    local waits = facts[3] and about[2] and firstInLine(prefix, lineOf(prefix, replay.e, about[2])) ~= id
    local isDue = (tonumber(facts[5] or '') or 0) <= tonumber(now)
    if facts[4] or waits or (isDue and not (isHeld and isFirst())) then return false end
  end
  return hasResult(prefix .. id)
end

for _, entry in ipairs(found) do
  local id, record = entry.id, prefix .. entry.id
  local past, body = entry.isPast and entry.past, ARGV[entry.body or 0] or ''
  local facts, bytes = redis.call('HMGET', record, 's', 'x', 'o', 'owe', 'due'), past and sizeOfPast(past, body) or 0
  local wanted = past or isReplayed(id, facts)
  local isPending = wanted and facts[1] == 'pending'
  full = wanted and not isPending and findNoRoom(replay.ws, added + 1, restored + bytes, limits, now)
  if full then break end
  seen, restored, lastAt, lastId = seen + 1, restored + bytes, entry.at, id
  if past then
    restore(past, body, now)
    facts = redis.call('HMGET', record, 's', 'x', 'o', 'owe', 'due')
    wanted = isReplayed(id, facts)
  end
  if isPending or (wanted and facts[1] == 'delivered') then
    -- It stands beside what is known, as a redelivery: the schedule of one that is pending, and that one was delivered, and
    -- when. One in work is enqueued when its attempt is recorded.
    local class = isHeld and isFirst() and URGENT or BACKGROUND
    replayed = replayed + 1
    redis.call('HSET', record, 'owe', 1)
    if not isPending then
      added = added + 1
      stay(record, prefix .. facts[2])
    end
    if not isPending or isWaiting(group, id) then owedEntries[#owedEntries + 1] = { group, id, class + now, replay.ws } end
  elseif wanted then
    local transition = prefix .. facts[2]
    replayed, added = replayed + 1, added + 1
    -- One that is owed and doesn't wait is in work: it is enqueued when its attempt is recorded.
    if not facts[4] or isWaiting(group, id) then replayedIds[#replayedIds + 1] = id end
    redis.call('HSET', record, 's', 'pending', 'n', 0, 'from', now, 'due', now)
    redis.call('HDEL', record, 'end', 'why', 'o', 'rel')
    if endpoint[2] then join(id, facts[3], transition) end
    forgetEnded({ id = id, endpoint = replay.e, workspace = replay.ws, status = facts[1], at = entry.at })
    if facts[1] == 'failed' then redis.call('ZREM', prefix .. 'failed', id) end
    redis.call('HINCRBY', transition, 'open', 1)
    if redis.call('HEXISTS', transition, 'b') == 1 then notePending(replay.ws, 1) end
    stay(record, transition)
  end
end
if full and seen == 0 then
  redis.call('HSET', KEYS[1], 'full', full)
  writeAccounts()
  return { 'wait', 0 }
end
local dueAt = settleTurns()
for _, id in ipairs(replayedIds) do
  entries[#entries + 1] = { group, id, BACKGROUND + (dueAt[id] or now), replay.ws }
end
-- One that ended without its lease may still wait.
enqueue(entries, tonumber(now), 'NX')
-- These get an attempt now: what waited for its next try, and what was delivered.
enqueue(owedEntries, tonumber(now))
writeAccounts()
if full then redis.call('HSET', KEYS[1], 'full', full) elseif replay.full then redis.call('HDEL', KEYS[1], 'full') end
redis.call('HINCRBY', KEYS[1], 'seen', seen)
redis.call('HINCRBY', KEYS[1], 'replayed', replayed)
if given then
  -- What is in both was counted twice, and of very many not all were counted: in the end, all were looked at.
  local total, all = redis.call('HINCRBY', KEYS[1], 'total', given.total or 0), redis.call('HGET', KEYS[1], 'seen')
  if (seen < limit and not full) or tonumber(all) > total then redis.call('HSET', KEYS[1], 'total', all) end
end
if seen < limit and not full then return finish('done', replayed) end
redis.call('HSET', KEYS[1], 'lastAt', lastAt, 'lastId', lastId)
return { full and 'wait' or 'stepped', replayed }
`;
