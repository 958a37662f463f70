import {
  EventName,
  newReplayId,
  newSeed,
  NotFoundError,
  ReceiverDisabledError,
  ReceiverLockedError,
  REPLAY_LIMIT,
  ReplayLimitReachedError,
  ValidationError,
  type DeliveryStatus,
  type EndpointId,
  type RequestReplay,
  type Seed,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { LOCK_LUA, LockedReply } from '../endpoints/endpoint-patch.ts';
import type { Keyspace } from '../keys/keys.ts';
import { createLogReader } from '../lists/log-reader.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';

export type NewReplay = Pick<
  Replay,
  'id' | 'endpointId' | 'since' | 'until' | 'statuses' | 'createdAt' | 'event' | 'error' | 'httpStatus'
>;

type ReplayStoreDeps = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  /** How long an ended replay can be looked up, in ms. */
  readonly keepMs: number;
};

const CreateReply = z.union([z.tuple([z.enum(['created', 'missing', 'disabled', 'full'])]), LockedReply]);

export function createReplayStore(deps: ReplayStoreDeps) {
  const { redis, keyspace, keepMs } = deps;
  const create = defineReplicatedScript(deps, CREATE_REPLAY_LUA);
  const logs = createLogReader(redis);
  const stop = defineReplicatedScript(deps, STOP_REPLAY_LUA);
  return {
    /**
     * `full`: the workspace has as many replays under way as it may.
     * @throws ReceiverLockedError
     */
    async create(workspaceId: WorkspaceId, replay: NewReplay) {
      const { id, endpointId, since, until, statuses, createdAt, event = '', error = '', httpStatus = '' } = replay;
      const what = [statuses.join(','), event, error, httpStatus];
      const keys = keyspace.of(workspaceId);
      const total = await logs.count(keys.endpointLog(endpointId), { since, until });
      const reply = await create(
        [keys.replay(id), keys.replays, keys.endpoint(endpointId), keys.workspaceReplays(workspaceId)],
        [id, createdAt, workspaceId, endpointId, since, until, ...what, keys.prefix, REPLAY_LIMIT, total],
      );
      const [kind, reason] = CreateReply.parse(reply);
      if (kind === 'locked') throw new ReceiverLockedError(endpointId, reason);
      return kind;
    },
    async find(workspaceId: WorkspaceId, id: string) {
      const fields = await redis.hgetall(keyspace.of(workspaceId).replay(id));
      return fields.ws === workspaceId ? readReplay(id, fields) : undefined;
    },
    /** False when this workspace has no such replay. */
    async stop(workspaceId: WorkspaceId, id: string, now: number) {
      const keys = keyspace.of(workspaceId);
      return (await stop([keys.replay(id), keys.replays], [id, workspaceId, now, keepMs])) !== 'missing';
    },
  };
}
export type ReplayStore = ReturnType<typeof createReplayStore>;

type ReplayOperationsDeps = {
  readonly replays: ReplayStore;
  readonly onRequested: (replay: Pick<Replay, 'id' | 'endpointId'>, workspaceId: WorkspaceId) => void;
  readonly now: () => number;
};

/** Replays of a receiver's deliveries, which a worker carries out. Each operation throws NotFoundError. */
export function createReplayOperations({ replays, onRequested, now }: ReplayOperationsDeps) {
  const find = async (workspaceId: WorkspaceId, id: string): Promise<Replay> => {
    const replay = await replays.find(workspaceId, id);
    if (!replay) throw new NotFoundError('replay', id);
    return replay;
  };
  return {
    find,
    /** @throws ValidationError, ReceiverDisabledError, ReceiverLockedError or ReplayLimitReachedError */
    async request(
      workspaceId: WorkspaceId,
      endpointId: EndpointId,
      { since, until, status: statuses, ...filter }: RequestReplay,
      { at: createdAt, random }: Seed = newSeed(now()),
    ): Promise<Replay> {
      if (until === undefined && since > createdAt) {
        throw new ValidationError([{ path: 'since', message: 'must not be in the future, unless until is later' }]);
      }
      const id = newReplayId(random);
      const replay = { id, endpointId, since, until: until ?? createdAt + 1, statuses, createdAt, ...filter };
      const reply = await replays.create(workspaceId, replay);
      if (reply === 'missing') throw new NotFoundError('receiver', endpointId);
      if (reply === 'disabled') throw new ReceiverDisabledError(endpointId);
      if (reply === 'full') throw new ReplayLimitReachedError(REPLAY_LIMIT);
      onRequested({ id, endpointId }, workspaceId);
      return await find(workspaceId, id);
    },
    async stop(workspaceId: WorkspaceId, id: string): Promise<Replay> {
      if (!(await replays.stop(workspaceId, id, now()))) throw new NotFoundError('replay', id);
      return await find(workspaceId, id);
    },
  };
}
export type ReplayOperations = ReturnType<typeof createReplayOperations>;

const Status = z.enum(['running', 'done', 'stopped']);
const FullOf = z.enum(['pending', 'bytes', 'memory']);

