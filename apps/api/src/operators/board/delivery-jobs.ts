import type { ApiConfig } from '@herald/config/api-config';
import { deliveryIdOf, NotFoundError, TransitionIdText } from '@herald/core';
import type { Redeliver } from '@herald/store/deliveries/create-redeliver';
import { createFailedView } from '@herald/store/operators/failed-view';
import { describeDelivery } from '@herald/store/operators/describe-delivery';
import { listClients } from '@herald/store/redis/list-clients';
import { readAttempts } from '@herald/store/deliveries/delivery-reader';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { ShardKeys } from '@herald/store/keyspace/keys';
import { workspaceOfOwner } from '@herald/store/keyspace/platform';
import type { BoardJobs } from '@herald/queue';
import type { Audit } from '../../http/create-audit.ts';
import { toLogLine } from './attempt-words.ts';
import { toBoardJob } from './to-board-job.ts';

export type DeliveryJobsDeps = {
  readonly redis: RedisClient;
  readonly config: Pick<ApiConfig, 'retentionMs'>;
  readonly redeliver: Redeliver;
  readonly audit: Audit;
  readonly now: () => number;
};

/** The deliveries of one shard, as the jobs of a board. */
export function createDeliveryJobs(
  { redis, config, redeliver, audit, now }: DeliveryJobsDeps,
  keys: ShardKeys,
): BoardJobs {
  const failed = createFailedView({ redis, keyspace: { shards: [keys] }, keepMs: config.retentionMs });
  const describe = (id: string) => describeDelivery(redis, keys, id);
  const sendNow = async (id: string) => {
    const description = await describe(id);
    if (!description) throw new NotFoundError('delivery', id);
    const { workspaceId } = description.delivery;
    await redeliver(workspaceId, id);
    await audit({ action: 'redeliverDelivery', target: id, workspaceId: workspaceOfOwner(workspaceId) });
  };
  return {
    async find(id) {
      // The id in the body of an event is that of its transition: it leads to the first of its deliveries.
      const isTransition = TransitionIdText.safeParse(id).success;
      const [endpoint] = (isTransition ? await redis.hget(keys.transition(id), 'eps') : null)?.split(',') ?? [];
      const own = endpoint === undefined ? id : deliveryIdOf(id, endpoint);
      const description = await describe(own);
      return description && { ...toBoardJob(description), id: own };
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
