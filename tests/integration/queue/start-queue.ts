import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { defineScript } from '@herald/store/redis/script';
import { createGroupBackend, type GroupBackend, type GroupBackendOptions } from '@herald/queue/group-backend';
import { createQueueKeys, ENQUEUE_LUA, GROUP_LUA, LEASE_LUA, scoreOf, type JobEnd, type Script } from '@herald/queue';
import { Worker, type Processor } from 'bullmq';
import { startTopology, topologyOfEnv } from '../../support/start-topology.ts';

const PREFIX = '{q}:';
const BLOCK_LIMIT_MS = 1_000;

/**
 * What the owner of a queue brings: jobs are hashes `j:<id>`, finished once they have `done`, urgent with `asked`, and of
 * another group with `moved`;
 * `rates` and `stopped` have the terms of groups.
 */
export const LOAD_LUA = /* lua */ `
local function load(prefix, id)
  return redis.call('HGET', prefix .. 'j:' .. id, 'body') or nil
end
local function placeAgain(prefix, group, id, now, stood)
  local asked, moved, done, due = unpack(redis.call('HMGET', prefix .. 'j:' .. id, 'asked', 'moved', 'done', 'due'))
  if not stood and done then return nil end
  if asked then stood = now end
  return moved or group, stood or ${scoreOf('usual', 0)} + (tonumber(due or '') or 0)
end
local function termsOf(prefix, group)
  return tonumber(redis.call('HGET', prefix .. 'rates', group) or ''), redis.call('HEXISTS', prefix .. 'stopped', group) == 1
end
`;

const ADD_LUA = /* lua */ `
-- ARGV[1] prefix   ARGV[2] now   ARGV[3..] group, id, score, tenant or ''
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
local entries = {}
for index = 3, #ARGV, 4 do
  local tenant = ARGV[index + 3]
  entries[#entries + 1] = { ARGV[index], ARGV[index + 1], ARGV[index + 2], tenant ~= '' and tenant or nil }
  redis.call('HSET', prefix .. 'j:' .. ARGV[index + 1], 'body', ARGV[index + 1])
end
enqueue(entries, tonumber(ARGV[2]))
`;

const REMOVE_LUA = /* lua */ `
-- ARGV[1] prefix   ARGV[2] now   ARGV[3] group   ARGV[4..] ids
-- Returns those that waited.
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
local removed = {}
for id in pairs(dequeue(ARGV[3], { unpack(ARGV, 4) }, tonumber(ARGV[2]))) do removed[#removed + 1] = id end
return removed
`;

const STOP_LUA = /* lua */ `
-- ARGV[1] prefix   ARGV[2] now   ARGV[3] group   ARGV[4] '1' to stop it, '0' to free it
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
if ARGV[4] == '1' then
  redis.call('HSET', prefix .. 'stopped', ARGV[3], '1')
  stopGroup(ARGV[3], tonumber(ARGV[2]))
else
  redis.call('HDEL', prefix .. 'stopped', ARGV[3])
  freeGroup(ARGV[3], tonumber(ARGV[2]))
end
`;

const END_LUA = /* lua */ `
-- ARGV[1] prefix   ARGV[2] now   ARGV[3] limit
-- ARGV[4..] for each job: handle, outcome or '', '1' for a probe, score at which it waits again or '', held until or '',
-- how long it took (ms) or '', '1' when it succeeded
-- Returns for each {1 | 0 held, change of the breaker}.
local prefix = ARGV[1]
${GROUP_LUA}
${ENQUEUE_LUA}
${LEASE_LUA}
local now, replies = tonumber(ARGV[2]), {}
for first = 4, #ARGV, 7 do
  local handle, outcome, isProbe, again, heldUntil, tookMs, hasSucceeded = unpack(ARGV, first, first + 6)
  local held, group, id = endLease(handle)
  local change = settleGroup(group, now, tonumber(ARGV[3]), {
    freed = held and 1 or 0, outcome = outcome ~= '' and outcome or nil, isProbe = isProbe == '1',
    heldUntil = tonumber(heldUntil), tookMs = tonumber(tookMs), hasSucceeded = hasSucceeded == '1',
  })
  writeSlots()
  if again == '' then
    redis.call('HSET', prefix .. 'j:' .. id, 'done', '1')
  elseif held then
    enqueue({ { group, id, again } }, now)
  end
  replies[#replies + 1] = { held and 1 or 0, change }
end
return replies
`;

export type QueueJob = {
  readonly group: string;
  readonly id: string;
  /** To which the group belongs; absent: that is not known. */
  readonly tenant?: string;
  readonly jobClass?: 'urgent' | 'usual' | 'background';
  /** Default: now. */
  readonly dueAt?: number;
};

export type EndOptions = {
  readonly outcome?: JobEnd;
  readonly isProbe?: boolean;
  /** The job waits again, and is due then; absent: it is finished. */
  readonly againAt?: number;
  readonly heldUntil?: number;
  /** How long the job held its slot; absent: that is not known. */
  readonly tookMs?: number;
  readonly hasSucceeded?: boolean;
  readonly limit?: number;
};

