import { Queue, type IQueueBackend, type JobJson, type JobType } from 'bullmq';
import { EventEmitter } from 'node:events';
import { z } from 'zod';
import { createBackendBase, createPause, refuse } from '../backend-base.ts';
import { GROUP_LUA } from '../groups/group-lua.ts';
import { LEASE_LUA } from '../groups/lease-lua.ts';
import { createQueueKeys, RINGS, type QueueAccess } from '../queue-keys.ts';
import { createQueueStateReader } from '../state/queue-state.ts';

type BoardOptions = QueueAccess & {
  readonly jobs: BoardJobs;
  /** The name of the connections of its workers, by which a board finds them. */
  readonly workerConnection: string;
};

/** Jobs of one state in one page, at most. */
const PAGE_LIMIT = 1_000;
/** States in which this queue can have jobs that a board lists. BullMQ has two names for one of them. */
const LISTED = ['active', 'waiting', 'wait', 'delayed', 'failed'] as const;
/** Refused here: only a worker asks for it. */
const WORK = 'worker on the backend of a board';

const Ids = z.array(z.string());
const Found = z.tuple([z.enum(['active', 'waiting', 'delayed', '']), z.number()]);

/**
 * BullMQ's own `Queue` on the jobs of the groups, for boards: it lists jobs, pauses the queue, and has the jobs' owner
 * retry and promote. It adds and removes nothing. Of very many groups it reads only some.
 * @param name that a board shows
 */
export function createBoardQueue(name: string, options: BoardOptions): Queue {
  // A board only looks, so it must not write settings.
  const queue = new Queue(name, { connection: {}, skipMetasUpdate: true }, (): IQueueBackend => createBackend(options));
  // Boards declare the type with BullMQ's own backend, and work with any.
  return queue as Queue;
}

function createBackend(options: BoardOptions) {
  const { prefix, defineScript, jobs, workerConnection, now } = options;
  const keys = createQueueKeys(prefix);
  const list = defineScript('queueListJobs', LIST_JOBS_LUA);
  const find = defineScript('queueFindJob', FIND_JOB_LUA);
  const readState = createQueueStateReader(options);

  const readMeta = async (field: string) => (field === 'paused' && (await readState()).isPaused ? '1' : null);

  const listIds = async (type: JobType, start: number, end: number): Promise<readonly string[]> => {
    const listed = LISTED.find((state) => state === type);
    if (listed === undefined || end < start) return [];
    if (listed === 'failed') return await jobs.failed.list(start, end);
    const state = listed === 'wait' ? 'waiting' : listed;
    const scriptKeys = [keys.leases, keys.later, ...RINGS.map(keys.ready)];
    return Ids.parse(await list(scriptKeys, [prefix, now(), state, start, end - start + 1]));
  };

  /** Where a job is, and until when its group lets nothing usual through, epoch ms or 0. */
  const look = async (id: string, groups: readonly string[], alsoLeases: boolean) =>
    Found.parse(await find([keys.leases], [prefix, now(), id, alsoLeases ? '1' : '0', ...groups]));

  const getState = async (id: string) => {
    const job = await jobs.find(id);
    const [state] = await look(id, job?.groups ?? [], true);
    return state === '' ? (job?.ended ?? 'unknown') : state;
  };

  return Object.assign(new EventEmitter(), createBackendBase(prefix), {
    closing: undefined,

    async getCounts(types) {
      const [{ waiting, active, delayed }, failed] = await Promise.all([
        readState(),
        types.includes('failed') ? jobs.failed.count() : 0,
      ]);
      const counts: Partial<Record<JobType, number>> = { waiting, wait: waiting, active, delayed, failed };
      return types.map((type) => counts[type] ?? 0);
    },

    getQueueMetaField: readMeta,

    getQueueMetaFields: (fields) => Promise.all(fields.map(readMeta)),

    hasQueueMetaField: async (field) => (await readMeta(field)) !== null,

    getQueueMeta: async (): Promise<Record<string, string>> => ((await readMeta('paused')) ? { paused: '1' } : {}),

    isMaxed: () => Promise.resolve(false),

    /** Workers then reserve nothing more, except jobs of express groups. */
    pause: createPause(defineScript, keys),

    getClientList: jobs.listClients,

    clientName: (suffix = '') => workerConnection + suffix,

    /** Lists jobs in the order in which they go, and failed ones latest first. BullMQ's `asc` changes nothing. */
    getRanges: (types, start = 0, end = -1, asc = false) => {
      const last = end < 0 ? start + PAGE_LIMIT - 1 : Math.min(end, start + PAGE_LIMIT - 1);
      return Promise.all(
        types.map(async (type) => {
          const ids = await listIds(type, start, last);
          // BullMQ reverses the states that its own backend keeps in lists.
          const isList = type === 'active' || type === 'wait' || type === 'waiting';
          return (asc && isList ? ids.toReversed() : ids) as [string];
        }),
      );
    },

    async getJobData(id) {
      const job = await jobs.find(id);
      if (!job) return undefined;
      const own = job.id ?? id;
      const [, pausedUntil] = job.groups.length > 0 ? await look(own, job.groups, false) : ['', 0];
      return toBoardJobJson(own, job, pausedUntil);
    },

    getState,

    isJobInState: async (state, id) => (await getState(id)) === (state === 'wait' ? 'waiting' : state),

    async getJobLogs(id, start, end, asc) {
      const lines = await jobs.readLogs(id);
      const ordered = asc ? lines : lines.toReversed();
      return { logs: ordered.slice(start, end < 0 ? undefined : end + 1), count: lines.length };
    },

    retryFinishedJob: ({ id = '' }) => jobs.retry(id),

    promote: jobs.promote,

    // The caller owns its connection.
    close: () => Promise.resolve(),

    ...refuse(WORK, 'moveToActive', 'moveToCompleted', 'moveToFailed', 'moveToDelayed', 'moveJobFromActiveToWait'),
    ...refuse(WORK, 'moveStalledJobsToWait', 'extendLock', 'extendLocks', 'waitForJob'),
    ...refuse(WORK, 'disconnectBlocking', 'reconnectBlocking'),
  } satisfies Partial<IQueueBackend>);
}

