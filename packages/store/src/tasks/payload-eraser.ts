import {
  deliveryIdOf,
  EventName,
  TASK_TRANSITIONS,
  transitionIdOfFact,
  type HistoryReader,
  type TaskId,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { z } from 'zod';
import type { DeliveryRetention } from '../deliveries/delivery-record.ts';
import { SETTLE_LUA } from '../deliveries/delivery-scripts.ts';
import { ERASED_ATTEMPT_LUA, FIRST_ATTEMPT_LUA } from '../deliveries/attempt-record.ts';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import { ACCOUNT_LUA, COUNTED_TASK_FIELDS } from '../keys/account-lua.ts';
import { readEmittedFacts } from '../lists/delivery-lists.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { newRevision } from '../redis/random-token.ts';

/** Deliveries of one event that an erasure canceled. */
export type CanceledByErasure = { readonly event: EventName; readonly count: number };

/** `open`: the Task is not closed, and nothing was erased. `erasedAt`: when it was erased first, epoch ms. */
type EraseReply =
  | { readonly kind: 'missing' }
  | { readonly kind: 'open'; readonly status: string }
  | { readonly kind: 'erased'; readonly erasedAt: number; readonly canceled: readonly CanceledByErasure[] };

/** What history has of Tasks, and its erasure. Each throws HistoryUnavailableError. */
export type ErasableHistory = Pick<HistoryReader, 'listSequences'> & {
  /**
   * Erases the bodies of a Task's transitions and what the endpoints answered, of those that are being moved too, and in
   * days that are being dropped. Returns when they were erased first, epoch ms; undefined when there is nothing.
   */
  eraseTask(workspaceId: WorkspaceId, taskId: TaskId, erasedAt: number): Promise<number | undefined>;
  /** Some of a workspace's Tasks of which it holds something that is not erased. */
  listUnerased(workspaceId: WorkspaceId, limit: number): Promise<readonly TaskId[]>;
};

/** What erases payloads in history. */
type ErasedHistory = Pick<ErasableHistory, 'listSequences' | 'eraseTask'>;

type PayloadEraserDeps = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  readonly retention: DeliveryRetention;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: ErasedHistory | undefined;
};

/** How long it is known that a transition which is gone from Redis was erased, in ms: longer than a restore may take. */
const PAST_MARK_MS = 3_600_000;
/** Transitions between two notes of the progress, all of which go to Redis together. */
const PAGE = 20;

const TaskReply = z.union([
  z.tuple([z.literal('missing')]),
  z.tuple([z.literal('open'), z.string()]),
  z.tuple([z.literal('erased'), z.coerce.number(), z.coerce.number()]),
]);
const TransitionReply = z.tuple([z.union([EventName, z.literal('')]), z.number()]);