/** Whether its lease was held, and the change of its group's breaker. */
export type Ended = { readonly held: boolean; readonly change: string };

/** A queue on a Redis of its own, and what its owner's scripts would do. */
export async function startQueue(now: () => number = Date.now) {
  const cleanUp = new AsyncDisposableStack();
  const { target, server } = cleanUp.use(await startTopology(topologyOfEnv()));
  const connect = async (name: string): Promise<RedisClient> => {
    const redis = await connectRedis({ target, use: 'background', name, onError: () => undefined });
    cleanUp.defer(() => closeRedis(redis));
    return redis;
  };
  const redis = await connect('queue');
  const add = defineScript(redis, ADD_LUA);
  const remove = defineScript(redis, REMOVE_LUA);
  const stop = defineScript(redis, STOP_LUA);
  const end = defineScript(redis, END_LUA);
  const keys = createQueueKeys(PREFIX);

  /** A backend on connections of its own, as another process would have it. */
  const createBackend = async (options: Partial<GroupBackendOptions> = {}) => {
    const [commands, waiting] = [await connect('worker'), await connect('worker-wait')];
    return createGroupBackend({
      prefix: PREFIX,
      defineScript: (_name, lua): Script => defineScript(commands, lua),
      commands: { zadd: (key, score, member) => commands.zadd(key, score, member) },
      waitConnection: {
        bzpopmin: (names, seconds) => waiting.bzpopmin(names, seconds),
        disconnect: () => {
          waiting.disconnect();
        },
        connect: () => waiting.connect(),
      },
      concurrency: 20,
      groupLimit: 5,
      leaseMs: 20_000,
      blockLimitMs: BLOCK_LIMIT_MS,
      loadLua: LOAD_LUA,
      errorDelayMs: () => 100,
      now,
      ...options,
    });
  };

  const endAll = async (ends: readonly (EndOptions & { readonly handle: string })[], limit = 5): Promise<Ended[]> => {
    const args = ends.flatMap(({ handle, outcome = '', isProbe, againAt, heldUntil, tookMs, hasSucceeded }) => [
      handle,
      outcome,
      isProbe ? '1' : '0',
      againAt === undefined ? '' : scoreOf('usual', againAt),
      heldUntil ?? '',
      tookMs ?? '',
      hasSucceeded ? '1' : '0',
    ]);
    const replies = (await end([keys.leases], [PREFIX, now(), limit, ...args])) as [number, string][];
    return replies.map(([held, change]) => ({ held: held === 1, change }));
  };

  return {
    redis,
    keys,
    server,
    connect,
    /** For a backend whose commands a test counts or refuses. */
    scriptOn: (client: RedisClient, lua: string): Script => defineScript(client, lua),
    createBackend,
    /** Runs BullMQ's worker on a backend. */
    startWorker(backend: GroupBackend, processor: Processor, stalledIntervalMs = 5_000, blockLimitMs = BLOCK_LIMIT_MS) {
      const worker = new Worker(
        'queue',
        processor,
        {
          connection: {},
          concurrency: backend.workerConcurrency,
          skipLockRenewal: true,
          stalledInterval: stalledIntervalMs,
          drainDelay: blockLimitMs / 1_000,
          runRetryDelay: 100,
        },
        () => backend,
      );
      worker.on('error', () => undefined);
      return worker;
    },
    async add(...jobs: readonly QueueJob[]): Promise<void> {
      const at = now();
      const entries = jobs.flatMap(({ group, id, tenant = '', jobClass = 'usual', dueAt = at }) => [
        group,
        id,
        scoreOf(jobClass, dueAt),
        tenant,
      ]);
      await add([keys.leases], [PREFIX, at, ...entries]);
    },
    /** How many jobs a second a group gives from now on; 0: as many as there are. */
    async setRate(group: string, perSecond: number): Promise<void> {
      if (perSecond === 0) await redis.hdel(`${PREFIX}rates`, group);
      else await redis.hset(`${PREFIX}rates`, group, perSecond);
    },
    /** Lets no job of a group go any more, or lets them go again. */
    async stop(group: string, isStopped: boolean): Promise<void> {
      await stop([keys.leases], [PREFIX, now(), group, isStopped ? '1' : '0']);
    },
    /** Takes out those that wait. Returns their ids. */
    async remove(group: string, ...ids: readonly string[]): Promise<readonly string[]> {
      return (await remove([keys.leases], [PREFIX, now(), group, ...ids])) as string[];
    },
    /** What the owner's script does that records what came of a job. */
    async end(handle: string, options: EndOptions = {}): Promise<Ended> {
      const [ended] = await endAll([{ handle, ...options }], options.limit);
      if (!ended) throw new Error('the script ends as many jobs as it gets');
      return ended;
    },
    /** The same of several jobs, in one run of the script. */
    endAll,
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}