/**
 * A job as its owner describes it to a board, which shows all of it: nothing in it may be secret. Times are epoch ms.
 */
export type BoardJob = {
  /** Absent: the one under which it was asked for. */
  readonly id?: string;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly addedAt: number;
  /** When it is due; absent once it has ended. */
  readonly dueAt?: number;
  /** When work on it last began, and when it ended. Both are absent until it has ended. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly attemptsMade: number;
  /** The last error, also while the job is tried again. */
  readonly failedReason?: string;
  /** Groups in which it waits, if it does. */
  readonly groups: readonly string[];
  /** How it ended. A job that waits or is in work is shown as that. */
  readonly ended?: 'completed' | 'failed';
};

/** The functions that the owner of the jobs provides to a board. */
export type BoardJobs = {
  readonly find: (id: string) => Promise<BoardJob | undefined>;
  /** One line for each attempt, oldest first. */
  readonly readLogs: (id: string) => Promise<readonly string[]>;
  /** Lets a job that has ended be worked on once more. */
  readonly retry: (id: string) => Promise<void>;
  /** Lets a job that is not due be worked on now. */
  readonly promote: (id: string) => Promise<void>;
  readonly failed: {
    readonly count: () => Promise<number>;
    /** Ids, newest first, from `start` to `end` inclusive. */
    readonly list: (start: number, end: number) => Promise<readonly string[]>;
  };
  /** `CLIENT LIST` of each server that holds the queue. */
  readonly listClients: () => Promise<string[]>;
};

/** @param pausedUntil until when the group keeps the job waiting, epoch ms; 0: it doesn't */
function toBoardJobJson(id: string, job: BoardJob, pausedUntil: number): JobJson {
  const goesAt = job.dueAt === undefined ? undefined : Math.max(job.dueAt, pausedUntil);
  // Under both names: otherwise bull-board shows the delay as changed.
  const delayed = goesAt !== undefined && goesAt > job.addedAt ? { delay: goesAt - job.addedAt } : {};
  const pause = pausedUntil > (job.dueAt ?? 0) ? { pausedUntil: new Date(pausedUntil).toISOString() } : {};
  return {
    id,
    name: job.name,
    data: JSON.stringify({ ...job.data, ...pause }),
    opts: delayed,
    ...delayed,
    progress: 0,
    attemptsMade: job.attemptsMade,
    attemptsStarted: job.attemptsMade,
    stalledCounter: 0,
    timestamp: job.addedAt,
    ...(job.startedAt !== undefined && { processedOn: job.startedAt }),
    ...(job.endedAt !== undefined && { finishedOn: job.endedAt }),
    failedReason: job.failedReason ?? '',
    returnvalue: 'null',
  };
}

/** Groups to look at in each ring, and in `later`, at most: Redis does nothing else meanwhile. */
const LOOKED_AT_A_RING = 200;
const LOOKED_AT_LATER = 1_000;

