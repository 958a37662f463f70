import {
  DeliveryEvent,
  isCallbackId,
  NotFoundError,
  PayloadErasedError,
  PayloadNotKeptError,
  PLATFORM,
  ReceiverDisabledError,
  ReceiverLockedError,
  WorkspaceFullError,
  type DeliveryId,
  type EndpointId,
  type HistoryReader,
  type PastDelivery,
  type PastTransition,
  type WorkspaceId,
} from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { z } from 'zod';
import { LOCK_LUA } from '../endpoints/endpoint-patch.ts';
import { GROUP_OF_LUA } from '../keys/groups.ts';
import type { Keyspace } from '../keys/keys.ts';
import { ACCOUNT_LUA, NO_ROOM_LUA, ROOM_LUA } from '../keys/account-lua.ts';
import { ENDED_LUA, LOG_LUA } from '../keys/segment-lua.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { randomToken } from '../redis/random-token.ts';
import type { RoomDeps } from '../stats/memory-guard.ts';
import { LimitName, NO_LIMITS } from '../stats/workspace-accounts.ts';
import { createDeliveryLists } from './delivery-lists.ts';
import { createDeliveryReader, type ListedDelivery } from './delivery-reader.ts';

/** `removed`: its endpoint is gone. `erased`: its body is. `not_kept`: history has no body of it. */
type RedeliverReply =
  | { readonly kind: 'pending'; readonly event: DeliveryEvent }
  | { readonly kind: 'missing' | 'removed' | 'erased' | 'not_kept' }
  | { readonly kind: 'disabled'; readonly endpointId: EndpointId }
  | { readonly kind: 'locked'; readonly endpointId: EndpointId; readonly reason: string };

const RedeliverText = z.tuple(
  [z.enum(['pending', 'missing', 'removed', 'disabled', 'locked', 'erased', 'not_kept', 'no_room'])],
  z.string(),
);

type DeliveryLogDeps = ReplicatedStoreDeps &
  RoomDeps & {
    readonly keyspace: Keyspace;
    /** Absent: nothing leaves Redis but what is over. */
    readonly history?: HistoryReader | undefined;
  };

/** The deliveries of a workspace, as its API shows them, and the redelivery that it can ask for. */
export function createDeliveryLog(deps: DeliveryLogDeps) {
  const { redis, keyspace, history, limits = NO_LIMITS, findRefusal } = deps;
  const redeliver = defineReplicatedScript(deps, REDELIVER_LUA);
  const reader = createDeliveryReader({ redis, keyspace, history });

  /** What the script needs to bring a delivery back from history. */
  const readPast = async (workspaceId: WorkspaceId, id: DeliveryId): Promise<string[]> => {
    const past = await history?.find(workspaceId, id);
    const transition = past && (await history?.findTransition(past.delivery));
    return past && transition ? [toRestored(past, transition), transition.body ?? ''] : [];
  };

  return {
    ...createDeliveryLists({ redis, keyspace, reader, history }),
    find: (workspaceId: WorkspaceId, id: DeliveryId) => reader.find(workspaceId, id),
    readContent: reader.readContent,

    /**
     * Asks for one more attempt of the delivery, and enqueues it. One that has left Redis comes back in the same step.
     * `now` is epoch ms.
     * @throws WorkspaceFullError or UnavailableError: Redis has no room for it
     */
    async redeliver(workspaceId: WorkspaceId, id: DeliveryId, now: number): Promise<RedeliverReply> {
      const keys = keyspace.of(workspaceId);
      const refusal = findRefusal?.(workspaceId);
      if (refusal) throw refusal;
      const args = [keys.prefix, id, workspaceId, now, JSON.stringify({ ...limits, asked: randomToken() })];
      const run = async (past: readonly string[]) =>
        RedeliverText.parse(await redeliver([keys.delivery(id)], [...args, ...past]));
      const reply = await run([]);
      const past = reply[0] === 'missing' ? await readPast(workspaceId, id) : [];
      const [kind, detail = '', reason = ''] = past.length > 0 ? await run(past) : reply;
      if (kind === 'pending') return { kind, event: DeliveryEvent.parse(detail) };
      if (kind === 'no_room') {
        const of = LimitName.parse(detail);
        throw new WorkspaceFullError(of, limits[of]);
      }
      if (kind === 'disabled') return { kind, endpointId: detail };
      if (kind === 'locked') return { kind, endpointId: detail, reason };
      return { kind };
    },
  };
}
export type DeliveryLog = ReturnType<typeof createDeliveryLog>;

/** Tells operators about redeliveries. */
export type RedeliveryReport = { readonly requested: (workspaceId: WorkspaceId, id: DeliveryId) => void };

