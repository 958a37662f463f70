import {
  callbackIdOf,
  deliveryIdOf,
  isTerminal,
  WorkspaceFullError,
  type DomainError,
  type EndpointId,
  type KnownFact,
  type ResultField,
  type TaskEventName,
  type TaskId,
  type TaskState,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { z } from 'zod';
import { RETAIN_LUA, takeFields, type DeliveryRetention } from '../deliveries/delivery-record.ts';
import { ADVANCE_LUA, LINE_LUA } from '../deliveries/line-lua.ts';
import { ACCOUNT_LUA, COUNTED_TASK_FIELDS, ENTRY_BYTES, ROOM_LUA, WORKSPACE_TASKS_LUA } from '../keys/account-lua.ts';
import { readFactValue, writeFactValue, type Keyspace } from '../keys/keys.ts';
import { ENDED_LUA, LOG_LUA } from '../keys/segment-lua.ts';
import { batchCalls } from '../redis/batch-calls.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript, ScriptCommandError } from '../redis/script.ts';
import { COUNT_LUA } from '../stats/count-lua.ts';
import { SHARD_FIELDS } from '../stats/counter-layout.ts';
import type { RoomDeps } from '../stats/memory-guard.ts';
import { LimitName, NO_LIMITS } from '../stats/workspace-accounts.ts';
import {
  changeFields,
  createLookUpRefresher,
  DECIDING_FIELDS,
  readTask,
  taskTtlMs,
  type RecordChange,
  type TaskRetention,
} from './task-record.ts';
import { TRIM_TASKS_LUA } from './task-store.ts';

/** Facts that a Task can know. It remembers each for as long as it lives, to recognize a repeated report. */
export const FACT_LIMIT = 10_000;

/** An endpoint that a transition goes to. A disabled one gets a canceled delivery, which a replay can send. */
export type Target = {
  readonly endpointId: EndpointId;
  readonly enabled: boolean;
  /** How long the delivery waits for those of the same Task before it, in ms; absent: it goes at once. */
  readonly orderingTimeoutMs?: number;
};

/** A transition that endpoints are told of. */
export type Emission = {
  readonly transitionId: TransitionId;
  readonly event: TaskEventName;
  readonly body: string;
  /** The request that reported it: by this id the log leads from the report to the attempts. */
  readonly requestId?: string;
  /** The trace that each attempt continues (W3C Trace Context). */
  readonly traceparent?: string;
  readonly targets: readonly Target[];
};

export type TransitionCommit = {
  /** The Task as it was when this was decided. */
  readonly task: TaskState;
  readonly newRevision: string;
  /** Version of the workspace's subscriptions that the targets were chosen from. */
  readonly subscriptionVersion: string;
  /** Epoch ms. */
  readonly now: number;
  readonly change: RecordChange;
  /** Absent when the report only fills in fields of `change`. */
  readonly factKey?: string;
  /** Of the report, kept with the fact. */
  readonly digest?: string;
  /** The Task may know the fact, as one that emitted nothing. */
  readonly isRaised?: true;
  readonly emission?: Emission;
  /** Of a workspace that is being erased: it makes room for more than it takes, so no limit holds it up. */
  readonly isErasure?: true;
};

export type CommitReply =
  | { readonly kind: 'conflict' }
  /** The Task knows as many facts as it can, and this one doesn't close it. */
  | { readonly kind: 'full' }
  /** The workspace holds as much as it may. */
  | { readonly kind: 'no_room'; readonly error: DomainError }
  /** `canceled`: deliveries that were canceled at once, because their endpoint is disabled. */
  | { readonly kind: 'accepted'; readonly canceled: number };

const CommitReplies = z.array(z.tuple([z.enum(['accepted', 'conflict', 'full', 'no_room', 'failed'])], z.unknown()));
const COUNTED: ReadonlySet<string> = new Set(COUNTED_TASK_FIELDS);
/** Roughly how much longer than a delivery a transition takes Redis. */
const TRANSITION_WEIGHT = 4;
/** So many bytes of JSON and of a body, which the script decodes, take as long as a delivery. */
const BYTES_OF_WEIGHT = 1_024;
/** The most that one call may weigh, in deliveries. It blocks Redis for about 2 ms. */
const CALL_WEIGHT = 200;
const TASKS_READ_TOGETHER = 100;
/** A Task of which a result is read, up to 256 KiB, counts as so many of them. */
const RESULT_WEIGHT = 10;

type TaskKeys = {
  readonly task: string;
  readonly facts: string;
  readonly factKeys: readonly string[];
  readonly said: readonly ResultField[];
};
/** A commit as the script takes it, and the number of its deliveries. */
type CommitInput = {
  readonly input: { readonly grown: number };
  readonly body: string;
  readonly deliveries: number;
};

type TransitionStoreDeps = RoomDeps & {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly taskRetention: TaskRetention;
  readonly deliveryRetention: DeliveryRetention;
  readonly now: () => number;
};

export function createTransitionStore(deps: TransitionStoreDeps) {
  const { redis, keyspace, taskRetention, deliveryRetention, limits = NO_LIMITS, findRefusal, now: clock } = deps;
  const accept = defineScript(redis, ACCEPT_TRANSITIONS_LUA);
  const noteDifference = defineScript(redis, NOTE_DIFFERENCE_LUA);
  const extendLookUp = createLookUpRefresher(redis);
  const readOne = ({ task, facts, factKeys, said }: TaskKeys) =>
    Promise.all([
      redis.hmget(task, ...DECIDING_FIELDS, ...said),
      factKeys.length > 0 ? redis.hmget(facts, ...factKeys) : [],
    ]);
  const readFields = batchCalls({
    call: (tasks: readonly TaskKeys[]) => Promise.all(tasks.map(readOne)),
    weightOf: ({ said }) => (said.length > 0 ? RESULT_WEIGHT : 1),
    limit: TASKS_READ_TOGETHER,
  });
  const commitIn = new Map(
    keyspace.shards.map((keys) => {
      const recordTtl = String(deliveryRetention.expiryMs);
      const logTtl = String(deliveryRetention.logMs);
      const call = async (inputs: readonly CommitInput[]) => {
        const at = clock();
        const common = { prefix: keys.prefix, recordTtl, logTtl, now: String(at), limits };
        const args = inputs.flatMap(({ input, body }) => [JSON.stringify(input), body]);
        return CommitReplies.parse(await accept([keys.queue.leases], [JSON.stringify(common), ...args]));
      };
      const weightOf = ({ input, body, deliveries }: CommitInput) =>
        TRANSITION_WEIGHT + deliveries + (input.grown + body.length) / BYTES_OF_WEIGHT;
      return [keys, batchCalls({ call, weightOf, limit: CALL_WEIGHT })];
    }),
  );

  return {
    /**
     * The Task without its input, and what it knows of these facts.
     * @param said what of its result the reports say; the rest is left out, however large it is
     */
    async findTask(workspaceId: WorkspaceId, id: TaskId, factKeys: readonly string[], said: readonly ResultField[]) {
      const keys = keyspace.of(workspaceId);
      const [values, facts] = await readFields({ task: keys.task(id), facts: keys.facts(id), factKeys, said });
      const task = readTask(id, takeFields([...DECIDING_FIELDS, ...said], values));
      if (task?.workspaceId !== workspaceId) return undefined;
      const knownFacts = new Map<string, KnownFact>();
      for (const [index, key] of factKeys.entries()) {
        const value = facts[index];
        if (value != null) knownFacts.set(key, readFactValue(value));
      }
      return { task, knownFacts };
    },
    /**
     * Accepted means: it is durable, and its deliveries are in the queue. Commits of one moment go to Redis together,
     * in their order, and each stands or fails alone.
     */
    async commit(asked: TransitionCommit): Promise<CommitReply> {
      const { task, now, change, factKey, digest, isRaised, emission } = asked;
      const refusal = asked.isErasure ? undefined : findRefusal?.(task.workspaceId);
      if (refusal) return { kind: 'no_room', error: refusal };
      const status = change.status ?? task.status;
      const sequence = emission ? (change.sequence ?? task.sequence) : 0;
      const taskTtl = taskTtlMs(status, taskRetention);
      const fields = changeFields(change);
      const input = {
        task: task.id,
        workspace: task.workspaceId,
        revision: task.revision,
        newRevision: asked.newRevision,
        subscriptions: asked.subscriptionVersion,
        now: String(now),
        from: task.status,
        to: status,
        taskTtl: String(taskTtl),
        callback: callbackIdOf(task.id),
        callbackTtl: String(taskTtl + deliveryRetention.callbackMs),
        change: fields,
        ...sizeOf(fields),
        fact: factKey,
        factValue: writeFactValue({ sequence, ...(digest !== undefined && { digest }) }),
        isRaised,
        isErasure: asked.isErasure,
        factLimit: factKey === undefined || isRaised || isTerminal(status) ? undefined : String(FACT_LIMIT),
        transition: emission && emission.targets.length > 0 ? toTransition(task, emission, sequence, now) : undefined,
      };
      const commit = commitIn.get(keyspace.of(task.workspaceId));
      if (!commit) throw new Error('every workspace has its shard');
      const [[kind, detail]] = await Promise.all([
        commit({ input, body: emission?.body ?? '', deliveries: emission?.targets.length ?? 0 }),
        extendLookUp(task.id, taskTtl),
      ]);
      if (kind === 'failed') throw new ScriptCommandError(String(detail));
      if (kind === 'no_room') {
        const of = LimitName.parse(detail);
        return { kind, error: new WorkspaceFullError(of, limits[of]) };
      }
      return kind === 'accepted' ? { kind, canceled: Number(detail) } : { kind };
    },
    /** Notes that a report was repeated with other contents. True the first time for this Task. */
    noteDifference: async (workspaceId: WorkspaceId, id: TaskId): Promise<boolean> =>
      (await noteDifference([keyspace.of(workspaceId).task(id)], [])) === 1,
  };
}
export type TransitionStore = ReturnType<typeof createTransitionStore>;

/** The fields whose content counts, and how many bytes it has. */
function sizeOf(fields: readonly string[]) {
  const sized = fields.filter((name, index) => index % 2 === 0 && COUNTED.has(name));
  const grown = sized.reduce((sum, name) => sum + Buffer.byteLength(fields[fields.indexOf(name) + 1] ?? ''), 0);
  return { sized, grown };
}

function toTransition(
  task: TaskState,
  { transitionId, event, requestId, traceparent, targets }: Emission,
  sequence: number,
  now: number,
) {
  const fields = ['ev', event, 'ws', task.workspaceId, 'task', task.id, 'at', String(now)];
  if (requestId !== undefined) fields.push('req', requestId);
  fields.push('eps', targets.map(({ endpointId }) => endpointId).join(','));
  if (traceparent !== undefined) fields.push('trace', traceparent);
  const deliveries = targets.map(({ endpointId, enabled, orderingTimeoutMs }) => [
    deliveryIdOf(transitionId, endpointId),
    endpointId,
    enabled ? 'pending' : 'canceled',
    ...(orderingTimeoutMs === undefined ? [] : [String(orderingTimeoutMs)]),
  ]);
  return { id: transitionId, event, sequence: String(sequence), fields, deliveries };
}

const ACCEPT_TRANSITIONS_LUA = /* lua */ `
-- Commit transitions, each decided on a known revision of its Task and a known version of its subscriptions: state,
-- fact, frozen body, and per endpoint a delivery, enqueued in its group. Each is committed in full or not at all,
-- whatever happens to the others. A second run, after a lost reply, finds a conflict and changes nothing.
-- KEYS[1] leases of the queue (zset): names the slot
-- ARGV[1] JSON: { prefix, recordTtl (see retain), logTtl, now (ms), limits (see takeRoom) }
-- ARGV[2n] JSON, times and durations in ms, every number a string:
--   { task, workspace, revision, newRevision, subscriptions, now, from, to (statuses), taskTtl,
--     callback (id), callbackTtl, change: [field, value, ...], sized: [fields of it that count],
--     grown: bytes of these, fact?, factValue?, isRaised? (the fact may be known, as
--     one that emitted nothing), factLimit? (most facts before this one),
--     transition?: { id, event, sequence, fields: [field, value, ...],
--       deliveries: [[delivery id, endpoint id, 'pending' | 'canceled', of an ordered one: how long it waits for its
--         turn], ...] } }
-- ARGV[2n+1] its body, or ''
-- All other keys start with prefix and are in the same slot.
-- Returns for each {'conflict'} (something changed meanwhile, the fact is known, or the Task is gone), {'full'} (of
-- facts), {'no_room', 'pending' | 'bytes' (of its workspace)}, {'accepted', deliveries canceled at once}, or {'failed', why} (Redis takes no writes, or a bug).
local common = cjson.decode(ARGV[1])
local prefix = common.prefix
${GROUP_LUA}
${ENQUEUE_LUA}
${LINE_LUA}
${ADVANCE_LUA}
${COUNT_LUA}
${ACCOUNT_LUA}
${ROOM_LUA}
${RETAIN_LUA}
${LOG_LUA}
${ENDED_LUA}
${TRIM_TASKS_LUA}
${WORKSPACE_TASKS_LUA}
local entries = {}
common.at = tonumber(common.now)
-- Subscription versions that were read and lists that were trimmed: once is enough for all transitions.
local versions, trimmed = {}, {}
-- New entries of logs, by key: time, id, ...
local logs = {}

local function logDelivery(key, now, id)
  local log = logs[key] or {}
  logs[key] = log
  log[#log + 1] = now
  log[#log + 1] = id
end

local function versionOf(workspace)
  local version = versions[workspace] or redis.call('GET', prefix .. 'w:' .. workspace .. ':version') or '0'
  versions[workspace] = version
  return version
end

-- Puts an ordered delivery, whose record is written, in its line. Returns the score at which it waits.
local function joinLine(transition, id, endpoint, timeout, now)
  local line, due = lineOf(prefix, endpoint, transition.task), tonumber(now) + tonumber(timeout)
  redis.call('ZADD', line, transition.sequence, id)
  redis.call('HSET', prefix .. id, 'o', transition.sequence)
  if advance(line, tonumber(now)) == id then return USUAL + tonumber(common.now) end
  redis.call('HSET', prefix .. id, 'due', due)
  return USUAL + due
end

-- findCallbackGroup: nil when the callback is disabled
local function deliver(transition, now, findCallbackGroup)
  local pending, canceled = 0, 0
  for _, delivery in ipairs(transition.deliveries) do
    local id, endpoint, status, timeout = unpack(delivery)
    local isCallback, group = endpoint == transition.callback, endpoint
    if isCallback then
      group = findCallbackGroup()
      if not group then status = 'canceled' end
    end
    local record = prefix .. id
    if status == 'pending' then
      pending = pending + 1
      redis.call('HSET', record, 'x', transition.id, 'e', endpoint, 's', status, 'at', now)
      local score = timeout and joinLine(transition, id, endpoint, timeout, now) or USUAL + tonumber(common.now)
      entries[#entries + 1] = { group, id, score, transition.workspace }
    else
      canceled = canceled + 1
      redis.call('HSET', record, 'x', transition.id, 'e', endpoint, 's', status, 'n', 0, 'at', now, 'end', now,
        'why', 'receiver_disabled')
      retain(id, now, common.recordTtl)
      logDelivery(endedLog(endpoint, transition.workspace, status), now, id)
    end
    logDelivery(prefix .. 'e:' .. endpoint .. ':log', now, id)
    if isCallback then logDelivery(prefix .. 'w:' .. transition.workspace .. ':callbacks', now, id) end
  end
  return pending, canceled
end

local function commit(input, body)
  local task = prefix .. 't:' .. input.task
  local facts, callback = task .. ':facts', prefix .. 'e:' .. input.callback
  local values = redis.call('HMGET', task, 'rev', 'b', 'leaves', 'messageBytes', 'action', 'cb', unpack(input.sized))
  if values[1] ~= input.revision then return { 'conflict' } end
  if versionOf(input.workspace) ~= input.subscriptions then return { 'conflict' } end
  local known = input.fact and redis.call('HGET', facts, input.fact)
  if known and not (input.isRaised and tonumber(known) < 1) then return { 'conflict' } end
  -- One that knows so many facts is at least so large.
  local bytes, growth = tonumber(values[2] or ''), 0
  local isLarge = input.factLimit and (not bytes or bytes >= input.factLimit * ${ENTRY_BYTES})
  if isLarge and redis.call('HLEN', facts) >= tonumber(input.factLimit) then return { 'full' } end
  local transition = input.transition
  local deliveries = transition and #transition.deliveries or 0
  local size = transition and sizeOfTransition(#body, deliveries) or 0
  -- One of a former version that nobody has counted yet counts when it is.
  if bytes then
    growth = input.grown
    for index = 7, 6 + #input.sized do growth = growth - #(values[index] or '') end
    if input.fact then
      growth = growth + (known and #input.factValue - #known or sizeOfEntry(input.fact, input.factValue))
    end
  end
  local limits = input.isErasure and { pending = 0, bytes = 0 } or common.limits
  local full = takeRoom(input.workspace, deliveries, growth + size, limits, common.at)
  if full then return { 'no_room', full } end

  local leaves = timeToLeave(common.at, input.taskTtl)
  local stays = values[3] and tonumber(values[3]) == leaves
  if bytes then
    if values[3] then noteLeaving(input.workspace, -bytes, tonumber(values[3])) end
    bytes = bytes + growth
    noteLeaving(input.workspace, bytes, leaves)
    redis.call('HSET', task, 'upd', input.now, 'rev', input.newRevision, 'b', bytes, 'leaves', leaves,
      unpack(input.change))
  else
    redis.call('HSET', task, 'upd', input.now, 'rev', input.newRevision, unpack(input.change))
  end
  if input.fact then redis.call('HSET', facts, input.fact, input.factValue) end
  local list = prefix .. 'tasks:' .. input.to
  if input.from ~= input.to then redis.call('ZREM', prefix .. 'tasks:' .. input.from, input.task) end
  redis.call('ZADD', list, input.now, input.task)
  if not trimmed[list] then
    trimmed[list] = true
    trimTasks(list, tonumber(input.now) - tonumber(input.taskTtl))
  end
  -- The first fact makes their hash.
  if input.fact or not stays then redis.call('PEXPIREAT', facts, leaves) end
  if not stays then
    redis.call('PEXPIREAT', task, leaves)
    keepTasksUntil(input.workspace, leaves)
    if values[4] then redis.call('PEXPIREAT', task .. ':messages', leaves) end
    if values[5] then redis.call('PEXPIREAT', task .. ':decisions', leaves) end
  end
  if values[6] then leaveAt(callback, timeToLeave(common.at, input.callbackTtl)) end

  if not transition then return { 'accepted', 0 } end
  transition.callback, transition.workspace, transition.task = input.callback, input.workspace, input.task
  local function findCallbackGroup()
    local facts = redis.call('HMGET', callback, 'on', 'dst')
    return facts[1] == '1' and (facts[2] or input.callback) or nil
  end
  local pending, canceled = deliver(transition, input.now, findCallbackGroup)
  local key = prefix .. transition.id
  redis.call('HSET', key, 'open', pending, 'body', body, 'b', size, unpack(transition.fields))
  if pending == 0 then retainTransition(key, common.at, common.recordTtl) end
  if canceled > 0 then notePending(input.workspace, -canceled) end
  return { 'accepted', canceled }
end

local replies = {}
for index = 2, #ARGV, 2 do
  local succeeded, reply = pcall(commit, cjson.decode(ARGV[index]), ARGV[index + 1])
  replies[#replies + 1] = succeeded and reply or { 'failed', type(reply) == 'table' and reply.err or tostring(reply) }
end
for key, log in pairs(logs) do appendToLog(key, common.logTtl, log) end
enqueue(entries, tonumber(common.now))
writeAccounts()
if #entries > 0 then count(prefix .. 'stats', tonumber(common.now), { [${SHARD_FIELDS.accepted}] = #entries }) end
return replies
`;

const NOTE_DIFFERENCE_LUA = /* lua */ `
-- Note that a report about a Task was repeated with other contents. It changes nothing that a transition is decided on.
-- KEYS[1] Task (hash)
-- Returns 1 the first time, 0 from then on and when the Task is gone.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HSETNX', KEYS[1], 'differs', '1')
`;