const LIST_JOBS_LUA = /* lua */ `
-- Lists a page of the jobs in one state. Reads only, and of very many groups only those that are served soonest.
-- KEYS[1] leases (zset)   KEYS[2] later (zset)   KEYS[3..6] rings (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] 'active' | 'waiting' | 'delayed'   ARGV[4] jobs to skip   ARGV[5] most
-- jobs to return
-- Returns their ids: group by group, each in the order in which its jobs go.
local prefix, now, wanted, skip, room = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
${GROUP_LUA}
${LEASE_LUA}
local ids = {}

-- The part of a range of so many members that is on the page: the first to read and how many, or nil.
local function window(size)
  if room == 0 then return nil end
  if skip >= size then
    skip = skip - size
    return nil
  end
  local first, count = skip, math.min(room, size - skip)
  skip, room = 0, room - count
  return first, count
end

-- A score as an exclusive bound of a range.
local function but(score) return string.format('(%.17g', score) end

-- Adds members of a sorted set with scores from min to max, without the first "from"; size: the number of the others.
local function add(key, min, max, from, size, read)
  local first, count = window(size)
  if not first then return end
  for _, member in ipairs(redis.call('ZRANGE', key, min, max, 'BYSCORE', 'LIMIT', from + first, count)) do
    ids[#ids + 1] = read and select(3, read(member)) or member
  end
end

local function addLeases(min, max)
  add(KEYS[1], min, max, 0, redis.call('ZCOUNT', KEYS[1], min, max), readHandle)
end

local function addGroup(group)
  local key, state, going = prefix .. 'q:' .. group, readGroup(group), 0
  local isHeld, isOpen = waitUntilOf(group, state, now) > now, state.isOpen and not isExpress(group)
  local isStopped = state.place == 's'
  for class = 0, 2 do
    local from, to, last = class * CLASS, class * CLASS + now, but((class + 1) * CLASS)
    local due = redis.call('ZCOUNT', key, from, to)
    local go = due
    if isStopped or (class > 0 and isHeld) then go = 0
    elseif class > 0 and isOpen then go = math.min(due, math.max(0, 1 - going)) end
    going = going + go
    if wanted == 'waiting' then
      add(key, from, to, 0, go)
    else
      add(key, from, to, go, due - go)
      add(key, but(to), last, 0, redis.call('ZCOUNT', key, but(to), last))
    end
    if room <= 0 then return end
  end
end

local function addRings()
  for ring = 0, 3 do
    for _, group in ipairs(redis.call('ZRANGE', KEYS[3 + ring], 0, ${LOOKED_AT_A_RING - 1})) do
      if room <= 0 then return end
      addGroup(group)
    end
  end
end

local function addLater()
  local entries = redis.call('ZRANGE', KEYS[2], 0, ${LOOKED_AT_LATER - 1}, 'WITHSCORES')
  for index = 1, #entries, 2 do
    if room <= 0 then return end
    local group, isUpTo = entries[index], tonumber(entries[index + 1]) > now
    -- No job of this group may go, so all of them are delayed.
    if isUpTo and redis.call('HGET', prefix .. 'g:' .. group, 'p') == 'l' then
      local key = prefix .. 'q:' .. group
      if wanted == 'delayed' then add(key, '-inf', '+inf', 0, redis.call('ZCARD', key)) end
    else
      addGroup(group)
    end
  end
end

if wanted == 'active' then
  addLeases(but(now), '+inf')
elseif wanted == 'waiting' then
  -- Jobs of a dead worker, which wait for recovery.
  addLeases('-inf', now)
  addRings()
  addLater()
else
  addLater()
  addRings()
end
return ids
`;

const FIND_JOB_LUA = /* lua */ `
-- Finds one job. Reads only.
-- KEYS[1] leases (zset)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] id   ARGV[4] '1' to look among the leases too, else '0'   ARGV[5..]
-- groups in which it may wait
-- Returns {'active' | 'waiting' | 'delayed' | '' (not found), until when its group is paused or waits for a
-- probe (ms) or 0}.
local prefix, now, id = ARGV[1], tonumber(ARGV[2]), ARGV[3]
${GROUP_LUA}
${LEASE_LUA}
-- Whether no job of the group goes before it.
local function isFirst(key, class)
  for before = 0, class - 1 do
    if redis.call('ZCOUNT', key, before * CLASS, before * CLASS + now) > 0 then return false end
  end
  return redis.call('ZRANGE', key, class * CLASS, class * CLASS + now, 'BYSCORE', 'LIMIT', 0, 1)[1] == id
end

for index = 5, #ARGV do
  local group = ARGV[index]
  local key = prefix .. 'q:' .. group
  local score = tonumber(redis.call('ZSCORE', key, id) or '')
  if score then
    local state = readGroup(group)
    local class = math.floor(score / CLASS)
    if state.place == 's' then return { 'delayed', 0 } end
    if class == 0 then return { score <= now and 'waiting' or 'delayed', 0 } end
    local isHeld = waitUntilOf(group, state, now) > now
    state.tokenAt = 0
    local pausedUntil = waitUntilOf(group, state, now)
    if score % CLASS > now or isHeld then return { 'delayed', pausedUntil > now and pausedUntil or 0 } end
    local isProbe = state.isOpen and not isExpress(group)
    return { (not isProbe or isFirst(key, class)) and 'waiting' or 'delayed', 0 }
  end
end
if ARGV[4] == '1' then
  local leases = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
  for index = 1, #leases, 2 do
    local _, _, held = readHandle(leases[index])
    if held == id then return { tonumber(leases[index + 1]) > now and 'active' or 'waiting', 0 } end
  end
end
return { '', 0 }
`;
