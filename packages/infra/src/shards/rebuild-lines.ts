import { deliveryIdOf, EventName } from '@herald/core';
import { createDutyStore, type DutyStore } from '../deliveries/duty-store.ts';
import { createDeliveryQueue, type DeliveryQueue } from '../queues/delivery-queue.ts';
import type { QueueName } from '../queues/queue-names.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../redis/keys.ts';

/** Transitions looked at in one go. */
const PAGE = 200;
const LINE: QueueName = 'deliveries';

export type RebuildLinesDeps = {
  /** A connection that nothing else uses: scripts are defined on it. */
  readonly redis: RedisClient;
  readonly target: Keyspace;
  readonly onProgress: (done: number, total: number) => void;
  readonly now: () => number;
};

/**
 * Puts every pending delivery in line that waits in no backlog, each for the time that its record says. Adding is idempotent by delivery
 * id. Test events are sent at once or never: the audit ends those.
 * @returns deliveries put in line
 */
export async function rebuildLines({ redis, target, onProgress, now }: RebuildLinesDeps): Promise<number> {
  const duties = target.shards.map((keys) => createDutyStore({ redis, keys }));
  const lines = target.shards.map((keys, shard) => ({
    ...{ redis, keys, now, duties: duties[shard] },
    queue: createDeliveryQueue({ redis, keys, name: LINE }),
  }));
  try {
    let lined = 0;
    for (const [index, line] of lines.entries()) {
      if (line.duties) lined += await rebuildLine({ ...line, duties: line.duties });
      onProgress(index + 1, lines.length);
    }
    return lined;
  } finally {
    await Promise.all(lines.map(({ queue }) => queue.close()));
  }
}

type Line = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly duties: Pick<DutyStore, 'findPending'>;
  readonly queue: Pick<DeliveryQueue, 'add'>;
  readonly now: () => number;
};

async function rebuildLine({ redis, keys, duties, queue, now }: Line): Promise<number> {
  let lined = 0;
  for (let offset = 0; ; offset += PAGE) {
    const ids = await redis.zrange(keys.open, offset, String(offset + PAGE - 1));
    const jobs = await Promise.all(
      ids.map(async (id) => {
        const [event, endpoints] = await redis.hmget(keys.transition(id), 'ev', 'eps');
        if (event == null || endpoints == null || event === 'webhook.test') return [];
        const deliveryIds = endpoints.split(',').map((endpointId) => deliveryIdOf(id, endpointId));
        return (await duties.findPending(LINE, deliveryIds))
          .filter(({ hasJob, isInBacklog }) => !hasJob && !isInBacklog)
          .map(({ id: deliveryId, dueAt }) => ({ id: deliveryId, event: EventName.parse(event), dueAt }));
      }),
    );
    await queue.add(jobs.flat(), now());
    lined += jobs.flat().length;
    if (ids.length < PAGE) return lined;
  }
}
