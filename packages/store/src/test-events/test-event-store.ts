import type { DeliveryId, EndpointId, TransitionId, WorkspaceId } from '@herald/core';
import type { DeliveryRetention } from '../deliveries/delivery-retention.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import { CLAIM_TEST_EVENT_LUA, CREATE_TEST_EVENT_LUA } from './test-event-scripts.ts';

export type TestEvent = {
  readonly transitionId: TransitionId;
  readonly deliveryId: DeliveryId;
  readonly endpointId: EndpointId;
  readonly workspaceId: WorkspaceId;
  readonly body: string;
  /** Epoch ms. */
  readonly createdAt: number;
};

export type TestEventStore = {
  readonly create: (event: TestEvent) => Promise<'created' | 'missing'>;
  /** `taken`: somebody claimed it before, and it must not be sent again. */
  readonly claim: (
    workspaceId: WorkspaceId,
    id: DeliveryId,
    now: number,
  ) => Promise<'claimed' | 'taken' | 'settled' | 'missing'>;
};

export type TestEventStoreDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly retention: DeliveryRetention;
};

export function createTestEventStore({ redis, keyspace, retention }: TestEventStoreDeps): TestEventStore {
  const create = defineScript(redis, 'createTestEvent', CREATE_TEST_EVENT_LUA);
  const claim = defineScript(redis, 'claimTestEvent', CLAIM_TEST_EVENT_LUA);
  return {
    async create({ transitionId, deliveryId, endpointId, workspaceId, body, createdAt }) {
      const keys = keyspace.of(workspaceId);
      const reply = await create(
        [
          ...[keys.transition(transitionId), keys.delivery(deliveryId), keys.endpointLog(endpointId)],
          keys.endpoint(endpointId),
        ],
        [...[transitionId, deliveryId, endpointId, workspaceId, createdAt], ...[body, retention.logMs, keys.prefix]],
      );
      return reply === 'created' ? 'created' : 'missing';
    },
    async claim(workspaceId, id, now) {
      const reply = await claim([keyspace.of(workspaceId).delivery(id)], [now]);
      return reply as 'claimed' | 'taken' | 'settled' | 'missing';
    },
  };
}
