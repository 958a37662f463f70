import { z } from 'zod';
import { GROUP_LUA } from '../groups/group-lua.ts';
import { createQueueKeys, type QueueAccess } from '../queue-keys.ts';

/** The state of one group. Times are epoch ms. */
export type GroupState = {
  readonly group: string;
  /** Its waiting jobs, due or not. */
  readonly waiting: number;
  /** Waiting jobs that are due, whatever keeps them waiting. */
  readonly due: number;
  readonly inWork: number;
  /** Its breaker is open: one probe at a time goes out, the next one at `nextProbeAt`. */
  readonly isOpen: boolean;
  /** Jobs without an answer, in a row. */
  readonly unanswered: number;
  readonly nextProbeAt?: number;
  /** Its owner has stopped it: no job goes out. */
  readonly isStopped: boolean;
  /** Only urgent jobs go out before; absent once that has passed. */
  readonly heldUntil?: number;
  /** It is suspect at least until then; absent once that has passed. */
  readonly suspectUntil?: number;
  /** Due jobs that wait for nothing but the rate; absent when there are none. */
  readonly waitingForRate?: number;
  /** Jobs that may be in work, while that is fewer than configured. */
  readonly limit?: number;
  /** The waiting job that goes first. */
  readonly first?: { readonly id: string; readonly dueAt: number };
};

const Count = z.number();
const Row = z.tuple([
  z.string(),
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
  z.string(),
  Count,
  Count,
  Count,
  Count,
]);

const ROW_LUA = /* lua */ `
local function rowOf(group, seen)
  local state, ofRate = seen.state, 0
  if state.tokenAt > now and state.tokenAt >= waitUntilOf(group, state, now) then
    ofRate = seen.due - redis.call('ZCOUNT', prefix .. 'q:' .. group, 0, now)
  end
  return {
    group, seen.total, seen.due, state.inWork, state.isOpen and 1 or 0, state.fails, state.probeAt, state.heldUntil, state.suspectUntil,
    seen.id or '', seen.dueAt or 0, ofRate, state.limit or 0, state.place == 's' and 1 or 0,
  }
end
`;

/** Groups to look at in each ring, and in `later`, at most: Redis does nothing else meanwhile. */
const LOOKED_AT_A_RING = 80;
const LOOKED_AT_LATER = 200;

/**
 * For scripts that only read. Needs GROUP_LUA.
 *
 * `standing()` finds groups with waiting jobs: of very many only those that are served soonest. Returns a list of
 * {name, place ('0' to '3', 'later'), its turn or until when it stands there (ms)}, the number of groups with waiting jobs, and the
 * number of ready groups that are not in the list.
 *
 * `lookAt(group, now)` reads one group: `state` (see readGroup); `total` waiting jobs; `due` ones among them; `mayGo`,
 * those of the due ones that wait only for a worker or a slot; `since` and, for background jobs, `backgroundSince`,
 * when the first of these could go; `id` and `dueAt` of the job that goes first.
 */
export const LOOK_LUA = /* lua */ `
local function standing()
  local found, total, readyLeft = {}, 0, 0
  local function add(place, key, limit)
    local rows, count = redis.call('ZRANGE', key, 0, limit - 1, 'WITHSCORES'), redis.call('ZCARD', key)
    for index = 1, #rows, 2 do found[#found + 1] = { rows[index], place, tonumber(rows[index + 1]) } end
    total = total + count
    return count - #rows / 2
  end
  for ring = 0, 3 do readyLeft = readyLeft + add(tostring(ring), prefix .. 'ready:' .. ring, ${LOOKED_AT_A_RING}) end
  add('later', prefix .. 'later', ${LOOKED_AT_LATER})
  return found, total, readyLeft
end

local function goesBefore(seen, class, dueAt, now)
  if not seen.id then return true end
  if dueAt > now then return dueAt < seen.dueAt end
  return seen.dueAt > now or class < seen.class or (class == seen.class and dueAt < seen.dueAt)
end

local function lookAt(group, now)
  local key, state = prefix .. 'q:' .. group, readGroup(group)
  local waitUntil, isProbing = waitUntilOf(group, state, now), state.isOpen and not isExpress(group)
  local seen = { state = state, total = redis.call('ZCARD', key), due = 0, mayGo = 0 }
  local found = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  while found[1] do
    local score = tonumber(found[2])
    local class = math.floor(score / CLASS)
    local dueAt = score - class * CLASS
    -- Due jobs go first, by class; otherwise the job that is due soonest.
    if goesBefore(seen, class, dueAt, now) then seen.id, seen.class, seen.dueAt = found[1], class, dueAt end
    if dueAt <= now then
      local count = seen.total == 1 and 1 or redis.call('ZCOUNT', key, class * CLASS, class * CLASS + now)
      local since = class == 0 and dueAt or math.max(dueAt, waitUntil)
      if state.place == 's' then since = math.huge end
      seen.due = seen.due + count
      if since <= now then
        -- A probe goes alone.
        if class > 0 and isProbing then count = math.min(count, math.max(0, 1 - seen.mayGo)) end
        seen.mayGo = seen.mayGo + count
        if class == 2 then seen.backgroundSince = since else seen.since = math.min(seen.since or since, since) end
      end
    end
    if seen.total == 1 or class == 2 then break end
    found = redis.call('ZRANGE', key, (class + 1) * CLASS, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  end
  return seen
end
`;