export type RedeliverDeps = {
  readonly log: Pick<DeliveryLog, 'redeliver' | 'find'>;
  readonly report: RedeliveryReport;
  readonly now: () => number;
};

/**
 * Makes one more attempt, now. Once this resolves, the attempt is in the queue and survives any crash.
 * @throws NotFoundError, ReceiverDisabledError, ReceiverLockedError, PayloadErasedError, PayloadNotKeptError,
 * HistoryUnavailableError
 */
export function createRedeliver({ log, report, now }: RedeliverDeps) {
  return async function redeliver(workspaceId: WorkspaceId, id: DeliveryId): Promise<ListedDelivery> {
    const reply = await log.redeliver(workspaceId, id, now());
    if (reply.kind === 'missing') throw new NotFoundError('delivery', id);
    if (reply.kind === 'removed') throw new NotFoundError('receiver', 'of this delivery any more');
    if (reply.kind === 'erased') throw new PayloadErasedError(id);
    if (reply.kind === 'not_kept') throw new PayloadNotKeptError(id);
    if (reply.kind === 'disabled') throw new ReceiverDisabledError(reply.endpointId);
    if (reply.kind === 'locked') throw new ReceiverLockedError(reply.endpointId, reply.reason);
    report.requested(workspaceId, id);
    const found = await log.find(workspaceId, id);
    if (!found) throw new NotFoundError('delivery', id);
    return found.delivery;
  };
}
export type Redeliver = ReturnType<typeof createRedeliver>;

/**
 * `restore(past, body, now)` writes a delivery back as history has it, with its attempts, its transition and its places
 * in the logs; `past` is what `toRestored` made. It is settled, and leaves Redis again unless it is to be sent. What
 * Redis already has of the transition stays. Call it only when the delivery's record is absent. Needs ACCOUNT_LUA, ENDED_LUA
 * and `local prefix`.
 * Returns nil, or why nothing was written: 'erased' (the Task's payloads were, meanwhile) or 'not_kept' (there is no
 * body). `sizeOfPast(past, body)` is what it would add.
 */
export const RESTORE_LUA = /* lua */ `
local function sizeOfPast(past, body)
  local hasTransition, size = redis.call('HEXISTS', prefix .. past.transition, 'ev') == 1, 0
  for _, attempt in ipairs(past.attempts) do size = size + sizeOfEntry('', attempt) end
  return hasTransition and size or size + sizeOfTransition(#body, past.deliveries)
end

local function restore(past, body, now)
  local record, transition = prefix .. past.id, prefix .. past.transition
  -- An erasure may have run after history was read. Of a Task that is gone, it marks the transitions.
  if past.isErased or redis.call('HEXISTS', transition, 'erased') == 1 then return 'erased' end
  if past.task and redis.call('HEXISTS', prefix .. 't:' .. past.task, 'erased') == 1 then return 'erased' end
  if redis.call('HEXISTS', transition, 'ev') == 0 then
    if body == '' then return 'not_kept' end
    redis.call('DEL', transition)
    local size = sizeOfTransition(#body, past.deliveries)
    redis.call('HSET', transition, 'open', 0, 'body', body, 'b', size, unpack(past.transitionFields))
    noteBytes(past.workspace, size)
  end
  leaveAt(transition, nil)
  redis.call('DEL', record .. ':a')
  redis.call('HSET', record, unpack(past.fields))
  if #past.attempts > 0 then
    redis.call('RPUSH', record .. ':a', unpack(past.attempts))
    grow(transition, sizeOfList(record .. ':a'))
  end
  redis.call('ZADD', prefix .. 'e:' .. past.endpoint .. ':log', past.at, past.id)
  if past.isCallback then redis.call('ZADD', prefix .. 'w:' .. past.workspace .. ':callbacks', past.at, past.id) end
  local status = redis.call('HGET', record, 's')
  noteEnded({ id = past.id, endpoint = past.endpoint, workspace = past.workspace, status = status, at = past.at }, 0)
  redis.call('ZADD', prefix .. 'settled', now, past.id)
  return nil
end
`;

