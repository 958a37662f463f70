import { z } from 'zod';
import { GROUP_LUA } from '../groups/group-lua.ts';
import { createQueueKeys, type QueueAccess } from '../queue-keys.ts';
import { LOOK_LUA } from './group-reader.ts';

/** The obstacle of a group's waiting jobs: only workers and slots, its breaker, a pause that it asked for, or its owner. */
export const GROUP_HEALTHS = ['flowing', 'breaker_open', 'paused', 'stopped'] as const;
export type GroupHealth = (typeof GROUP_HEALTHS)[number];

/**
 * How much waits in a queue. Times are epoch ms. A script looks at some 400 groups, those that are served soonest. Each
 * further group that is ready counts as one waiting job, and the rest of the further groups' jobs as delayed.
 */
export type QueueState = {
  /** Jobs that are due and wait only for a worker or a slot; until recovery also those of a dead worker. */
  readonly waiting: number;
  readonly active: number;
  /** Jobs that are not due, or whose group is stopped, paused or has an open breaker. */
  readonly delayed: number;
  /**
   * Since when the first job that waits only for a worker has done so; absent: none waits. A job that waits for a slot
   * of its group doesn't count. A background job waits since its group's last turn.
   */
  readonly oldestDueAt?: number;
  readonly isPaused: boolean;
  /** Groups with waiting jobs. */
  readonly groups: number;
  /** Groups with waiting jobs that are missing in `byHealth`, because there are too many to look at each. */
  readonly groupsNotLookedAt: number;
  /** Groups with waiting jobs, without express groups. */
  readonly byHealth: Readonly<Record<GroupHealth, GroupsState>>;
};

export type GroupsState = {
  readonly groups: number;
  /** Their waiting jobs that are due. */
  readonly due: number;
  /** When the oldest of the groups' first jobs was due; absent: none is due. */
  readonly oldestDueAt?: number;
};

const Triple = z.tuple([z.number(), z.number(), z.number()]);
const Reply = z.tuple([z.number(), Triple, Triple, Triple, Triple, Triple, Triple, Triple]);

export const READ_QUEUE_STATE_LUA = /* lua */ `
-- Reads how much waits in a queue, and for how long. Reads only, and of very many groups only some.
-- KEYS[1] settings (hash)   KEYS[2] leases (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)
-- Returns {1 when it is paused, else 0, {waiting jobs, those that may go now, since when the first of these may go (ms)
-- or 0}, {held leases, ended leases, end of the first lease (ms) or 0}, {groups, those not looked at, ready ones among
-- the latter}, for each health in the order flowing, breaker_open, paused, stopped {groups, due jobs, when the oldest of
-- these was due (ms) or 0}}.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
${LOOK_LUA}
local settings = redis.call('HMGET', KEYS[1], 'paused', 'n')
local ended = redis.call('ZCOUNT', KEYS[2], '-inf', now)
local firstLease = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
local flowing, open, paused, stopped = { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }
local mayGo, oldest = 0, math.huge

-- Since when a worker could have had its first job.
local function sinceOf(seen, place, at)
  -- A background job waits since the last turn of its group.
  local since = math.min(seen.since or math.huge, math.max(seen.backgroundSince or math.huge, place == 'later' and 0 or seen.state.servedAt))
  if seen.state.place ~= 'f' then return since end
  -- The group waits for its own slots until the time at which to look again.
  return at <= now and at or math.huge
end

local function healthOf(state)
  if state.place == 's' then return stopped end
  if state.isOpen then return open end
  return state.heldUntil > now and paused or flowing
end

local groups, total, readyLeft = standing()
for _, entry in ipairs(groups) do
  local group = entry[1]
  local seen = lookAt(group, now)
  mayGo = mayGo + seen.mayGo
  oldest = math.min(oldest, sinceOf(seen, entry[2], entry[3]))
  if seen.id and not isExpress(group) then
    local health = healthOf(seen.state)
    health[1], health[2] = health[1] + 1, health[2] + seen.due
    if seen.dueAt <= now and (health[3] == 0 or seen.dueAt < health[3]) then health[3] = seen.dueAt end
  end
end
return {
  settings[1] and 1 or 0, { tonumber(settings[2]) or 0, mayGo, oldest == math.huge and 0 or oldest },
  { redis.call('ZCARD', KEYS[2]) - ended, ended, tonumber(firstLease[2]) or 0 }, { total, total - #groups, readyLeft }, flowing, open, paused,
  stopped,
}
`;

/** Reads the state of a queue with one script that only reads and whose work is bounded. */
export function createQueueStateReader({ prefix, defineScript, now }: QueueAccess): () => Promise<QueueState> {
  const { settings, leases } = createQueueKeys(prefix);
  const read = defineScript('queueState', READ_QUEUE_STATE_LUA);
  return async () => {
    const reply = Reply.parse(await read([settings, leases], [prefix, now()]));
    const [isPaused, [all, mayGo, mayGoSince], [active, ended, firstLeaseEnd], counts, flowing, open, ...others] =
      reply;
    const [paused, stopped] = others;
    const [groups, groupsNotLookedAt, readyLeft] = counts;
    const ready = mayGo + readyLeft;
    const oldest = [mayGoSince, ended > 0 ? firstLeaseEnd : 0].filter((time) => time > 0);
    return {
      waiting: ready + ended,
      active,
      delayed: Math.max(0, all - ready),
      ...(oldest.length > 0 && { oldestDueAt: Math.min(...oldest) }),
      isPaused: isPaused === 1,
      groups,
      groupsNotLookedAt,
      byHealth: {
        flowing: toGroupsState(flowing),
        breaker_open: toGroupsState(open),
        paused: toGroupsState(paused),
        stopped: toGroupsState(stopped),
      },
    };
  };
}

function toGroupsState([groups, due, oldestDueAt]: z.infer<typeof Triple>): GroupsState {
  return { groups, due, ...(oldestDueAt > 0 && { oldestDueAt }) };
}
