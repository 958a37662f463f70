import type { DeliveryId, DestinationId } from '@herald/core';
import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import { jobPrefixOf, type ShardKeys } from '../redis/keys.ts';
import { defineScript } from '../redis/script.ts';
import type { QueueName } from '../queues/queue-names.ts';
import { CLAIM_IDS_LUA } from '../redis/claim-script.ts';
import { readLoadedIfSound, type LoadReply } from './delivery-record.ts';
import type { DeliveryPlace } from './delivery-store.ts';
import {
  LEAVE_BACKLOG_LUA,
  liveScore,
  PUT_IN_BACKLOG_LUA,
  RELEASE_PROBE_LUA,
  TAKE_FROM_BACKLOG_LUA,
} from './backlog-scripts.ts';

export type TakeReply =
  | { readonly kind: 'taken'; readonly deliveries: readonly TakenDelivery[]; readonly isProbe: boolean }
  /** Nothing may go now; the sweeper knows when to look again. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'empty' };

/** A delivery under a lease. */
export type TakenDelivery = {
  readonly id: DeliveryId;
  /** As it was when it was taken; undefined when it could not be read. */
  readonly loaded: LoadReply | undefined;
};

/** The backlogs of one shard: deliveries that wait for their destination, outside BullMQ. */
export type BacklogStore = {
  /**
   * @param urgent goes first, and through an open breaker
   * @param place of the job that brought it, which ends with this
   * @returns whether it has
   */
  readonly put: (
    id: DeliveryId,
    destination: DestinationId,
    now: number,
    urgent: boolean,
    place?: DeliveryPlace,
  ) => Promise<boolean>;
  /**
   * The next deliveries, at most `limit`, under a lease until `leaseEndsAt` (epoch ms); whoever took one must `leave` it in the end. A
   * probe comes alone.
   */
  readonly take: (destination: DestinationId, now: number, leaseEndsAt: number, limit: number) => Promise<TakeReply>;
  /** Gives a delivery back that was taken and not attempted: it is visible at once. */
  readonly putBack: (id: DeliveryId, destination: DestinationId, now: number) => Promise<void>;
  /** The delivery is settled, or a job of it waits in the line. When it turns out that neither is so, it stays. */
  readonly leave: (id: DeliveryId, destination: DestinationId, now: number) => Promise<void>;
  /** What was taken as a probe did not go out: the next one may probe at once. */
  readonly releaseProbe: (destination: DestinationId, now: number) => Promise<void>;
  /** Destinations whose backlog may have nobody that serves it. */
  readonly claim: (now: number, nextLookAt: number, limit: number) => Promise<readonly DestinationId[]>;
};

/** How long a backlog may go unserved before a sweeper looks at it, in ms. */
export const UNSERVED_AFTER_MS = 2_000;
/** When a delivery that could not leave its backlog comes again, in ms. */
const COMES_AGAIN_AFTER_MS = 1_000;
const LINE: QueueName = 'deliveries';

const Taken = z.union([
  z.tuple([z.literal('taken'), z.number()], z.tuple([z.string(), z.unknown()])),
  z.tuple([z.literal('wait')]),
  z.tuple([z.literal('empty')]),
]);

export type BacklogStoreDeps = { readonly redis: RedisClient; readonly keys: ShardKeys };

export function createBacklogStore({ redis, keys }: BacklogStoreDeps): BacklogStore {
  const put = defineScript(redis, 'putInBacklog', PUT_IN_BACKLOG_LUA);
  const leave = defineScript(redis, 'leaveBacklog', LEAVE_BACKLOG_LUA);
  const take = defineScript(redis, 'takeFromBacklog', TAKE_FROM_BACKLOG_LUA);
  const releaseProbe = defineScript(redis, 'releaseProbe', RELEASE_PROBE_LUA);
  const claim = defineScript(redis, 'claimBacklogs', CLAIM_IDS_LUA);
  return {
    async put(id, destination, now, urgent, place) {
      const job = place?.kind === 'job' ? [jobPrefixOf(keys, place.queue), place.token] : ['', ''];
      const ended = await put(
        [keys.backlog(destination), keys.backlogs],
        [id, liveScore(now), destination, now + UNSERVED_AFTER_MS, urgent ? '1' : '0', now, ...job],
      );
      return ended === 1;
    },
    async take(destination, now, leaseEndsAt, limit) {
      const reply = Taken.parse(
        await take(
          [keys.backlog(destination), keys.backlogs, keys.breaker(destination)],
          [now, leaseEndsAt, destination, now + UNSERVED_AFTER_MS, limit, keys.prefix],
        ),
      );
      if (reply[0] !== 'taken') return { kind: reply[0] };
      const [, isProbe, ...rows] = reply;
      const deliveries = rows.map(([id, row]) => ({ id, loaded: readLoadedIfSound(id, row) }));
      return { kind: 'taken', deliveries, isProbe: isProbe === 1 };
    },
    async putBack(id, destination, now) {
      await Promise.all([
        redis.zadd(keys.backlog(destination), liveScore(now), id),
        redis.zadd(keys.backlogs, 'LT', now, destination),
      ]);
    },
    async leave(id, destination, now) {
      const jobs = jobPrefixOf(keys, LINE);
      await leave(
        [keys.backlog(destination), keys.backlogs, keys.delivery(id), jobs + id, `${jobs}active`],
        [id, destination, now + COMES_AGAIN_AFTER_MS],
      );
    },
    async releaseProbe(destination, now) {
      await releaseProbe([keys.breaker(destination)], [now]);
    },
    async claim(now, nextLookAt, limit) {
      return z.array(z.string()).parse(await claim([keys.backlogs], [now, nextLookAt, limit]));
    },
  };
}
