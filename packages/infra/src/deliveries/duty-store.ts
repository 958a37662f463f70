import { deliveryIdOf, EventName, type DeliveryId, type TransitionId } from '@herald/core';
import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import { jobPrefixOf, type ShardKeys } from '../redis/keys.ts';
import type { QueueName } from '../queues/queue-names.ts';
import { defineScript } from '../redis/script.ts';
import { CLAIM_DUE_LUA, CLEAR_OWED_LUA, FIND_PENDING_LUA } from './owed-scripts.ts';

/** A transition, or one delivery with an owed redelivery, that has unfinished business; taken under a lease. */
export type Duty = {
  readonly id: string;
  readonly event: EventName;
  readonly deliveryIds: readonly DeliveryId[];
};

export type PendingDelivery = {
  readonly id: DeliveryId;
  /** Epoch ms. */
  readonly dueAt: number;
  readonly hasJob: boolean;
  /** It waits for its destination. */
  readonly isInBacklog: boolean;
};

/** What the sweepers work from: the transitions of one shard whose jobs are owed, and those with pending deliveries. */
export type DutyStore = {
  /** Takes transitions whose jobs are owed; another sweeper gets them only after `leaseEndsAt` (epoch ms). */
  readonly claimOwed: (now: number, leaseEndsAt: number, limit: number) => Promise<readonly Duty[]>;
  /** Takes transitions whose audit is due, and sets the next one. */
  readonly claimAudits: (now: number, nextAuditAt: number, limit: number) => Promise<readonly Duty[]>;
  /** Clears the mark "jobs owed" that was set, or taken, for `markedAt` (epoch ms). */
  readonly clearOwed: (id: TransitionId, markedAt: number) => Promise<void>;
  readonly findPending: (queue: QueueName, ids: readonly DeliveryId[]) => Promise<readonly PendingDelivery[]>;
};

const ClaimReply = z.array(z.tuple([z.string(), EventName, z.string()]));
const PendingReply = z.array(z.tuple([z.number(), z.coerce.number(), z.number(), z.number()]));

export type DutyStoreDeps = { readonly redis: RedisClient; readonly keys: ShardKeys };

export function createDutyStore({ redis, keys }: DutyStoreDeps): DutyStore {
  const claim = defineScript(redis, 'claimDue', CLAIM_DUE_LUA);
  const clear = defineScript(redis, 'clearOwed', CLEAR_OWED_LUA);
  const find = defineScript(redis, 'findPending', FIND_PENDING_LUA);
  const toDuty = (id: string, event: EventName, endpoints: string): Duty => ({
    ...{ id, event },
    deliveryIds: endpoints === '' ? [id] : endpoints.split(',').map((endpointId) => deliveryIdOf(id, endpointId)),
  });
  const claimFrom = async (key: string, now: number, until: number, limit: number): Promise<Duty[]> =>
    ClaimReply.parse(await claim([key], [now, until, limit, keys.prefix])).map((row) => toDuty(...row));

  return {
    claimOwed: (now, leaseEndsAt, limit) => claimFrom(keys.owed, now, leaseEndsAt, limit),
    claimAudits: (now, nextAuditAt, limit) => claimFrom(keys.open, now, nextAuditAt, limit),
    async clearOwed(id, markedAt) {
      await clear([keys.owed], [id, markedAt]);
    },
    async findPending(queue, ids) {
      if (ids.length === 0) return [];
      const jobs = ids.map((id) => jobPrefixOf(keys, queue) + id);
      const rows = PendingReply.parse(await find([...ids.map(keys.delivery), ...jobs], [keys.prefix, ...ids]));
      return rows.map(([index, dueAt, job, backlog]) => ({
        ...{ id: ids[index] ?? '', dueAt },
        ...{ hasJob: job === 1, isInBacklog: backlog === 1 },
      }));
    },
  };
}
