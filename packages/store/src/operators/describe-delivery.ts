import {
  groupOf,
  isNotice,
  PLATFORM,
  type Delivery,
  type DeliveryId,
  type EndpointId,
  type ListPlace,
  type PastDelivery,
} from '@herald/core';
import { EXPRESS_MARK, type GroupState } from '@herald/queue';
import { mapInChunks } from '@herald/runtime/chunks';
import { readAttempt, readFirstAttempt, type AttemptRecord } from '../deliveries/attempt-record.ts';
import { readDelivery, SHOWN_TRANSITION_FIELDS, takeFields } from '../deliveries/delivery-record.ts';
import { createGroupReaders, type GroupReadersDeps } from '../endpoints/receiver-store.ts';
import { readScoredIds, type Keyspace, type ShardKeys } from '../keys/keys.ts';
import { findWaitingFor } from '../lists/delivery-reader.ts';
import { isAfter } from '../lists/log-reader.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { createStatsReader, timeToEmpty, toSentPerSecond } from '../stats/stats-reader.ts';

/** A delivery as an operator sees it: no secret, no body, and of the url the host alone. */
export type DeliveryDescription = {
  readonly delivery: Delivery;
  /**
   * Host and port of the endpoint's url; the rest of it may hold tokens. Of a notice, the variable that has the url.
   * Absent when the endpoint was removed.
   */
  readonly host?: string;
  readonly endpointState: 'enabled' | 'disabled' | 'removed';
  /** Attempts in its log, redeliveries included. */
  readonly attempts: number;
  /** Absent before the first. */
  readonly lastAttempt?: AttemptRecord;
  /** Status or error code of the last attempt; absent before the first. */
  readonly lastOutcome?: string;
  /** The delivery in front of which it may not go. */
  readonly waitingFor?: DeliveryId;
  /** Where it waits. */
  readonly group: string;
};

/**
 * Undefined when there is no record.
 * @param findPast looks for one that has left Redis
 */
export async function describeDelivery(
  redis: RedisClient,
  keys: ShardKeys,
  id: DeliveryId,
  findPast?: (id: DeliveryId) => Promise<PastDelivery | undefined>,
): Promise<DeliveryDescription | undefined> {
  const [fields, length, last] = await Promise.all([
    redis.hgetall(keys.delivery(id)),
    redis.llen(keys.attempts(id)),
    redis.lindex(keys.attempts(id), -1),
  ]);
  const { x, e } = fields;
  if (x !== undefined && e !== undefined) {
    const [values, endpoint] = await Promise.all([
      redis.hmget(keys.transition(x), ...SHOWN_TRANSITION_FIELDS),
      readEndpointFacts(redis, keys, e),
    ]);
    const transition = takeFields(SHOWN_TRANSITION_FIELDS, values);
    // Redis lost the transition but kept the record, which a failover can cause: a worker ends the delivery.
    if (transition.ws !== undefined && transition.ev !== undefined) {
      const delivery = readDelivery(id, fields, transition);
      const waitingFor = isNotice(delivery.event) ? undefined : await findWaitingFor(redis, keys, delivery);
      const first = readFirstAttempt(fields);
      const attempts = length + (first ? 1 : 0);
      const lastAttempt = last === null ? first : readAttempt(last);
      return describe(delivery, { attempts, lastAttempt, endpoint, waitingFor });
    }
  }
  const past = await findPast?.(id);
  if (!past) return undefined;
  const endpoint = await readEndpointFacts(redis, keys, past.delivery.endpointId);
  const lastAttempt = past.attempts.map(readAttempt).at(-1);
  return describe(past.delivery, { attempts: past.attempts.length, lastAttempt, endpoint });
}

/** Url, whether it is enabled, and its origin. */
const readEndpointFacts = (redis: RedisClient, keys: ShardKeys, id: EndpointId) =>
  redis.hmget(keys.endpoint(id), 'url', 'on', 'dst');

type Found = {
  readonly attempts: number;
  readonly lastAttempt: AttemptRecord | undefined;
  readonly endpoint: Awaited<ReturnType<typeof readEndpointFacts>>;
  readonly waitingFor?: DeliveryId | undefined;
};