const REDELIVER_LUA = /* lua */ `
-- Ask for one more attempt of a delivery, and enqueue it before all others of its group. One that is in work is enqueued
-- there when that ends (see placeAgain), one that waits as a test event when its attempt is recorded. One that has left
-- Redis comes back in this step.
-- KEYS[1] delivery (hash)
-- ARGV[1] prefix   ARGV[2] delivery id   ARGV[3] workspace id   ARGV[4] now (ms)
-- ARGV[5] JSON of limits, see takeRoom, and of asked: the mark of this call, kept with the delivery, so that a call whose
-- reply was lost, and that is sent again, counts once
-- ARGV[6] of one that Redis may lack: JSON of it, see RESTORE_LUA   ARGV[7] its body, '' for none
-- Returns {'pending', event} | {'missing'} | {'removed'} (its endpoint is gone) | {'disabled', endpoint id}
-- | {'locked', endpoint id, reason of the lock, '' for none} | {'erased'} (its body is) | {'not_kept'} (so is its body)
-- | {'no_room', 'pending' | 'bytes' (of its workspace)}.
local prefix, id, now = ARGV[1], ARGV[2], tonumber(ARGV[4])
${GROUP_LUA}
${ENQUEUE_LUA}
${GROUP_OF_LUA}
${ACCOUNT_LUA}
${ROOM_LUA}
${NO_ROOM_LUA}
${LOG_LUA}
${ENDED_LUA}
${RESTORE_LUA}
${LOCK_LUA}
local limits = cjson.decode(ARGV[5])
local names = redis.call('HMGET', KEYS[1], 'x', 'e', 's', 'owe', 'asked')
local past = not names[1] and ARGV[6] and cjson.decode(ARGV[6]) or nil
if past then names = { past.transition, past.endpoint, '', false } end
if not names[1] then return { 'missing' } end
local transition = prefix .. names[1]
local facts = redis.call('HMGET', transition, 'ws', 'ev', 'erased')
if past and not facts[1] then facts = { past.workspace, past.event, false } end
if facts[1] ~= ARGV[3] then return { 'missing' } end
if facts[3] then return { 'erased' } end
-- This very call was made before.
if names[5] == limits.asked then return { 'pending', facts[2] } end
-- A notice's endpoint has no record.
local isNotice = names[2] == '${PLATFORM}'
local on = isNotice and '1' or redis.call('HGET', prefix .. 'e:' .. names[2], 'on')
if not on then return { 'removed' } end
if on ~= '1' then
  local lock = lockOf(prefix .. 'e:' .. names[2])
  return lock and { 'locked', names[2], lock } or { 'disabled', names[2] }
end
-- What is pending has its room already. A notice is the platform's.
local isNew = not isNotice and names[3] ~= 'pending' and not names[4]
local bytes = past and sizeOfPast(past, ARGV[7]) or 0
local full = isNew and findNoRoom(ARGV[3], 1, bytes, limits, ARGV[4])
if full then
  writeAccounts()
  return { 'no_room', full }
end
local refusal = past and restore(past, ARGV[7], ARGV[4])
if refusal then return { refusal } end
redis.call('HINCRBY', KEYS[1], 'owe', 1)
redis.call('HSET', KEYS[1], 'asked', limits.asked)
stay(KEYS[1], transition)
writeAccounts()
-- One that has something to do and doesn't wait here is in work, or waits as a test event.
local group, isQueued = groupOf(names[2]), names[3] == 'pending' or names[4]
if not isQueued or isWaiting(group, id) then
  enqueue({ { group, id, URGENT + now, not isNotice and ARGV[3] or nil } }, now)
end
return { 'pending', facts[2] }
`;

/** What `RESTORE_LUA` writes of a delivery, as JSON. Every number is a string, so that it stays as it is. */
export function toRestored({ delivery, attempts }: PastDelivery, transition: PastTransition): string {
  const { id, workspaceId, endpointId, transitionId, taskId, event, sampleOf, createdAt } = delivery;
  const { status, tries, scheduledAt, settledAt, reason, place, isReleased, erasedAt } = delivery;
  const { requestId, traceparent, endpointIds } = transition;
  return JSON.stringify({
    id,
    workspace: workspaceId,
    endpoint: endpointId,
    transition: transitionId,
    event,
    task: taskId,
    at: String(createdAt),
    isCallback: isCallbackId(endpointId),
    isErased: erasedAt !== undefined,
    attempts,
    deliveries: endpointIds.length,
    fields: toFields({
      x: transitionId,
      e: endpointId,
      s: status,
      n: tries,
      at: createdAt,
      from: scheduledAt === createdAt ? undefined : scheduledAt,
      end: settledAt,
      why: reason,
      o: place,
      rel: isReleased && 1,
    }),
    transitionFields: toFields({
      ev: event,
      ws: workspaceId,
      task: taskId,
      at: createdAt,
      req: requestId,
      eps: endpointIds.join(','),
      trace: traceparent,
      as: sampleOf,
    }),
  });
}

function toFields(values: Readonly<Record<string, string | number | undefined>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]));
}