/** Erases what closed Tasks held. What was delivered, when, and with which status stays. */
export function createPayloadEraser(deps: PayloadEraserDeps) {
  const { redis, keyspace, retention, history } = deps;
  // Each step must be replicated before the note: after a failover, the new master may lack any of them.
  const eraseTask = defineReplicatedScript(deps, ERASE_TASK_LUA);
  const eraseTransition = defineReplicatedScript(deps, ERASE_TRANSITION_LUA);
  const eraseAttempts = defineReplicatedScript(deps, ERASE_ATTEMPTS_LUA);
  const noteErased = defineReplicatedScript(deps, NOTE_ERASED_LUA);
  const markErased = defineReplicatedScript(deps, MARK_ERASED_LUA);

  /** The transition first: whoever records an attempt from then on leaves out the answer. */
  const erase = async (keys: ShardKeys, id: TransitionId, erasedAt: number, now: number) => {
    const endpoints = (await redis.hget(keys.transition(id), 'eps'))?.split(',') ?? [];
    const ids = endpoints.map((endpointId) => deliveryIdOf(id, endpointId));
    const [event, count] = TransitionReply.parse(
      await eraseTransition(
        [keys.transition(id), ...ids.map(keys.delivery)],
        [keys.prefix, now, retention.expiryMs, erasedAt, id, ...ids],
      ),
    );
    await Promise.all(
      ids.map((each) => eraseAttempts([keys.delivery(each), keys.attempts(each), keys.transition(id)], [keys.prefix])),
    );
    return event === '' || count === 0 ? undefined : { event, count };
  };

  /** A Task that Redis has forgotten. Some of its deliveries may be in Redis all the same: those that came back. */
  const erasePast = async (workspaceId: WorkspaceId, taskId: TaskId, now: number): Promise<EraseReply> => {
    const keys = keyspace.of(workspaceId);
    if (!history) return { kind: 'missing' };
    const transitions = await history.listSequences(workspaceId, taskId, TASK_TRANSITIONS);
    const canceled: CanceledByErasure[] = [];
    for (let start = 0; start < transitions.length; start += PAGE) {
      const page = transitions.slice(start, start + PAGE);
      const ids = page.map(({ transitionId }) => transitionId);
      await Promise.all(ids.map((id) => markErased([keys.transition(id)], [workspaceId, now, PAST_MARK_MS])));
      const ended = await Promise.all(ids.map((id) => erase(keys, id, now, now)));
      canceled.push(...ended.filter((each) => each !== undefined));
    }
    // Also when nothing of it can be listed any more: days that are being dropped may still hold it.
    const erasedAt = await history.eraseTask(workspaceId, taskId, now);
    return erasedAt === undefined ? { kind: 'missing' } : { kind: 'erased', erasedAt, canceled };
  };

  return {
    /**
     * Erases the input, messages, decisions, result and outcome of a Task, the bodies of its transitions, and what the
     * endpoints answered, in Redis and then in history. Once this resolves, none of it is left. Every step can be made
     * again: after a crash, or when history was away, the next call goes on where it was.
     * @throws HistoryUnavailableError
     */
    async erase(workspaceId: WorkspaceId, taskId: TaskId, now: number): Promise<EraseReply> {
      const keys = keyspace.of(workspaceId);
      const task = [keys.task(taskId), keys.messages(taskId), keys.decisions(taskId)];
      const reply = TaskReply.parse(await eraseTask(task, [workspaceId, now, newRevision(), keys.prefix]));
      if (reply[0] === 'missing') return await erasePast(workspaceId, taskId, now);
      if (reply[0] === 'open') return { kind: 'open', status: reply[1] };
      const [, erasedAt, erasedTo] = reply;
      const emitted = await readEmittedFacts(redis, keys, taskId);
      const facts = emitted.filter(({ sequence }) => sequence > erasedTo).reverse();
      const canceled: CanceledByErasure[] = [];
      for (let start = 0; start === 0 || start < facts.length; start += PAGE) {
        const page = facts.slice(start, start + PAGE);
        const ids = page.map(({ key }) => transitionIdOfFact(taskId, key)).filter((id) => id !== undefined);
        const ended = await Promise.all(ids.map((id) => erase(keys, id, erasedAt, now)));
        canceled.push(...ended.filter((each) => each !== undefined));
        await noteErased([keys.task(taskId)], [page.at(-1)?.sequence ?? erasedTo]);
      }
      await history?.eraseTask(workspaceId, taskId, erasedAt);
      return { kind: 'erased', erasedAt, canceled };
    },
  };
}
export type PayloadEraser = ReturnType<typeof createPayloadEraser>;

/** Fields of a Task that tell nothing of its content. `usage` is what it is billed by. */
const KEPT_OF_TASK = [
  'ws',
  'ews',
  'status',
  'seq',
  'rev',
  'at',
  'upd',
  'cb',
  'cbUrl',
  'cbEvents',
  'cbOrd',
  'usage',
  'differs',
  'erased',
  'erasedTo',
  'b',
  'leaves',
];

const ERASE_TASK_LUA = /* lua */ `#!lua flags=allow-oom
-- Erase what a closed Task itself holds, and note that it is erased: a later report adds nothing. A second run changes
-- nothing. Of fields that this script doesn't know, none stays.
-- KEYS[1] Task (hash)   KEYS[2] its messages (list)   KEYS[3] its decisions (hash)
-- ARGV[1] workspace id   ARGV[2] now (ms)   ARGV[3] new revision   ARGV[4] prefix
-- Returns {'missing'} | {'open', status} | {'erased', when first (ms), sequence up to which its transitions are erased}.
local prefix = ARGV[4]
${ACCOUNT_LUA}
local facts = redis.call('HMGET', KEYS[1], 'ws', 'status', 'erased', 'erasedTo', 'b', 'leaves')
if facts[1] ~= ARGV[1] then return { 'missing' } end
if facts[2] ~= 'done' and facts[2] ~= 'canceled' then return { 'open', facts[2] } end
if not facts[3] then redis.call('HSET', KEYS[1], 'erased', ARGV[2], 'rev', ARGV[3]) end
local kept, counted, freed = {}, {}, 0
for _, name in ipairs({ ${COUNTED_TASK_FIELDS.map((name) => `'${name}'`).join(', ')} }) do counted[name] = true end
for _, name in ipairs({ ${KEPT_OF_TASK.map((name) => `'${name}'`).join(', ')} }) do kept[name] = true end
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if not kept[name] then
    if counted[name] then freed = freed + redis.call('HSTRLEN', KEYS[1], name) end
    redis.call('HDEL', KEYS[1], name)
  end
end
freed = freed + sizeOfList(KEYS[2])
local decisions = redis.call('HGETALL', KEYS[3])
for index = 1, #decisions, 2 do freed = freed + sizeOfEntry(decisions[index], decisions[index + 1]) end
redis.call('DEL', KEYS[2], KEYS[3])
if facts[5] and freed > 0 then
  redis.call('HSET', KEYS[1], 'b', facts[5] - freed)
  noteBytes(facts[1], -freed, tonumber(facts[6]))
  writeAccounts()
end
return { 'erased', facts[3] or ARGV[2], facts[4] or '0' }
`;