function describe(delivery: Delivery, { attempts, lastAttempt, endpoint, waitingFor }: Found): DeliveryDescription {
  const [url, on, origin] = endpoint;
  const { endpointId } = delivery;
  const lastOutcome = lastAttempt?.status === undefined ? lastAttempt?.error : String(lastAttempt.status);
  const log = {
    attempts,
    ...(lastAttempt && { lastAttempt }),
    ...(lastOutcome !== undefined && { lastOutcome }),
  };
  if (isNotice(delivery.event)) {
    return {
      delivery,
      host: 'NOTICE_URL',
      endpointState: 'enabled',
      ...log,
      group: endpointId,
    };
  }
  return {
    delivery,
    ...(waitingFor !== undefined && { waitingFor }),
    ...(url != null && { host: URL.parse(url)?.host ?? '' }),
    endpointState: url == null ? 'removed' : on === '1' ? 'enabled' : 'disabled',
    ...log,
    group: groupOf(endpointId, origin ?? endpointId),
  };
}

type FailedViewDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Pick<Keyspace, 'shards'>;
  /** How long a settled record is kept, in ms. */
  readonly keepMs: number;
  /** Whether it shows failed test events too. They are no lost work, so they have an index of their own. */
  readonly withTests?: boolean;
};

/** The latest failed deliveries of some shards: those without tries left, and those that waited too long. */
export function createFailedView({ redis, keyspace, keepMs, withTests = false }: FailedViewDeps) {
  const indexes = keyspace.shards.flatMap((keys) =>
    [keys.failed, ...(withTests ? [keys.failedTests] : [])].map((index) => ({ keys, index })),
  );
  /** What each index answers, newest first. */
  const readIndexes = async (read: (index: string) => Promise<string[]>) => {
    const entries = await Promise.all(
      indexes.map(async ({ keys, index }) =>
        readScoredIds(await read(index)).map(({ id, score }) => ({ at: score, id, keys })),
      ),
    );
    return entries.flat().sort((a, b) => (isAfter(a, b) ? 1 : -1));
  };
  /** The newest entries of each index: at least the first `count` of all. */
  const readNewest = (now: number, count: number, before: number | string = '+inf') =>
    readIndexes((index) =>
      redis.zrange(index, before, String(now - keepMs), 'BYSCORE', 'REV', 'LIMIT', 0, count, 'WITHSCORES'),
    );
  /** It goes by place and not by rank: meanwhile others may leave. */
  const readBehind = async (now: number, count: number, after: ListPlace) => {
    const [ofMoment, older] = await Promise.all([
      readIndexes((index) => redis.zrange(index, String(after.at), String(after.at), 'BYSCORE', 'REV', 'WITHSCORES')),
      readNewest(now, count, `(${after.at}`),
    ]);
    return [...ofMoment.filter((entry) => isAfter(entry, after)), ...older];
  };
  return {
    async count(now: number) {
      const counts = await Promise.all(indexes.map(({ index }) => redis.zcount(index, now - keepMs, '+inf')));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    /**
     * The deliveries of a page, newest first, without those that are gone, or no longer failed.
     * @param after where the page before ended. `next`: there may be more behind this place
     */
    async list(now: number, limit: number, after?: ListPlace): Promise<FailedPage> {
      const entries = await (after ? readBehind(now, limit + 1, after) : readNewest(now, limit + 1));
      const page = entries.slice(0, limit);
      const last = page.at(-1);
      const found = await Promise.all(page.map(({ keys, id }) => describeDelivery(redis, keys, id)));
      return {
        deliveries: found
          .filter((delivery) => delivery !== undefined)
          .filter(({ delivery }) => delivery.status === 'failed'),
        ...(entries.length > limit && last && { next: { at: last.at, id: last.id } }),
      };
    },
    /** The ids from one rank to another, as the board asks for them, also of those that are gone or no longer failed. */
    async listIds(now: number, start: number, end: number) {
      return (await readNewest(now, end + 1)).slice(start, end + 1).map(({ id }) => id);
    },
  };
}

type FailedPage = { readonly deliveries: readonly DeliveryDescription[]; readonly next?: ListPlace };

/** Notices that are looked at in each shard, the newest ones. */
const MOST_NOTICES = 1_000;
/** There may be 64 shards, and each description takes several commands. */
const DESCRIBED_AT_ONCE = 500;

type NoticeViewDeps = { readonly redis: RedisClient; readonly keyspace: Pick<Keyspace, 'shards'> };

/** The deliveries of notices to the platform, as an operator sees them. */
export function createNoticeView({ redis, keyspace }: NoticeViewDeps) {
  return {
    /** Newest first, those made since then (epoch ms). */
    async list(since?: number) {
      const range = ['BYSCORE', 'REV', 'LIMIT', 0, MOST_NOTICES, 'WITHSCORES'] as const;
      const entries = await Promise.all(
        keyspace.shards.map(async (keys) => {
          const rows = await redis.zrange(keys.notices, '+inf', String(since ?? '-inf'), ...range);
          return readScoredIds(rows).map((entry) => ({ ...entry, keys }));
        }),
      );
      const newestFirst = entries.flat().sort((a, b) => b.score - a.score);
      const found = await mapInChunks(newestFirst, DESCRIBED_AT_ONCE, ({ keys, id }) =>
        describeDelivery(redis, keys, id),
      );
      return found.filter((delivery) => delivery !== undefined);
    },
  };
}

/**
 * A group with waiting deliveries: those of a receiver, those of a workspace to callbacks of one origin, or notices.
 * `delivery`: the first one; absent when its record is gone.
 *
 * `sentPerSecond`: attempts, in the last minute or two; `emptyInMs`: when what is due will be sent at this rate, if no more
 * comes. Absent where nothing counts them, or where nothing goes.
 */
export type GroupDescription = GroupState & {
  readonly kind: 'receiver' | 'callbacks' | 'notices';
  readonly delivery?: DeliveryDescription;
  readonly sentPerSecond?: number;
  readonly emptyInMs?: number;
};

/** Groups per shard: more than anyone reads. */
const MOST_GROUPS = 500;
const SHARDS_AT_ONCE = 4;
/** The largest groups, of which the rates are read: some 20 KB each. */
const WITH_RATES = 100;

/** The groups of all shards, as an operator sees them. */
export function createGroupView(deps: GroupReadersDeps) {
  const shards = [...createGroupReaders(deps)];
  const stats = createStatsReader(deps);
  const withRate = async (group: GroupDescription): Promise<GroupDescription> => {
    if (group.kind !== 'receiver' || !group.delivery) return group;
    const at = deps.now();
    const minutes = await stats.ofReceiver(group.delivery.delivery.workspaceId, group.group, '1h');
    const sentPerSecond = toSentPerSecond(minutes, at);
    const isHeldUp = group.isStopped || group.isOpen || group.heldUntil !== undefined;
    const rates = { acceptedPerSecond: 0, deliveredPerSecond: isHeldUp ? 0 : sentPerSecond };
    const emptyInMs = timeToEmpty(group.due, rates);
    return { ...group, sentPerSecond, ...(emptyInMs !== undefined && { emptyInMs }) };
  };
  const listIn = async ([keys, groups]: (typeof shards)[number]): Promise<GroupDescription[]> => {
    // Test events wait in a group that belongs to nobody.
    const found = (await groups.list(MOST_GROUPS)).filter(({ group }) => !group.startsWith(EXPRESS_MARK));
    return await Promise.all(
      found.map(async (group) => {
        const delivery = group.first && (await describeDelivery(deps.redis, keys, group.first.id));
        return { ...group, kind: kindOf(group.group), ...(delivery && { delivery }) };
      }),
    );
  };
  return {
    /** Those with the most waiting deliveries first. Of very many, only those that are served soonest. */
    async list() {
      const found = await mapInChunks(shards, SHARDS_AT_ONCE, listIn);
      const groups = found.flat().sort((a, b) => b.waiting - a.waiting);
      return [...(await Promise.all(groups.slice(0, WITH_RATES).map(withRate))), ...groups.slice(WITH_RATES)];
    },
  };
}

function kindOf(group: string): GroupDescription['kind'] {
  if (group === PLATFORM) return 'notices';
  return group.startsWith('wh') ? 'receiver' : 'callbacks';
}
