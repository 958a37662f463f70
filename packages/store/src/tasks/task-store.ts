import {
  callbackIdOf,
  isTerminal,
  TaskStatus,
  WorkspaceFullError,
  type Decision,
  type Endpoint,
  type ListPlace,
  type Message,
  type Task,
  type TaskId,
  type TaskState,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { endpointFields, type SealedHeaders } from '../endpoints/endpoint-record.ts';
import { GLOBAL_KEYS, readScoredIds, type Keyspace, type ShardKeys } from '../keys/keys.ts';
import { ACCOUNT_LUA, ROOM_LUA, TASK_BYTES, WORKSPACE_TASKS_LUA } from '../keys/account-lua.ts';
import { createLogReader, type TimeRange } from '../lists/log-reader.ts';
import { defineReplicatedScript, demandReplicated, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { COUNT_KEY_USE_LUA } from '../redis/key-version-scripts.ts';
import { newRevision } from '../redis/random-token.ts';
import { defineScript } from '../redis/script.ts';
import type { RoomDeps } from '../stats/memory-guard.ts';
import { LimitName, NO_LIMITS } from '../stats/workspace-accounts.ts';
import {
  JSON_FIELDS,
  leastLookUpTtlMs,
  LISTED_FIELDS,
  LISTED_JSON,
  lookUpTtlMs,
  readTask,
  taskFields,
  taskTtlMs,
  type TaskRecord,
  type TaskRetention,
} from './task-record.ts';

/** Messages that one Task may hold. */
export const MESSAGE_LIMIT = 1_000;
/** Bytes of all of them as JSON: an executor reads them in one answer. */
export const MESSAGE_LIMIT_BYTES = 1_048_576;
/** Bytes of JSON that a page of Tasks reads. It has at least one Task, which may have more. */
const TASK_PAGE_BYTES = 1_048_576;
/** So many bytes of JSON cost what it costs to look at one record. */
export const BYTES_OF_A_RECORD = 4_096;

type NewCallback = {
  readonly endpoint: Endpoint;
  readonly encryptedSecret: string;
  readonly headers?: SealedHeaders;
};

/** The end of a page of Tasks: the last one's latest change (epoch ms) and id. */
export type TaskCursor = { readonly updatedAt: number; readonly id: TaskId };

/** Which Tasks of a workspace are listed; created at or after `since` and before `until`, epoch ms. */
type TaskFilter = TimeRange & { readonly status?: TaskStatus };

/**
 * `next`: the place of the last Task that was looked at. A page may be short, or empty, and still have a next one.
 * `lookedAt`: records that were read for it, or as many as its bytes cost.
 */
type WorkspaceTaskPage = {
  readonly tasks: readonly TaskRecord[];
  readonly next?: ListPlace;
  readonly lookedAt: number;
};

/** Tasks that an erasure has to do with. */
type UnerasedTasks = {
  readonly tasks: readonly { readonly id: TaskId; readonly isOpen: boolean }[];
  readonly next?: ListPlace;
};

/** Records that a page looks at in all: a filter that matches nothing must come to an end. */
const LOOKED_AT_LIMIT = 2_000;

type TaskStoreDeps = ReplicatedStoreDeps &
  RoomDeps & {
    readonly keyspace: Keyspace;
    readonly retention: TaskRetention;
    /** Epoch ms. Default: this machine's clock. */
    readonly now?: () => number;
  };

const CreateReply = z.union([z.tuple([z.enum(['created', 'exists'])]), z.tuple([z.literal('no_room'), LimitName])]);
const AddMessageReply = z.enum(['added', 'full', 'missing', 'done', 'canceled', 'no_room']);
const ResolveReply = z.enum(['resolved', 'conflict']);
const LookReply = z.tuple([z.string().nullable(), z.number()]);

const decisionField = (version: number, approvalId: string) => `${version}:${approvalId}`;

export function createTaskStore(deps: TaskStoreDeps) {
  const { redis, awaitReplication, keyspace, retention, limits = NO_LIMITS, findRefusal, now = Date.now } = deps;
  const demandRoom = (workspaceId: WorkspaceId) => {
    const refusal = findRefusal?.(workspaceId);
    if (refusal) throw refusal;
  };
  const create = defineReplicatedScript(deps, CREATE_TASK_LUA);
  const addMessage = defineReplicatedScript(deps, ADD_MESSAGE_LUA);
  const resolve = defineReplicatedScript(deps, RESOLVE_APPROVAL_LUA);
  const lookAt = defineScript(redis, LOOK_AT_TASK_LUA);
  /** Looks at a Task before its JSON is read. Its status is null when it is gone. */
  const look = async (key: string, fields: readonly string[] = LISTED_JSON) => {
    const [status, bytes] = LookReply.parse(await lookAt([key], fields));
    return { status, bytes };
  };

  /** One shard's next Tasks in a status, longest unchanged first: those of the page, and one more. */
  const readPage = async (keys: ShardKeys, status: TaskStatus, limit: number, now: number, after?: TaskCursor) => {
    const key = keys.tasksIn(status);
    // What changed last before has expired. Its entries go some at a time.
    const from = Math.max(after?.updatedAt ?? 0, now - taskTtlMs(status, retention));
    // Members of one score come in order of id; those up to the cursor's id were on the page before.
    const sameScore = after ? await redis.zcount(key, from, from) : 0;
    const range = ['BYSCORE', 'LIMIT', 0, sameScore + limit + 1, 'WITHSCORES'] as const;
    const entries = readScoredIds(await redis.zrange(key, from, '+inf', ...range));
    return entries
      .filter(({ id, score }) => !after || score > after.updatedAt || id > after.id)
      .map((entry) => ({ ...entry, key: keys.task(entry.id) }));
  };

  const logReader = createLogReader(redis);
  const readListed = async (key: string, id: TaskId) => {
    const values = await redis.hmget(key, ...LISTED_FIELDS);
    const known = LISTED_FIELDS.flatMap((name, index) => (values[index] == null ? [] : [[name, values[index]]]));
    return readTask(id, Object.fromEntries(known) as Record<string, string>);
  };

  return {
    /**
     * `exists`: an earlier run of the same request created it.
     * @throws WorkspaceFullError or UnavailableError: Redis has no room for it
     */
    async create(task: Task, callback?: NewCallback): Promise<'created' | 'exists'> {
      demandRoom(task.workspaceId);
      const keys = keyspace.of(task.workspaceId);
      const ttlMs = taskTtlMs(task.status, retention);
      // The look-up first: a crash in between leaves a look-up that leads nowhere, never a Task that can't be found.
      const lookUp = GLOBAL_KEYS.taskWorkspace(task.id);
      await redis.set(lookUp, task.workspaceId, 'PX', lookUpTtlMs(ttlMs));
      const fields = taskFields(task);
      const input = {
        prefix: keys.prefix,
        workspace: task.workspaceId,
        id: task.id,
        revision: task.revision,
        bytes: TASK_BYTES + (task.input === undefined ? 0 : Buffer.byteLength(JSON.stringify(task.input))),
        at: task.updatedAt,
        now: now(),
        ttl: ttlMs,
        limits,
        fields: fields.length,
      };
      const callbackFields = callback
        ? endpointFields(callback.endpoint, callback.encryptedSecret, callback.headers)
        : [];
      const callbackKey = keys.endpoint(callback?.endpoint.id ?? task.id);
      const creation = create(
        [keys.task(task.id), keys.tasksIn(task.status), callbackKey, keys.keyVersions],
        [JSON.stringify(input), ...fields, ...callbackFields],
      );
      const [reply] = await Promise.all([creation, demandReplicated(awaitReplication, { key: lookUp })]);
      const [kind, why] = CreateReply.parse(reply);
      if (kind !== 'no_room') return kind;
      await redis.del(lookUp);
      throw new WorkspaceFullError(why, limits[why]);
    },
    /** The controller workspace of a Task. */
    findWorkspace: async (id: TaskId): Promise<WorkspaceId | undefined> =>
      (await redis.get(GLOBAL_KEYS.taskWorkspace(id))) ?? undefined,
    async find(workspaceId: WorkspaceId, id: TaskId) {
      const task = readTask(id, await redis.hgetall(keyspace.of(workspaceId).task(id)));
      return task?.workspaceId === workspaceId ? task : undefined;
    },
    /** @throws WorkspaceFullError or UnavailableError: Redis has no room for it */
    async addMessage(workspaceId: WorkspaceId, id: TaskId, message: Message) {
      demandRoom(workspaceId);
      const keys = keyspace.of(workspaceId);
      const args = [JSON.stringify(message), MESSAGE_LIMIT, MESSAGE_LIMIT_BYTES, keys.prefix, now(), limits.bytes];
      const reply = AddMessageReply.parse(await addMessage([keys.task(id), keys.messages(id)], args));
      if (reply === 'no_room') throw new WorkspaceFullError('bytes', limits.bytes);
      return reply;
    },
    /** Bytes of the JSON that a Task holds, without its messages and decisions. */
    async sizeOf(workspaceId: WorkspaceId, id: TaskId): Promise<number> {
      return (await look(keyspace.of(workspaceId).task(id), JSON_FIELDS)).bytes;
    },
    async listMessages(workspaceId: WorkspaceId, id: TaskId) {
      const messages = await redis.lrange(keyspace.of(workspaceId).messages(id), 0, -1);
      return messages.map((text) => JSON.parse(text) as Message);
    },
    async listDecisions(workspaceId: WorkspaceId, id: TaskId) {
      const decisions = Object.values(await redis.hgetall(keyspace.of(workspaceId).decisions(id)));
      return decisions.map((text) => JSON.parse(text) as Decision).sort((a, b) => a.decidedAt - b.decidedAt);
    },
    /** The decision, once it is replicated: a caller that asks for the same one again is told that it stands. */
    async findDecision(task: TaskState, version: number, approvalId: string) {
      const key = keyspace.of(task.workspaceId).decisions(task.id);
      const field = decisionField(version, approvalId);
      const text = await redis.hget(key, field);
      if (text === null) return undefined;
      await demandReplicated(awaitReplication, { key, field });
      return JSON.parse(text) as Decision;
    },
    /** Records a decision unless the Task has changed since `task` was read. */
    async resolve(task: TaskState, decision: Decision, status: TaskStatus) {
      const { id } = task;
      const keys = keyspace.of(task.workspaceId);
      const ttlMs = taskTtlMs(status, retention);
      const field = decisionField(decision.actionVersion, decision.approvalId);
      const reply = await resolve(
        [
          ...[keys.task(id), keys.decisions(id), keys.tasksIn(task.status), keys.tasksIn(status)],
          ...[keys.facts(id), keys.messages(id), keys.endpoint(callbackIdOf(id))],
        ],
        [
          task.revision,
          field,
          JSON.stringify(decision),
          status,
          decision.decidedAt,
          id,
          ttlMs,
          newRevision(),
          keys.prefix,
          now(),
        ],
      );
      // Never shorter: the refresher of another process relies on the time that it gave the look-up.
      if (reply === 'resolved') await redis.pexpire(GLOBAL_KEYS.taskWorkspace(id), leastLookUpTtlMs(ttlMs), 'GT');
      return ResolveReply.parse(reply);
    },
    /** Tasks of a workspace, the newest first, without their input. */
    async listByWorkspace(
      workspaceId: WorkspaceId,
      { status, ...range }: TaskFilter,
      limit: number,
      after?: ListPlace,
      signal?: AbortSignal,
    ): Promise<WorkspaceTaskPage> {
      const keys = keyspace.of(workspaceId);
      const next = logReader.newestFirst([keys.workspaceTasks(workspaceId)], range, after);
      const tasks: TaskRecord[] = [];
      let lookedAt = 0;
      let bytes = 0;
      let place: ListPlace | undefined;
      for (;;) {
        signal?.throwIfAborted();
        const some = await next(limit);
        lookedAt += some.length;
        const looked = await Promise.all(
          some.map(async (entry) => ({ ...entry, ...(await look(keys.task(entry.id))) })),
        );
        const found = looked.filter((task) => task.status !== null && (status ?? task.status) === task.status);
        const wanted = takeWithin(found.slice(0, limit - tasks.length), bytes);
        const records = await Promise.all(wanted.map(({ id }) => readListed(keys.task(id), id)));
        tasks.push(...records.filter((task) => task !== undefined));
        bytes += sumBytes(wanted);
        const isCut = wanted.length < found.length;
        // Where nothing of these fits, the page ends behind those before.
        place = (isCut ? wanted : some).at(-1) ?? place;
        const isEnd = some.length < limit && !isCut;
        if (isEnd || isCut || tasks.length >= limit || lookedAt >= LOOKED_AT_LIMIT)
          return {
            tasks,
            lookedAt: lookedAt + Math.floor(bytes / BYTES_OF_A_RECORD),
            ...(!isEnd && place && { next: { at: place.at, id: place.id } }),
          };
      }
    },
    /**
     * Some Tasks of a workspace whose payloads are not erased, or not wholly, from a place on. `next`: there may be more.
     */
    async listUnerased(workspaceId: WorkspaceId, limit: number, after?: ListPlace): Promise<UnerasedTasks> {
      const keys = keyspace.of(workspaceId);
      const places = await logReader.newestFirst([keys.workspaceTasks(workspaceId)], {}, after)(limit);
      const found = await Promise.all(
        places.map(async ({ id }): Promise<UnerasedTasks['tasks']> => {
          const names = ['status', 'erased', 'erasedTo', 'seq'];
          const [status, erased, erasedTo, sequence] = await redis.hmget(keys.task(id), ...names);
          const isErased = erased != null && erasedTo != null && Number(erasedTo) >= Number(sequence);
          return status == null || isErased ? [] : [{ id, isOpen: !isTerminal(TaskStatus.parse(status)) }];
        }),
      );
      const last = places.at(-1);
      return { tasks: found.flat(), ...(places.length === limit && last && { next: last }) };
    },
    /** Tasks of all workspaces in a status, longest unchanged first, without their input; `now` is epoch ms. */
    listByStatus: async (status: TaskStatus, limit: number, now: number, after?: TaskCursor) => {
      const perShard = await Promise.all(keyspace.shards.map((keys) => readPage(keys, status, limit, now, after)));
      const found = perShard.flat().sort((a, b) => a.score - b.score || (a.id < b.id ? -1 : 1));
      const first = found.slice(0, limit);
      const page = takeWithin(
        await Promise.all(first.map(async (entry) => ({ ...entry, bytes: (await look(entry.key)).bytes }))),
      );
      const tasks = await Promise.all(page.map(({ id, key }) => readListed(key, id)));
      const last = page.at(-1);
      return {
        tasks: tasks.filter((task) => task?.status === status) as TaskRecord[],
        ...(found.length > page.length && last && { next: { updatedAt: last.score, id: last.id } }),
      };
    },
  };
}
export type TaskStore = ReturnType<typeof createTaskStore>;

const sumBytes = (tasks: readonly { readonly bytes: number }[]) => tasks.reduce((sum, { bytes }) => sum + bytes, 0);

/** The first Tasks that a page has room for, behind others of so many bytes. An empty page has room for any one. */
function takeWithin<T extends { readonly bytes: number }>(tasks: readonly T[], before = 0): readonly T[] {
  let sum = before;
  const end = tasks.findIndex(({ bytes }) => {
    const isEmpty = sum === 0;
    sum += bytes;
    return !isEmpty && sum > TASK_PAGE_BYTES;
  });
  return end === -1 ? tasks : tasks.slice(0, end);
}

const LOOK_AT_TASK_LUA = /* lua */ `
-- Look at a Task without reading it.
-- KEYS[1] Task (hash)   ARGV[1..] fields that may be large
-- Returns {status (nil: it is gone), bytes of these fields}.
local bytes = 0
for _, name in ipairs(ARGV) do bytes = bytes + redis.call('HSTRLEN', KEYS[1], name) end
return { redis.call('HGET', KEYS[1], 'status'), bytes }
`;

/** Entries of a list of Tasks that one script drops, at most: Redis does nothing else meanwhile. */
const TRIMMED_AT_ONCE = 100;

/** `trimTasks(list, before)` drops some of the Tasks of a list that have expired: those that changed last before a time (ms). */
export const TRIM_TASKS_LUA = /* lua */ `
local function trimTasks(list, before)
  local expired = redis.call('ZRANGE', list, '-inf', before, 'BYSCORE', 'LIMIT', 0, ${TRIMMED_AT_ONCE})
  if #expired > 0 then redis.call('ZREM', list, unpack(expired)) end
end
`;

const CREATE_TASK_LUA = /* lua */ `
-- Create a Task, with its callback when it has one. A second run leaves what the first one wrote.
-- KEYS[1] Task (hash)   KEYS[2] Tasks in its status (zset)   KEYS[3] its callback (hash)
-- KEYS[4] key versions (hash)
-- ARGV[1] JSON: { prefix, workspace, id, revision, bytes (that it takes without its callback), at
--   (of its last change, ms), now (ms), ttl (ms), limits (see takeRoom),
--   fields: n }   ARGV[2..n+1] Task fields   ARGV[n+2..] callback fields (none: no callback)
-- Returns {'created'} (also when the client sends this very call again) | {'exists'}
-- | {'no_room', 'pending' | 'bytes' (of its workspace)}.
local task = cjson.decode(ARGV[1])
local prefix, last = task.prefix, 1 + task.fields
${COUNT_KEY_USE_LUA}
${TRIM_TASKS_LUA}
${ACCOUNT_LUA}
${ROOM_LUA}
${WORKSPACE_TASKS_LUA}
local revision = redis.call('HGET', KEYS[1], 'rev')
if revision then return { revision == task.revision and 'created' or 'exists' } end
local pending = task.limits.pending > 0 and redis.call('ZSCORE', prefix .. 'pending', task.workspace)
if pending and tonumber(pending) >= task.limits.pending then return { 'no_room', 'pending' } end
local callback = { unpack(ARGV, last + 1) }
local ofCallback = #callback > 0 and sizeOfCallback(callback) or 0
local full = takeRoom(task.workspace, 0, task.bytes + ofCallback, task.limits, task.now)
if full then return { 'no_room', full } end
local leaves = timeToLeave(task.now, task.ttl)
redis.call('HSET', KEYS[1], 'b', task.bytes, 'leaves', leaves, unpack(ARGV, 2, last))
redis.call('PEXPIREAT', KEYS[1], leaves)
redis.call('ZADD', KEYS[2], task.at, task.id)
local ofWorkspace = prefix .. 'w:' .. task.workspace .. ':tasks'
dropGone(ofWorkspace, task.now)
redis.call('ZADD', ofWorkspace, task.at, task.id)
keepTasksUntil(task.workspace, leaves)
-- No transition leads to this status, so that no other script trims its list.
trimTasks(KEYS[2], task.at - task.ttl)
if #callback > 0 then
  redis.call('HSET', KEYS[3], 'b', ofCallback, unpack(callback))
  redis.call('PEXPIREAT', KEYS[3], leaves)
  countKeyUse(KEYS[4], KEYS[3], 'sec')
  countKeyUse(KEYS[4], KEYS[3], 'hdr')
end
noteLeaving(task.workspace, task.bytes + ofCallback, leaves)
writeAccounts()
return { 'created' }
`;

const ADD_MESSAGE_LUA = /* lua */ `
-- Add context to a Task that is not closed. A second run of the same request adds nothing.
-- KEYS[1] Task (hash)   KEYS[2] its messages (list)
-- ARGV[1] JSON of the message   ARGV[2] most messages that a Task may hold   ARGV[3] most bytes of all of them
-- ARGV[4] prefix   ARGV[5] now (ms)   ARGV[6] most bytes that its workspace may hold, 0: no limit
-- Returns 'added' | 'full' | 'missing' | 'done' | 'canceled' | 'no_room' (its workspace holds too much).
local prefix = ARGV[4]
${ACCOUNT_LUA}
${ROOM_LUA}
local status, workspace, counted, leaves = unpack(redis.call('HMGET', KEYS[1], 'status', 'ws', 'b', 'leaves'))
if not status then return 'missing' end
if redis.call('LPOS', KEYS[2], ARGV[1]) then return 'added' end
if status == 'done' or status == 'canceled' then return status end
local bytes = tonumber(redis.call('HGET', KEYS[1], 'messageBytes') or '0') + #ARGV[1]
if redis.call('LLEN', KEYS[2]) >= tonumber(ARGV[2]) or bytes > tonumber(ARGV[3]) then return 'full' end
local size = sizeOfEntry('', ARGV[1])
if counted and takeRoom(workspace, 0, size, { bytes = tonumber(ARGV[6]) }, tonumber(ARGV[5])) then return 'no_room' end
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], 'messageBytes', bytes)
redis.call('PEXPIREAT', KEYS[2], redis.call('PEXPIRETIME', KEYS[1]))
if counted then
  redis.call('HSET', KEYS[1], 'b', counted + size)
  noteLeaving(workspace, size, tonumber(leaves))
  writeAccounts()
end
return 'added'
`;

const RESOLVE_APPROVAL_LUA = /* lua */ `
-- Record a decision, made on a known revision of the Task.
-- KEYS[1] Task (hash)   KEYS[2] its decisions (hash)   KEYS[3] Tasks in the old status (zset)   KEYS[4] in the new one
-- KEYS[5] its facts (hash)   KEYS[6] its messages (list)   KEYS[7] its callback (hash)
-- ARGV[1] expected revision   ARGV[2] '<version>:<approval id>'   ARGV[3] JSON of the decision   ARGV[4] new status
-- ARGV[5] when (ms)   ARGV[6] Task id   ARGV[7] time to live (ms)   ARGV[8] new revision   ARGV[9] prefix   ARGV[10] now (ms)
-- Returns 'resolved' | 'conflict' (the Task changed meanwhile, or is gone).
local prefix = ARGV[9]
${ACCOUNT_LUA}
${WORKSPACE_TASKS_LUA}
local known = redis.call('HMGET', KEYS[1], 'rev', 'ws', 'b', 'leaves')
if known[1] ~= ARGV[1] then return 'conflict' end
local before, leaves = redis.call('HGET', KEYS[2], ARGV[2]), timeToLeave(ARGV[10], ARGV[7])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[1], 'status', ARGV[4], 'upd', ARGV[5], 'rev', ARGV[8], 'leaves', leaves)
if known[3] then
  local size = sizeOfEntry(ARGV[2], ARGV[3]) - (before and sizeOfEntry(ARGV[2], before) or 0)
  redis.call('HSET', KEYS[1], 'b', known[3] + size)
  noteBytes(known[2], size)
  if known[4] then noteLeaving(known[2], -known[3], tonumber(known[4])) end
  noteLeaving(known[2], known[3] + size, leaves)
end
for _, index in ipairs({ 1, 2, 5, 6 }) do redis.call('PEXPIREAT', KEYS[index], leaves) end
keepTasksUntil(known[2], leaves)
if timeOf(KEYS[7]) < leaves then leaveAt(KEYS[7], leaves) end
redis.call('ZREM', KEYS[3], ARGV[6])
redis.call('ZADD', KEYS[4], ARGV[5], ARGV[6])
writeAccounts()
return 'resolved'
`;