const LIST_GROUPS_LUA = /* lua */ `
-- Lists groups with waiting jobs, those with the most first. Reads only, and of very many groups only some.
-- KEYS[1] later (zset): names the slot
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] the most groups to return
-- Returns for each {name, waiting jobs, due ones among them, jobs in work, 1 when its breaker is open, else 0, jobs
-- without an answer in a row, when the next probe may go (ms), paused until (ms), suspect until (ms), the job that goes
-- first, when that is due (ms), due jobs that wait for nothing but the rate, its limit while that is below the configured
-- one, else 0, 1 when its owner has stopped it, else 0}.
local prefix, now, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
${GROUP_LUA}
${LOOK_LUA}
${ROW_LUA}
local rows = {}
for _, entry in ipairs((standing())) do
  local seen = lookAt(entry[1], now)
  if seen.id then rows[#rows + 1] = rowOf(entry[1], seen) end
end
table.sort(rows, function(a, b) return a[2] > b[2] or (a[2] == b[2] and a[1] < b[1]) end)
local first = {}
for index = 1, math.min(limit, #rows) do first[index] = rows[index] end
return first
`;

const FIND_GROUP_LUA = /* lua */ `
-- Reads one group.
-- KEYS[1] group (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] group
-- Returns a row of LIST_GROUPS_LUA, with '' and 0 where no job waits. An empty list when the group is unknown.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
${LOOK_LUA}
${ROW_LUA}
local seen = lookAt(ARGV[3], now)
if not seen.id and redis.call('EXISTS', KEYS[1]) == 0 then return {} end
return rowOf(ARGV[3], seen)
`;

/** Reads the state of groups. Its scripts only read, and their work is bounded. */
export function createGroupReader({ prefix, defineScript, now }: QueueAccess) {
  const keys = createQueueKeys(prefix);
  const list = defineScript('queueListGroups', LIST_GROUPS_LUA);
  const find = defineScript('queueFindGroup', FIND_GROUP_LUA);
  return {
    /**
     * Groups with waiting jobs, those with the most first. Of very many it looks only at those that are served soonest.
     */
    async list(limit: number): Promise<readonly GroupState[]> {
      const at = now();
      const rows = z.array(Row).parse(await list([keys.later], [prefix, at, limit]));
      return rows.map((row) => toGroupState(row, at));
    },
    /** Undefined when no job waits in the group and nothing is known of it. */
    async find(group: string): Promise<GroupState | undefined> {
      const at = now();
      const row = z.union([Row, z.tuple([])]).parse(await find([keys.group(group)], [prefix, at, group]));
      return row.length === 0 ? undefined : toGroupState(row, at);
    },
  };
}

function toGroupState(row: z.infer<typeof Row>, now: number): GroupState {
  const [group, waiting, due, inWork, isOpen, unanswered, nextProbeAt, heldUntil, suspectUntil, ...rest] = row;
  const [firstId, firstDueAt, waitingForRate, limit, isStopped] = rest;
  return {
    group,
    waiting,
    due,
    inWork,
    isOpen: isOpen === 1,
    isStopped: isStopped === 1,
    unanswered,
    ...(isOpen === 1 && { nextProbeAt }),
    ...(heldUntil > now && { heldUntil }),
    ...(suspectUntil > now && { suspectUntil }),
    ...(waitingForRate > 0 && { waitingForRate }),
    ...(limit > 0 && { limit }),
    ...(firstId !== '' && { first: { id: firstId, dueAt: firstDueAt } }),
  };
}

/**
 * For scripts that only read. Needs `local prefix`.
 *
 * `jobsOf(group, most)` returns the ids of a group's jobs, those that wait and those in work; nil: more than so many wait,
 * or are in work in all groups.
 */
export const JOBS_LUA = /* lua */ `
local function jobsOf(group, most)
  local waiting, leases = prefix .. 'q:' .. group, prefix .. 'leases'
  if redis.call('ZCARD', waiting) > most then return nil end
  local ids = redis.call('ZRANGE', waiting, 0, -1)
  if (tonumber(redis.call('HGET', prefix .. 'g:' .. group, 'n') or '') or 0) == 0 then return ids end
  if redis.call('ZCARD', leases) > most then return nil end
  for _, handle in ipairs(redis.call('ZRANGE', leases, 0, -1)) do
    local of, id = string.match(handle, '^[^|]*|([^|]*)|[^|]*|(.*)$')
    if of == group then ids[#ids + 1] = id end
  end
  return ids
end
`;

/**
 * For scripts that only read. Needs `local prefix`.
 *
 * `factsOfWaiting(group)` returns the id and the score of the job that stands first, if one waits, and how many do: a list
 * that is another one whenever jobs came to wait, or went.
 */
export const WAITING_LUA = /* lua */ `
local function factsOfWaiting(group)
  local waiting = prefix .. 'q:' .. group
  local facts = redis.call('ZRANGE', waiting, 0, 0, 'WITHSCORES')
  facts[#facts + 1] = redis.call('ZCARD', waiting)
  return facts
end
`;
