import { z } from 'zod';
import { BURST_TURNS, GROUP_LUA, RATE_LUA, RECHECK_MS, TURN } from '../groups/group-lua.ts';
import { dueAtOf, RINGS, type DefineScript, type QueueKeys, type Ring } from '../queue-keys.ts';

/** A job under a lease. */
export type Reserved = {
  readonly id: string;
  /** Names the lease. A script that ends the job gives the lease back by it. */
  readonly handle: string;
  readonly group: string;
  /** Since when it may go, epoch ms. */
  readonly dueAt: number;
  readonly ring: Ring;
  /** To whom its group belongs; '' to nobody. */
  readonly tenant: string;
  /** It goes through an open breaker, alone. */
  readonly isProbe: boolean;
  /**
   * The result of `readRows` on the reply of `load`, which is null when `load` returned nil or false, or failed.
   * Undefined once the job has ended.
   */
  loaded: unknown;
};

export type ReserveRequest = {
  /** Redis' time, epoch ms. */
  readonly now: number;
  readonly leaseEndsAt: number;
  /** Unique among the reserves of all processes. */
  readonly nonce: string;
  /** Jobs in work that a group may have, over all workers. */
  readonly groupLimit: number;
  /** The most jobs to take, by ring. */
  readonly rooms: readonly number[];
  /** Of these, the most that have waited for long. A ring stops at the next one. Default: all. */
  readonly staleRooms?: readonly number[];
  /** Groups that keep this worker waiting far longer than usual. */
  readonly suspects: readonly string[];
  /**
   * By ring, the tenants that get none of its room. A quick group of theirs is suspect when its turn comes. In the suspect
   * and the slow ring they are passed over, and while there are any, each other tenant gets one slot.
   */
  readonly withoutRoom: readonly (readonly string[])[];
  /** Quick groups give one job a turn. */
  readonly isCautious: boolean;
};

export type ReserveReply = {
  /** A queue that is paused has jobs of express groups only. */
  readonly kind: 'reserved' | 'paused';
  readonly jobs: readonly Reserved[];
  /** By ring, whether some of its groups are still ready. */
  readonly left: readonly boolean[];
  /** When to look at the first group that is not ready now, epoch ms; 0: there is none. */
  readonly lookAgainAt: number;
};

const Flag = z.number().transform((value) => value === 1);
const RingNumber = z.enum(['0', '1', '2', '3']).transform((text) => Number(text) as Ring);
const Row = z.tuple([z.string(), z.string(), RingNumber, Flag, z.unknown(), z.string()]);
const Left = z.tuple([Flag, Flag, Flag, Flag]);
const Reply = z.tuple([z.enum(['reserved', 'paused']), z.array(Row), z.coerce.number(), Left]);

/** Parses the rows that `load` returned for the jobs of one reply, which may share parts. */
export type ReadRows = (rows: readonly { readonly id: string; readonly row: unknown }[]) => readonly unknown[];

/** @param loadLua see `createReserveScript` */
export function createReserve(defineScript: DefineScript, keys: QueueKeys, loadLua: string, readRows: ReadRows) {
  const reserve = defineScript('queueReserve', createReserveScript(loadLua));
  const scriptKeys = [
    keys.leases,
    keys.settings,
    keys.later,
    ...RINGS.map(keys.ready),
    ...RINGS.map(keys.wake),
    ...RINGS.map(keys.turns),
  ];
  return async (request: ReserveRequest): Promise<ReserveReply> => {
    const {
      now,
      leaseEndsAt,
      nonce,
      groupLimit,
      rooms,
      staleRooms = rooms,
      suspects,
      withoutRoom,
      isCautious,
    } = request;
    const args = [
      keys.prefix,
      now,
      leaseEndsAt,
      nonce,
      groupLimit,
      ...rooms,
      ...staleRooms,
      isCautious ? 1 : 0,
      suspects.length,
      ...suspects,
      ...withoutRoom.flatMap((tenants, ring) => tenants.map((tenant) => `${ring}${tenant}`)),
    ];
    const [kind, rows, lookAgainAt, left] = Reply.parse(await reserve(scriptKeys, args));
    const loaded = readRows(rows.map(([id, , , , row]) => ({ id, row })));
    const jobs = rows.map(([id, handle, ring, isProbe, , tenant], index) => {
      return { id, handle, ...readHandle(handle), ring, tenant, isProbe, loaded: loaded[index] };
    });
    return { kind, jobs, left, lookAgainAt };
  };
}
export type Reserve = ReturnType<typeof createReserve>;

