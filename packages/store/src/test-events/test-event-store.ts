import {
  ReceiverLockedError,
  WorkspaceFullError,
  type DeliveryId,
  type EndpointId,
  type TaskEventName,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { ENQUEUE_LUA, GROUP_LUA } from '@herald/queue';
import { z } from 'zod';
import type { DeliveryRetention } from '../deliveries/delivery-record.ts';
import { LOCK_LUA, LockedReply } from '../endpoints/endpoint-patch.ts';
import { TEST_GROUP } from '../keys/groups.ts';
import type { Keyspace } from '../keys/keys.ts';
import { ACCOUNT_LUA, ROOM_LUA } from '../keys/account-lua.ts';
import { LOG_LUA } from '../keys/segment-lua.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';
import type { RoomDeps } from '../stats/memory-guard.ts';
import { LimitName, NO_LIMITS } from '../stats/workspace-accounts.ts';

export type TestEvent = {
  readonly transitionId: TransitionId;
  readonly deliveryId: DeliveryId;
  readonly endpointId: EndpointId;
  readonly workspaceId: WorkspaceId;
  readonly body: string;
  /** The event that it is a sample of. */
  readonly sampleOf?: TaskEventName;
  /** Epoch ms. */
  readonly createdAt: number;
};

type TestEventStoreDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly retention: DeliveryRetention;
} & RoomDeps;

const CreateReply = z.union([
  z.tuple([z.enum(['created', 'missing'])]),
  z.tuple([z.literal('no_room'), LimitName]),
  LockedReply,
]);
const ClaimReply = z.enum(['claimed', 'taken', 'settled', 'missing']);

export function createTestEventStore(deps: TestEventStoreDeps) {
  const { redis, keyspace, retention, limits = NO_LIMITS, findRefusal } = deps;
  const create = defineScript(redis, CREATE_TEST_EVENT_LUA);
  const claim = defineScript(redis, CLAIM_TEST_EVENT_LUA);
  return {
    /**
     * `missing`: there is no such endpoint.
     * @throws ReceiverLockedError, WorkspaceFullError or UnavailableError: Redis has no room for it
     */
    async create({ transitionId, deliveryId, endpointId, workspaceId, body, sampleOf, createdAt }: TestEvent) {
      const refusal = findRefusal?.(workspaceId);
      if (refusal) throw refusal;
      const keys = keyspace.of(workspaceId);
      const reply = await create(
        [
          keys.transition(transitionId),
          keys.delivery(deliveryId),
          keys.endpointLog(endpointId),
          keys.endpoint(endpointId),
        ],
        [
          ...[transitionId, deliveryId, endpointId, workspaceId, createdAt, body, retention.logMs, keys.prefix],
          JSON.stringify(limits),
          ...(sampleOf === undefined ? [] : [sampleOf]),
        ],
      );
      const [kind, why] = CreateReply.parse(reply);
      if (kind === 'locked') throw new ReceiverLockedError(endpointId, why);
      if (kind === 'no_room') throw new WorkspaceFullError(why, limits[why]);
      return kind;
    },
    /**
     * `taken`: another has claimed it, and it must not be sent again.
     * @param claimer its own mark: the client may send a claim twice, and only one of them gets to see `claimed`
     */
    claim: async (workspaceId: WorkspaceId, id: DeliveryId, claimer: string) =>
      ClaimReply.parse(await claim([keyspace.of(workspaceId).delivery(id)], [claimer])),
  };
}
export type TestEventStore = ReturnType<typeof createTestEventStore>;

const CREATE_TEST_EVENT_LUA = /* lua */ `
-- Write a test event and its one delivery, and enqueue it. A second run leaves what the first one wrote.
-- KEYS[1] transition (hash)   KEYS[2] delivery (hash)   KEYS[3] its endpoint's log (zset)   KEYS[4] its endpoint (hash)
-- ARGV[1] transition id   ARGV[2] delivery id   ARGV[3] endpoint id   ARGV[4] workspace id   ARGV[5] now (ms)
-- ARGV[6] body   ARGV[7] time to live of the log (ms)   ARGV[8] prefix   ARGV[9] JSON of limits, see takeRoom
-- ARGV[10] of a sample: the event it shows
-- Returns {'created'} | {'missing'} (no such endpoint) | {'locked', reason of the lock, '' for none}
-- | {'no_room', 'pending' | 'bytes' (of its workspace)}.
local prefix = ARGV[8]
${GROUP_LUA}
${ENQUEUE_LUA}
${ACCOUNT_LUA}
${ROOM_LUA}
${LOG_LUA}
${LOCK_LUA}
if redis.call('EXISTS', KEYS[4]) == 0 then return { 'missing' } end
if redis.call('EXISTS', KEYS[2]) == 1 then return { 'created' } end
local lock = lockOf(KEYS[4])
if lock then return { 'locked', lock } end
local size = sizeOfTransition(#ARGV[6], 1)
local full = takeRoom(ARGV[4], 1, size, cjson.decode(ARGV[9]), tonumber(ARGV[5]))
if full then
  writeAccounts()
  return { 'no_room', full }
end
redis.call('HSET', KEYS[1], 'open', 1, 'ev', 'webhook.test', 'ws', ARGV[4], 'at', ARGV[5], 'eps', ARGV[3],
  'body', ARGV[6], 'b', size)
if ARGV[10] then redis.call('HSET', KEYS[1], 'as', ARGV[10]) end
redis.call('HSET', KEYS[2], 'x', ARGV[1], 'e', ARGV[3], 's', 'pending', 'at', ARGV[5])
appendToLog(KEYS[3], ARGV[7], { ARGV[5], ARGV[2] })
enqueue({ { '${TEST_GROUP}', ARGV[2], URGENT + ARGV[5] } }, tonumber(ARGV[5]))
writeAccounts()
return { 'created' }
`;

const CLAIM_TEST_EVENT_LUA = /* lua */ `#!lua flags=allow-oom
-- Let exactly one worker send a test event. One that is claimed but never settled is lost: it is not sent again.
-- KEYS[1] delivery (hash)
-- ARGV[1] the claimer, who finds his own claim when he asks again after a lost reply
-- Returns 'claimed' | 'taken' | 'settled' | 'missing'.
local status = redis.call('HGET', KEYS[1], 's')
if not status then return 'missing' end
if status ~= 'pending' then return 'settled' end
redis.call('HSETNX', KEYS[1], 'claim', ARGV[1])
return redis.call('HGET', KEYS[1], 'claim') == ARGV[1] and 'claimed' or 'taken'
`;
