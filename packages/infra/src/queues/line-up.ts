import type { DeliveryId, EventName, TransitionId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../redis/keys.ts';
import { defineScript } from '../redis/script.ts';
import { LINE_UP_LUA } from './line-up-script.ts';

/** The jobs of a transition that was just accepted. All of them are due. */
export type OwedJobs = {
  readonly transitionId: TransitionId;
  /** The mark "jobs owed" that its acceptance set, epoch ms. */
  readonly markedAt: number;
  readonly event: EventName;
  readonly deliveryIds: readonly DeliveryId[];
};

/** Adds the jobs of transitions and clears their marks; of one transition all at once. An id that is in line already stays as it is. */
export type LineUp = (owed: readonly OwedJobs[], now: number) => Promise<void>;

/** Jobs after which a call of the script is full: Redis does nothing else meanwhile, which is about 2 ms. */
const LINE_UP_JOBS = 200;
export type LineUpDeps = { readonly redis: RedisClient; readonly keys: ShardKeys };

/** Fills the line of a shard. Over a connection that does other work too, since each write to a connection of its own costs more than the command. */
export function createLineUp({ redis, keys }: LineUpDeps): LineUp {
  const run = defineScript(redis, 'lineUp', LINE_UP_LUA);
  const prefix = `${keys.bullPrefix}:deliveries:`;
  const scriptKeys = [...['wait', 'meta', 'id', 'active', 'marker'].map((type) => prefix + type), keys.owed];
  return async (owed, now) => {
    await Promise.all(
      inCalls(owed).map((call) =>
        run(scriptKeys, [
          ...[prefix, now],
          ...call.flatMap(({ transitionId, markedAt, event, deliveryIds }) => [
            ...[transitionId, markedAt, event, deliveryIds.length],
            ...deliveryIds,
          ]),
        ]),
      ),
    );
  };
}

function inCalls(owed: readonly OwedJobs[]): OwedJobs[][] {
  const calls: OwedJobs[][] = [];
  let room = 0;
  for (const jobs of owed) {
    if (room <= 0) {
      calls.push([]);
      room = LINE_UP_JOBS;
    }
    calls.at(-1)?.push(jobs);
    room -= 1 + jobs.deliveryIds.length;
  }
  return calls;
}