const NOTE_ERASED_LUA = /* lua */ `#!lua flags=allow-oom
-- Note how far the transitions of a Task are erased, so that another run goes on from there.
-- KEYS[1] Task (hash)
-- ARGV[1] sequence of the last one
-- Returns 'noted' | 'missing' (it has expired).
if redis.call('EXISTS', KEYS[1]) == 0 then return 'missing' end
redis.call('HSET', KEYS[1], 'erasedTo', ARGV[1])
return 'noted'
`;

const MARK_ERASED_LUA = /* lua */ `
-- Note that a transition is being erased which is gone from Redis: none of its deliveries comes back from history (see
-- RESTORE_LUA), even if history was read before. One that Redis has is left to ERASE_TRANSITION_LUA.
-- KEYS[1] transition (hash)
-- ARGV[1] workspace id   ARGV[2] now (ms)   ARGV[3] how long the mark stays (ms)
-- Returns 'marked' | 'present'.
if redis.call('HEXISTS', KEYS[1], 'ev') == 1 then return 'present' end
redis.call('HSET', KEYS[1], 'ws', ARGV[1], 'erased', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'marked'
`;

/** Fields of a transition that tell nothing of its content. */
const KEPT_OF_TRANSITION = ['open', 'ev', 'ws', 'task', 'at', 'req', 'eps', 'trace', 'erased', 'b'];

const ERASE_TRANSITION_LUA = /* lua */ `#!lua flags=allow-oom
-- Erase the body of a transition, cancel its pending deliveries and drop its pending redeliveries: without a body there
-- is nothing to send. One in work is being sent; its worker leaves out the answer when it records the attempt. A second
-- run changes nothing.
-- KEYS[1] transition (hash)   KEYS[2..n+1] its deliveries (hash)
-- ARGV[1] prefix   ARGV[2] now (ms)   ARGV[3] ttl, see retain   ARGV[4] when its Task was erased (ms)
-- ARGV[5] transition id   ARGV[6..n+5] delivery ids
-- Returns {event, number of deliveries that it canceled}; event: '' when the transition has expired.
local prefix, now = ARGV[1], tonumber(ARGV[2])
${GROUP_LUA}
${ENQUEUE_LUA}
${SETTLE_LUA}
local event = redis.call('HGET', KEYS[1], 'ev')
if not event then return { '', 0 } end
redis.call('HSETNX', KEYS[1], 'erased', ARGV[4])
grow(KEYS[1], -redis.call('HSTRLEN', KEYS[1], 'body'))
local kept, canceled = {}, 0
for _, name in ipairs({ ${KEPT_OF_TRANSITION.map((name) => `'${name}'`).join(', ')} }) do kept[name] = true end
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if not kept[name] then redis.call('HDEL', KEYS[1], name) end
end

for index = 6, #ARGV do
  local key, id = KEYS[index - 4], ARGV[index]
  local facts = redis.call('HMGET', key, 's', 'owe', 'e', 'o')
  if facts[2] then redis.call('HDEL', key, 'owe') end
  if facts[1] == 'pending' then
    local line = settle(id, ARGV[5], 'canceled', 'payload_erased', ARGV[2], ARGV[3], facts[4] and facts[3])
    if line then advance(line, now) end
    canceled = canceled + 1
  elseif facts[2] then
    -- The redelivery kept it from expiring.
    retain(id, ARGV[2], ARGV[3], true)
  end
  if facts[1] == 'pending' or facts[2] then dequeue(groupOf(facts[3]), { id }, now) end
end
if (tonumber(redis.call('HGET', KEYS[1], 'open')) or 0) <= 0 then retainTransition(KEYS[1], now, ARGV[3], true) end
writeAccounts()
return { event, canceled }
`;

const ERASE_ATTEMPTS_LUA = /* lua */ `#!lua flags=allow-oom
-- Erase the answers in a delivery's log. Attempts that are recorded later have none, once the transition is erased. A
-- second run changes nothing.
-- KEYS[1] delivery (hash)   KEYS[2] its attempts (list)   KEYS[3] its transition (hash)
-- ARGV[1] prefix
-- Returns how many it changed.
local prefix = ARGV[1]
${ACCOUNT_LUA}
${ERASED_ATTEMPT_LUA}
${FIRST_ATTEMPT_LUA}
local changed, freed = eraseFirst(KEYS[1]) and 1 or 0, 0
for index, attempt in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  local kept = withoutContent(attempt)
  if kept ~= attempt then
    redis.call('LSET', KEYS[2], index - 1, kept)
    changed, freed = changed + 1, freed + #attempt - #kept
  end
end
grow(KEYS[3], -freed)
writeAccounts()
return changed
`;
