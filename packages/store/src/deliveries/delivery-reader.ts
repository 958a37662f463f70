import type { Delivery, DeliveryId, HistoryReader, PastDelivery, WorkspaceId } from '@herald/core';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import { findWaitingFor } from '../ordering/find-waiting-for.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { readHeaderNames } from '../endpoints/endpoint-record.ts';
import { readAttempt, type AttemptRecord } from './attempt-record.ts';
import { readFirstAttempt } from './first-attempt.ts';
import { readDelivery, SHOWN_TRANSITION_FIELDS, takeFields } from './delivery-record.ts';
import type { ListEntry } from './read-part.ts';

/** A delivery as lists show it. */
export type ListedDelivery = Delivery & {
  /** Absent before the first. */
  readonly lastAttempt?: AttemptRecord;
  /** The delivery in front of which it may not go. */
  readonly waitingFor?: DeliveryId;
};

/** A delivery with all of its attempts, oldest first. */
export type FoundDelivery = { readonly delivery: ListedDelivery; readonly attempts: readonly AttemptRecord[] };

/** What Redis has of a delivery. `first`: its first attempt, unless that is in the list of the others. */
export type PresentDelivery = { readonly delivery: Delivery; readonly first?: AttemptRecord | undefined };

export type DeliveryReader = ReturnType<typeof createDeliveryReader>;

export type DeliveryReaderDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly history?: HistoryReader | undefined;
};

/** Reads the records of the deliveries of workspaces. None sees those of another. */
export function createDeliveryReader({ redis, keyspace, history }: DeliveryReaderDeps) {
  const read = async (workspaceId: WorkspaceId, id: DeliveryId): Promise<PresentDelivery | undefined> => {
    const keys = keyspace.of(workspaceId);
    const fields = await redis.hgetall(keys.delivery(id));
    if (fields.x === undefined) return undefined;
    const values = await redis.hmget(keys.transition(fields.x), ...SHOWN_TRANSITION_FIELDS);
    const transition = takeFields(SHOWN_TRANSITION_FIELDS, values);
    if (transition.ws !== workspaceId) return undefined;
    return { delivery: readDelivery(id, fields, transition), first: readFirstAttempt(fields) };
  };
  const show = async (delivery: Delivery, lastAttempt: AttemptRecord | undefined): Promise<ListedDelivery> => {
    const waitingFor = await findWaitingFor(redis, keyspace.of(delivery.workspaceId), delivery);
    return { ...delivery, ...(lastAttempt && { lastAttempt }), ...(waitingFor !== undefined && { waitingFor }) };
  };
  /** What history has of a delivery that left Redis between the reads of its record and of a list without attempts. */
  const findMoved = async ({ workspaceId, id, status }: Delivery) => {
    if (!history || status === 'pending') return undefined;
    const isThere = (await redis.exists(keyspace.of(workspaceId).delivery(id))) === 1;
    return isThere ? undefined : await history.find(workspaceId, id);
  };

  return {
    /** What Redis has of it. */
    read,
    /** A delivery of Redis or of history. */
    async find(workspaceId: WorkspaceId, id: DeliveryId): Promise<FoundDelivery | undefined> {
      const [present, list] = await Promise.all([
        read(workspaceId, id),
        redis.lrange(keyspace.of(workspaceId).attempts(id), 0, -1),
      ]);
      // Redis was read first: what has left it since then is in history.
      const past = present
        ? list.length === 0 && (await findMoved(present.delivery))
        : await history?.find(workspaceId, id);
      if (past) return { delivery: showPast(past), attempts: past.attempts.map(readAttempt) };
      if (!present) return undefined;
      const attempts = joinAttempts(present.first, list);
      return { delivery: await show(present.delivery, attempts.at(-1)), attempts };
    },
    async toListed({ delivery, first, past }: Omit<ListEntry, 'at' | 'id'>): Promise<ListedDelivery> {
      if (past) return showPast(past);
      const list = keyspace.of(delivery.workspaceId).attempts(delivery.id);
      // The list is asked for first: a record that is there after it was there before it.
      const [last, moved] = await Promise.all([redis.lindex(list, -1), findMoved(delivery)]);
      if (last === null && moved) return showPast(moved);
      return await show(delivery, last === null ? first : readAttempt(last));
    },
    /**
     * What is sent of a delivery. `url` is the endpoint's now, absent when it was removed; attempts before
     * `urlChangedAt` (epoch ms) went to another. `headerNames` are of the endpoint's own headers. `body` is absent when it is no longer kept.
     */
    readContent: async (delivery: Delivery) => {
      const { workspaceId, endpointId, transitionId, erasedAt } = delivery;
      const keys = keyspace.of(workspaceId);
      const [[url, changedAt, headersOf, origin], present] = await Promise.all([
        redis.hmget(keys.endpoint(endpointId), 'url', 'urlAt', 'hdrOf', 'dst'),
        redis.hget(keys.transition(transitionId), 'body'),
      ]);
      const headerNames = readHeaderNames(headersOf, origin ?? '');
      const isPast = present === null && erasedAt === undefined;
      const body = isPast ? (await history?.findTransition(delivery))?.body : present;
      return {
        ...(url != null && { url }),
        ...(headerNames && { headerNames }),
        ...(changedAt != null && { urlChangedAt: Number(changedAt) }),
        ...(body != null && { body }),
      };
    },
  };
}

/** A delivery of history as lists show it. */
export function showPast({ delivery, attempts }: PastDelivery): ListedDelivery {
  const last = attempts.at(-1);
  return { ...delivery, ...(last !== undefined && { lastAttempt: readAttempt(last) }) };
}

/** A delivery's attempts, oldest first, whichever workspace it belongs to. */
export async function readAttempts(redis: RedisClient, keys: ShardKeys, id: DeliveryId): Promise<AttemptRecord[]> {
  const [fields, list] = await Promise.all([redis.hgetall(keys.delivery(id)), redis.lrange(keys.attempts(id), 0, -1)]);
  return joinAttempts(readFirstAttempt(fields), list);
}

function joinAttempts(first: AttemptRecord | undefined, list: readonly string[]): AttemptRecord[] {
  return [...(first ? [first] : []), ...list.map(readAttempt)];
}