/** A handle is `score|group|nonce|id`. */
function readHandle(handle: string): Pick<Reserved, 'group' | 'dueAt'> {
  const [score = '', group = ''] = handle.split('|', 2);
  return { group, dueAt: dueAtOf(Number(score)) };
}

/** Jobs that a group gives in one turn, so that a group with many waiting jobs doesn't keep the others waiting. */
const JOBS_A_TURN = 4;
/** How long a job has been due that waits for want of time, at least, in ms. */
export const STALE_FROM_MS = 1_000;
/**
 * A reserve takes what is due within so many ms. Whoever added a job has seen it due, by a clock that may be ahead: the
 * worker that this has woken would have to wait.
 */
const CLOCKS_DIFFER_MS = 5;
/** Turns that have passed, of which one reserve forgets at most so many: Redis does nothing else meanwhile. */
const TURNS_FORGOTTEN = 100;
/**
 * Groups that one reserve looks at, at most, in `later`, and in a ring for those whose tenants get room: Redis does
 * nothing else meanwhile. A tenant has one turn at a time while others wait, so another's stands near the front.
 */
const GROUPS_LOOKED_AT = 100;
/** How long a group that keeps a worker waiting is suspect, unless an answer comes first, in ms. */
const SUSPECT_MS = 10_000;

/**
 * @param loadLua defines `local function load(prefix, id)`, which returns what the worker needs of a job: any value
 * that a script may reply; and `local function termsOf(prefix, group)`, the jobs a second that a group may give, or nil, and
 * whether it may give none, not even urgent ones
 */