/** Why a replay waits for its workspace, by what that is full of. */
export const REPLAY_WAITS: Readonly<Record<z.infer<typeof FullOf>, string>> = {
  pending: 'this workspace has as many deliveries pending as it may; the replay goes on when some of them have ended',
  bytes:
    'the Tasks, facts, bodies, attempts and kept answers of this workspace take as much as they may; the replay goes on when some are gone',
  memory:
    'the store is nearly full, and this workspace is among those that hold the most; the replay goes on by itself',
};

/** A replay and its progress. Times are epoch ms. */
export type Replay = ReturnType<typeof readReplay>;

export function readReplay(
  id: string,
  { e = '', s, statuses = '', ev, err, http, end, full, ...numbers }: Record<string, string>,
) {
  return {
    id,
    endpointId: e,
    since: Number(numbers.since),
    /** Exclusive. */
    until: Number(numbers.until),
    createdAt: Number(numbers.at),
    statuses: statuses.split(',') as readonly DeliveryStatus[],
    ...(ev !== undefined && { event: EventName.parse(ev) }),
    /** Of the last attempt, or the reason of the delivery. */
    ...(err !== undefined && { error: err }),
    /** Of the last attempt: `503`, `5xx`. */
    ...(http !== undefined && { httpStatus: http }),
    /** `stopped`: by request, or because the receiver was disabled or removed. */
    status: Status.parse(s),
    ...(end !== undefined && { endedAt: Number(end) }),
    /** What its workspace is full of, while it waits for that. */
    ...(full !== undefined && { fullOf: FullOf.parse(full) }),
    /** Deliveries in the time range. */
    total: Number(numbers.total),
    /** Deliveries that it has looked at. */
    seen: Number(numbers.seen),
    /** Deliveries that it has set pending again. */
    replayed: Number(numbers.replayed),
  };
}

/** Ended replays of a workspace that are kept for the retention. */
const ENDED_REPLAYS_KEPT = 100;

const CREATE_REPLAY_LUA = /* lua */ `
-- Record what is to be replayed, for a worker to carry out. A second run leaves what the first one wrote.
-- KEYS[1] replay (hash)   KEYS[2] replays under way (zset)   KEYS[3] endpoint (hash)
-- KEYS[4] the workspace's replays that are kept (zset: id → since when, ms)
-- ARGV[1] replay id   ARGV[2] now (ms)   ARGV[3] workspace id   ARGV[4] endpoint id   ARGV[5] since (ms)
-- ARGV[6] until (ms, exclusive)   ARGV[7] statuses, joined by commas   ARGV[8] event   ARGV[9] error or reason
-- ARGV[10] status of HTTP, or a hundred of them as '5xx'   each '' for any   ARGV[11] prefix
-- ARGV[12] limit of the workspace   ARGV[13] deliveries in the log
-- Returns {'created'} | {'missing'} | {'disabled'} | {'full'} | {'locked', reason of the lock, '' for none}.
${LOCK_LUA}
local endpoint = redis.call('HMGET', KEYS[3], 'ws', 'on')
if endpoint[1] ~= ARGV[3] then return { 'missing' } end
if redis.call('EXISTS', KEYS[1]) == 1 then return { 'created' } end
if endpoint[2] ~= '1' then
  local lock = lockOf(KEYS[3])
  return lock and { 'locked', lock } or { 'disabled' }
end
if redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[12]) then
  -- Looked at here and not where a replay ends: that happens in several scripts.
  local running, ended = 0, {}
  for _, id in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
    local status = redis.call('HGET', ARGV[11] .. 'r:' .. id, 's')
    if status == 'running' then running = running + 1
    elseif status then ended[#ended + 1] = id
    else redis.call('ZREM', KEYS[4], id) end
  end
  if running >= tonumber(ARGV[12]) then return { 'full' } end
  -- The oldest give way: nobody counts what their records take.
  for index = 1, #ended - ${ENDED_REPLAYS_KEPT} do
    redis.call('UNLINK', ARGV[11] .. 'r:' .. ended[index])
    redis.call('ZREM', KEYS[4], ended[index])
  end
end
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[1], 'ws', ARGV[3], 'e', ARGV[4], 'since', ARGV[5], 'until', ARGV[6], 'statuses', ARGV[7],
  's', 'running', 'at', ARGV[2], 'total', ARGV[13], 'seen', 0, 'replayed', 0)
for index, name in ipairs({ 'ev', 'err', 'http' }) do
  if ARGV[7 + index] ~= '' then redis.call('HSET', KEYS[1], name, ARGV[7 + index]) end
end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return { 'created' }
`;

const STOP_REPLAY_LUA = /* lua */ `#!lua flags=allow-oom
-- Stop a replay. The deliveries that it has already set pending are still sent.
-- KEYS[1] replay (hash)   KEYS[2] replays under way (zset)
-- ARGV[1] replay id   ARGV[2] workspace id   ARGV[3] now (ms)   ARGV[4] time to live of a finished replay (ms)
-- Returns 'stopped' | 'ended' (it had ended before) | 'missing'.
local facts = redis.call('HMGET', KEYS[1], 'ws', 's')
if facts[1] ~= ARGV[2] then return 'missing' end
if facts[2] ~= 'running' then return 'ended' end
redis.call('HSET', KEYS[1], 's', 'stopped', 'end', ARGV[3])
redis.call('HDEL', KEYS[1], 'full')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZREM', KEYS[2], ARGV[1])
return 'stopped'
`;
