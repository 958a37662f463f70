import { NotFoundError } from '@herald/core';
import { createFailedView } from '@herald/store/operators/failed-view';
import { describeDelivery } from '@herald/store/operators/describe-delivery';
import { listClients } from '@herald/store/redis/list-clients';
import { readAttempts } from '@herald/store/deliveries/delivery-log';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { ShardKeys } from '@herald/store/keyspace/keys';
import type { BoardJobs } from '@herald/queue';
import { toLogLine } from './attempt-words.ts';
import { toBoardJob } from './to-board-job.ts';

/** Makes one attempt now, whatever the schedule says. */
export type AttemptNow = (workspaceId: string, deliveryId: string) => Promise<unknown>;

export type DeliveryJobsDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** How long settled deliveries are kept, in ms. */
  readonly retentionMs: number;
  readonly attemptNow: AttemptNow;
  readonly now: () => number;
};

/** The deliveries of one shard, as the jobs of a board. */
export function createDeliveryJobs({ redis, keys, retentionMs, attemptNow, now }: DeliveryJobsDeps): BoardJobs {
  const failed = createFailedView({ redis, keyspace: { shards: [keys] }, keepMs: retentionMs });
  const describe = (id: string) => describeDelivery(redis, keys, id);
  const sendNow = async (id: string) => {
    const description = await describe(id);
    if (!description) throw new NotFoundError('delivery', id);
    await attemptNow(description.delivery.workspaceId, id);
  };
  return {
    async find(id) {
      const description = await describe(id);
      return description && toBoardJob(description);
    },
    readLogs: async (id) => (await readAttempts(redis, keys, id)).map(toLogLine),
    retry: sendNow,
    promote: sendNow,
    failed: {
      count: () => failed.count(now()),
      list: (start, end) => failed.listIds(now(), start, end),
    },
    listClients: () => listClients(redis),
  };
}
