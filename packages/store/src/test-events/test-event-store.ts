import {
  ReceiverLockedError,
  WorkspaceFullError,
  type DeliveryId,
  type EndpointId,
  type TaskEventName,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import type { DeliveryRetention } from '../deliveries/delivery-retention.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keys/keys.ts';
import { LockedReply } from '../endpoints/endpoint-patch.ts';
import type { RoomDeps } from '../memory/memory-guard.ts';
import { LimitName, NO_LIMITS } from '../memory/workspace-accounts.ts';
import { defineScript } from '../redis/script.ts';
import { CLAIM_TEST_EVENT_LUA, CREATE_TEST_EVENT_LUA } from './test-event-scripts.ts';

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

export type TestEventStoreDeps = {
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
    /** `taken`: it was claimed before, and must not be sent again. */
    claim: async (workspaceId: WorkspaceId, id: DeliveryId, now: number) =>
      ClaimReply.parse(await claim([keyspace.of(workspaceId).delivery(id)], [now])),
  };
}
export type TestEventStore = ReturnType<typeof createTestEventStore>;