function createReserveScript(loadLua: string): string {
  return /* lua */ `#!lua flags=allow-oom
-- Takes due jobs from the groups that are ready, in turn, under leases. The jobs of a worker that dies come back when
-- the leases end.
-- KEYS[1] leases (zset)   KEYS[2] settings (hash)   KEYS[3] later (zset)   KEYS[4..7] rings (zset)   KEYS[8..11] their
-- wake marks (zset)   KEYS[12..15] their turns (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] leases end (ms)   ARGV[4] nonce, unique among reserves   ARGV[5] limit of
-- a group
-- ARGV[6..9] most jobs of each ring   ARGV[10..13] most of them that have waited for long   ARGV[14] 1 when a quick group
-- gives one job a turn, else 0   ARGV[15] number of the groups that follow: those that keep this worker waiting far longer
-- than usual   behind them: names of a ring's number and a tenant, which gets none of its room. A quick group of such a
-- tenant becomes suspect when its turn comes. Suspect and slow ones are passed over, and while there are any, each other
-- tenant gets one slot
-- Returns {'reserved' | 'paused', jobs, when to look again (ms) or 0, for each ring 1 when some of its groups are still
-- ready, else 0}.
-- A paused queue gives jobs of express groups only, and reports the other rings as not ready.
-- Each job is {id, handle of its lease, its ring, 1 when it is a probe, else 0, the result of load, null when that is
-- nil or load fails, the tenant or ''}.
-- After a crash the jobs are in work until their leases end. Recovery then enqueues them where they stood.
-- A repeat with the same nonce and lease end, after a lost reply, returns the jobs that it has reserved already, and no
-- others.
local prefix = ARGV[1]
${GROUP_LUA}
${RATE_LUA}
${loadLua}
local isPaused = redis.call('HEXISTS', KEYS[2], 'paused') == 1
local now, leaseEnd, nonce, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
ahead = ${CLOCKS_DIFFER_MS}

-- Has a group count as suspect until it answers, or for some time.
local function suspect(group, state)
  state.suspectUntil = now + ${SUSPECT_MS}
  redis.call('HSET', prefix .. 'g:' .. group, 'sus', state.suspectUntil)
  keep(prefix .. 'g:' .. group, state, now)
  if state.place == '1' then put(group, state, '2', now) end
end

local lastSuspect, withoutRoom = 15 + tonumber(ARGV[15]), { {}, {}, {}, {} }
for index = lastSuspect + 1, #ARGV do
  local ring, tenant = string.match(ARGV[index], '^(%d)(.*)$')
  withoutRoom[ring + 1][tenant] = true
end
for index = 16, lastSuspect do
  local state = readGroup(ARGV[index])
  -- Renewed when half of it has passed: the worker says so at every reserve.
  if state.suspectUntil < now + ${SUSPECT_MS / 2} then suspect(ARGV[index], state) end
end

for _, group in ipairs(redis.call('ZRANGE', KEYS[3], '-inf', now, 'BYSCORE', 'LIMIT', 0, ${GROUPS_LOOKED_AT})) do
  local state = readGroup(group)
  -- The state of the group may have expired.
  if not isLater(state.place) then redis.call('ZREM', KEYS[3], group) end
  if state.place == 's' and select(2, termsOf(prefix, group)) then put(group, state, 's', now, now + ${RECHECK_MS})
  else place(group, state, now, limit, true) end
end

local jobs, leases = {}, {}

for _, handle in ipairs(redis.call('ZRANGE', KEYS[1], leaseEnd, leaseEnd, 'BYSCORE')) do
  local group, name, id = string.match(handle, '^[^|]*|([^|]*)|([^|]*)|(.*)$')
  if name == nonce then
    local state = readGroup(group)
    -- A job that was in work when the breaker opened is no probe. The next probe waits for the lease of the one that is
    -- out.
    local isProbe = state.isOpen and state.probeAt == leaseEnd and not isExpress(group)
    local ring = ringOf(group, state, now)
    jobs[#jobs + 1] = { id, handle, ring, isProbe and 1 or 0, false, state.tenant or '' }
  end
end
-- The first run has counted these jobs off.
local isRepeated, taken = #jobs > 0, 0

-- At most so many due jobs, in their order, as ids and scores; what is not due goes back. Also whether the group is
-- empty now.
local function pop(group, count)
  local key = prefix .. 'q:' .. group
  local popped, due, early = redis.call('ZPOPMIN', key, count), {}, {}
  for index = 1, #popped, 2 do
    local id, score = popped[index], popped[index + 1]
    if tonumber(score) % CLASS <= now + ahead then
      due[#due + 1] = id
      due[#due + 1] = score
    else
      early[#early + 1] = score
      early[#early + 1] = id
    end
  end
  if #early == 0 then return due, #popped < 2 * count end
  redis.call('ZADD', key, unpack(early))
  -- Jobs of later classes may be due behind a job that is not. A limit of 0 reads none.
  for class = math.floor(tonumber(early[1]) / CLASS) + 1, 2 do
    local more = redis.call('ZRANGE', key, class * CLASS, class * CLASS + now + ahead, 'BYSCORE', 'LIMIT', 0, count - #due / 2, 'WITHSCORES')
    for index = 1, #more, 2 do
      redis.call('ZREM', key, more[index])
      due[#due + 1] = more[index]
      due[#due + 1] = more[index + 1]
    end
  end
  return due, false
end

-- Takes jobs of the group at the head of a ring, and moves the group on. Returns how many jobs it took, and whether its
-- first one has waited for long. Such a group stays at the head while there is no room for these.
-- isAlone: no other group waits in the ring
local function serve(group, turn, ring, room, staleRoom, isAlone)
  local state = readGroup(group)
  -- Whatever comes of it, this was its turn.
  state.served = 1
  -- The entry in the ring counts: the state of the group may have expired.
  if state.place ~= ring then
    redis.call('ZREM', KEYS[4 + ring], group)
    if isLater(state.place) then return 0 end
  end
  local rate, isStopped
  if ring ~= '0' then rate, isStopped = termsOf(prefix, group) end
  if isStopped then
    put(group, state, 's', now, now + ${RECHECK_MS})
    return 0
  end
  local waitUntil = waitUntilOf(group, state, now)
  local _, class, dueSince = firstDue(group, now, waitUntil)
  if not class or ringOf(group, state, now) ~= ring then
    place(group, state, now, limit)
    return 0
  end
  local key, isProbe = prefix .. 'g:' .. group, state.isOpen and ring ~= '0'
  local isStale = dueSince <= now - ${STALE_FROM_MS}
  if isStale and staleRoom <= 0 then return 0, true end
  local count = math.min(room, isStale and staleRoom or room, ${JOBS_A_TURN}, limitOf(group, state, now, limit) - state.inWork)
  if rate then
    local tokens = tokensIn(state, rate, now)
    if tokens == 0 and class > 0 then
      redis.call('HSET', key, takeTokens(state, rate, now, 0))
      place(group, state, now, limit)
      return 0
    end
    count = math.min(count, math.max(1, tokens))
  end
  -- One job at a time goes through an open breaker or a pause.
  if isProbe or waitUntil > now then count = math.min(count, 1) end
  if count <= 0 then
    place(group, state, now, limit)
    return 0
  end
  local due, isEmpty = pop(group, count)
  local served = #due / 2
  for index = 1, #due, 2 do
    local handle = due[index + 1] .. '|' .. group .. '|' .. nonce .. '|' .. due[index]
    leases[#leases + 1] = leaseEnd
    leases[#leases + 1] = handle
    jobs[#jobs + 1] = { due[index], handle, ring, isProbe and 1 or 0, false, state.tenant or '' }
  end
  state.inWork, taken, state.served = state.inWork + served, taken + served, served
  if isProbe then
    state.probeAt = leaseEnd
    redis.call('HSET', key, 'probe', leaseEnd)
  end
  if rate then redis.call('HSET', key, 'n', state.inWork, 'at', now, takeTokens(state, rate, now, served))
  else redis.call('HSET', key, 'n', state.inWork, 'at', now) end
  keep(key, state, now)
  if isEmpty then
    put(group, state, nil, now)
  else
    place(group, state, now, limit)
    if state.place == ring then
      -- Turns pass also while one group has all of them: those who have had none have some left then.
      local following = isAlone and turn + served * ${TURN} or turnAfter(turn, ring, state, served)
      redis.call('ZADD', KEYS[4 + ring], following, group)
    end
  end
  return served, isStale
end

-- Forgets turns that have passed, in a ring in which groups have been served and others wait from the given turn on.
local function forgetPassed(turns, present)
  local passed = redis.call('ZRANGE', turns, '-inf', string.format('(%.17g', present - ${BURST_TURNS}), 'BYSCORE', 'LIMIT', 0, ${TURNS_FORGOTTEN})
  if passed[1] then redis.call('ZREM', turns, unpack(passed)) end
end

-- The first groups of a ring, and their turns. isKept: those whose tenants get room
local function firstOf(index, isKept)
  if not isKept then return redis.call('ZRANGE', KEYS[4 + index], 0, 1, 'WITHSCORES') end
  local found, those = redis.call('ZRANGE', KEYS[4 + index], 0, ${GROUPS_LOOKED_AT - 1}, 'WITHSCORES'), {}
  for at = 1, #found, 2 do
    if not withoutRoom[index + 1][readGroup(found[at]).tenant or ''] then
      those[#those + 1] = found[at]
      those[#those + 1] = found[at + 1]
    end
  end
  return those
end

for index = 0, 3 do
  local ring, room, staleRoom, without = tostring(index), tonumber(ARGV[6 + index]), tonumber(ARGV[10 + index]), withoutRoom[index + 1]
  local isKept = index > 1 and next(without) ~= nil
  local isOneATurn = isKept or (index == 1 and ARGV[14] == '1')
  if isRepeated or (isPaused and index > 0) then room = 0 end
  local isServed, first, moved = room > 0, room > 0 and firstOf(index, isKept) or {}, 0
  while first[1] and room > 0 do
    local state = readGroup(first[1])
    if ring == '1' and state.place == ring and state.suspectUntil <= now and without[state.tenant or ''] then
      -- It leaves the ring, so that others don't stand behind it.
      suspect(first[1], state)
      moved = moved + 1
      if moved == ${GROUPS_LOOKED_AT} then room = 0 end
    else
      local most = isOneATurn and 1 or room
      local served, isStale = serve(first[1], tonumber(first[2]), ring, most, staleRoom, not isKept and not first[3])
      if isKept and served > 0 then without[state.tenant or ''] = true end
      if isStale and staleRoom <= 0 then room = 0 end
      if isStale then staleRoom = staleRoom - served end
      room = room - served
    end
    first = firstOf(index, isKept)
  end
  if isServed and first[1] and not isKept then forgetPassed(KEYS[12 + index], tonumber(first[2])) end
end
-- Only this script knows whether groups are left. Other workers may have room for them, so they are woken.
local left, isAnyReady = {}, false
for index = 0, 3 do
  local isReady = redis.call('EXISTS', KEYS[4 + index]) == 1
  isAnyReady = isAnyReady or isReady
  if isReady then redis.call('ZADD', KEYS[8 + index], 0, '0') else redis.call('UNLINK', KEYS[8 + index], KEYS[12 + index]) end
  left[index + 1] = isReady and not (isPaused and index > 0) and 1 or 0
end
local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
if taken > 0 then redis.call('ZADD', KEYS[1], unpack(leases)) end
if not isAnyReady and not first[1] then
  -- No group has waiting jobs. The count is reset, in case keys were deleted by hand.
  redis.call('HDEL', KEYS[2], 'n')
elseif taken > 0 then
  redis.call('HINCRBY', KEYS[2], 'n', -taken)
end
for _, job in ipairs(jobs) do
  local succeeded, row = pcall(load, prefix, job[1])
  -- A reply would end at a nil; false becomes null.
  if succeeded and row ~= nil then job[5] = row end
end
return { isPaused and 'paused' or 'reserved', jobs, first[2] or '0', left }
`;
}
