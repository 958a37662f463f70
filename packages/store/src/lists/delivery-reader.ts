import type {
  Delivery,
  DeliveryId,
  HistoryReader,
  ListedPast,
  ListPlace,
  ListWorkspaceDeliveries,
  PastDelivery,
  WorkspaceId,
} from '@herald/core';
import { readAttempt, readFirstAttempt, type AttemptRecord } from '../deliveries/attempt-record.ts';
import { readDelivery, SHOWN_TRANSITION_FIELDS, takeFields } from '../deliveries/delivery-record.ts';
import { readHeaderNames } from '../endpoints/endpoint-record.ts';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { isAfter } from './log-reader.ts';

/** A delivery as lists show it. */
export type ListedDelivery = Delivery & {
  /** Absent before the first. */
  readonly lastAttempt?: AttemptRecord;
  /** The delivery in front of which it may not go. */
  readonly waitingFor?: DeliveryId;
};

/** A delivery with all of its attempts, oldest first. */
type FoundDelivery = { readonly delivery: ListedDelivery; readonly attempts: readonly AttemptRecord[] };

/** What Redis has of a delivery. `first`: its first attempt, unless that is in the list of the others. */
type PresentDelivery = { readonly delivery: Delivery; readonly first?: AttemptRecord | undefined };

type ShownEntry = Omit<ListEntry, 'at' | 'id' | 'last'>;

export type DeliveryReader = ReturnType<typeof createDeliveryReader>;

type DeliveryReaderDeps = {
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
    return { ...withLastAttempt(delivery, lastAttempt), ...(waitingFor !== undefined && { waitingFor }) };
  };
  /** What history has of a delivery that left Redis between the reads of its record and of a list without attempts. */
  const findMoved = async ({ workspaceId, id, status }: Delivery) => {
    if (!history || status === 'pending') return undefined;
    const isThere = (await redis.exists(keyspace.of(workspaceId).delivery(id))) === 1;
    return isThere ? undefined : await history.find(workspaceId, id);
  };

  const findLast = async ({ delivery, first, past }: ShownEntry) => {
    if (past) return { past, lastAttempt: lastOf(past) };
    const list = keyspace.of(delivery.workspaceId).attempts(delivery.id);
    // The list is asked for first: a record that is there after it was there before it.
    const [last, moved] = await Promise.all([redis.lindex(list, -1), findMoved(delivery)]);
    if (last === null && moved) {
      const listed = toListedPast(moved);
      return { past: listed, lastAttempt: lastOf(listed) };
    }
    return { lastAttempt: last === null ? first : readAttempt(last) };
  };
  const toListed = async (entry: ShownEntry): Promise<ListedDelivery> => {
    const { past, lastAttempt } = await findLast(entry);
    return past ? withLastAttempt(past.delivery, lastAttempt) : await show(entry.delivery, lastAttempt);
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
      if (past) {
        const attempts = past.attempts.map(readAttempt);
        return { delivery: withLastAttempt(past.delivery, attempts.at(-1)), attempts };
      }
      if (!present) return undefined;
      const attempts = joinAttempts(present.first, list);
      return { delivery: await show(present.delivery, attempts.at(-1)), attempts };
    },
    toListed,
    /** Its last attempt. Undefined: there was none. */
    findLast: async (entry: ShownEntry): Promise<AttemptRecord | undefined> => (await findLast(entry)).lastAttempt,
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

/** A delivery as lists show it. */
function withLastAttempt(delivery: Delivery, lastAttempt: AttemptRecord | undefined): ListedDelivery {
  return { ...delivery, ...(lastAttempt && { lastAttempt }) };
}

/** What lists need of it. */
export function toListedPast({ delivery, attempts }: PastDelivery): ListedPast {
  const last = attempts.at(-1);
  return { delivery, ...(last !== undefined && { last }) };
}

export function lastOf({ last }: ListedPast): AttemptRecord | undefined {
  return last === undefined ? undefined : readAttempt(last);
}

/** A delivery's attempts, oldest first, whichever workspace it belongs to. */
export async function readAttempts(redis: RedisClient, keys: ShardKeys, id: DeliveryId): Promise<AttemptRecord[]> {
  const [fields, list] = await Promise.all([redis.hgetall(keys.delivery(id)), redis.lrange(keys.attempts(id), 0, -1)]);
  return joinAttempts(readFirstAttempt(fields), list);
}

function joinAttempts(first: AttemptRecord | undefined, list: readonly string[]): AttemptRecord[] {
  return [...(first ? [first] : []), ...list.map(readAttempt)];
}

export type WorkspaceFilter = Omit<ListWorkspaceDeliveries, 'limit' | 'cursor' | 'sinceCursor'>;

/**
 * A delivery at its place in a list. `first`: see PresentDelivery. `past`: it is what history has, not Redis. `last`: its
 * last attempt, where the filter asks what that came to.
 */
export type ListEntry = ListPlace & {
  readonly delivery: Delivery;
  readonly first?: AttemptRecord | undefined;
  readonly past?: ListedPast;
  readonly last?: AttemptRecord | undefined;
};

/** A place that was looked at. Its delivery is absent when its record is gone. */
export type Looked = ListPlace & Partial<Omit<ListEntry, keyof ListPlace>>;

/** Records that a page with a filter looks at together, and in all: a filter that matches nothing must come to an end. */
const WINDOW = 200;
const LOOKED_AT_LIMIT = 2_000;

/**
 * Looks at deliveries until `limit` of them match. Without all of them, it may end before the end of the list.
 * @throws what `signal` was aborted with
 * @param next reads the deliveries to look at, in the order of the list; fewer than `count` are the last ones
 */
export async function readPart(
  next: (count: number) => Promise<readonly Looked[]>,
  filter: WorkspaceFilter,
  limit: number,
  signal?: AbortSignal,
): Promise<ListPart<ListEntry> & { readonly looked: ReadonlySet<string>; readonly lookedAt: number }> {
  const entries: ListEntry[] = [];
  const looked = new Set<string>();
  let last: Looked | undefined;
  let lookedAt = 0;
  const toPart = (end?: ListPlace) => ({ entries, looked, lookedAt, ...(end && { next: { at: end.at, id: end.id } }) });
  // Without a filter, nearly all of the first ones belong to the page.
  for (let count = limit; lookedAt < LOOKED_AT_LIMIT; count = WINDOW) {
    signal?.throwIfAborted();
    const some = await next(count);
    lookedAt += some.length;
    for (const { delivery, ...entry } of some) {
      last = entry;
      if (delivery) looked.add(entry.id);
      if (delivery && matches({ ...entry, delivery }, filter)) entries.push({ ...entry, delivery });
      if (entries.length === limit) return toPart(last);
    }
    if (some.length < count) return toPart();
  }
  return toPart(last);
}

type Asked = Pick<ListEntry, 'delivery' | 'last'>;

export function matches({ delivery, last }: Asked, filter: WorkspaceFilter): boolean {
  return isOfKind(delivery, filter) && hasResult({ delivery, last }, filter);
}

/** Whether the filter asks what the last attempt of a delivery came to, of one that it wants by all else. */
export function needsLast(delivery: Delivery, filter: WorkspaceFilter): boolean {
  return (filter.error !== undefined || filter.httpStatus !== undefined) && isOfKind(delivery, filter);
}

function isOfKind(delivery: Delivery, { status, event, receiver, task, since, until }: WorkspaceFilter): boolean {
  const { createdAt, endpointId, taskId } = delivery;
  return (
    (status ?? delivery.status) === delivery.status &&
    (event ?? delivery.event) === delivery.event &&
    (receiver ?? endpointId) === endpointId &&
    (task ?? taskId) === taskId &&
    (since ?? createdAt) <= createdAt &&
    (until === undefined || createdAt < until)
  );
}

/** What one source has of a list, in its order. `next`: it has looked no further than this place. Absent: to the end. */
export type ListPart<T extends ListPlace> = { readonly entries: readonly T[]; readonly next?: ListPlace };

/**
 * Makes one page of the parts of several sources, none of which repeats an entry of another. The page ends where one of
 * them has not looked any further, because what comes then is not known.
 */
export function mergeParts<T extends ListPlace>(parts: readonly ListPart<T>[], limit: number): ListPart<T> {
  const ends = parts.map(({ next }) => next).filter((next) => next !== undefined);
  const end = ends.reduce<ListPlace | undefined>(
    (first, each) => (first && isAfter(each, first) ? first : each),
    undefined,
  );
  const entries = parts
    .flatMap((part) => part.entries)
    .filter((entry) => !end || !isAfter(entry, end))
    .sort((a, b) => (isAfter(a, b) ? 1 : -1));
  const page = entries.slice(0, limit);
  const next = entries.length > limit ? page.at(-1) : end;
  return { entries: page, ...(next && { next: { at: next.at, id: next.id } }) };
}

/** What an ordered delivery waits for: the first of its line. Undefined when nothing but time keeps it. */
export async function findWaitingFor(
  redis: RedisClient,
  keys: ShardKeys,
  delivery: Delivery,
): Promise<DeliveryId | undefined> {
  const { id, endpointId, taskId } = delivery;
  if (!mayWaitForTurn(delivery) || taskId === undefined) return undefined;
  const [first] = await redis.zrange(keys.line(endpointId, taskId), 0, '0');
  return first === id ? undefined : first;
}

/** One that has been tried goes by its schedule, and a pending redelivery goes at once. */
function mayWaitForTurn({ place, status, tries, owedAttempts }: Delivery): boolean {
  return place !== undefined && status === 'pending' && tries === 0 && owedAttempts === 0;
}

/** Whether it came to what is asked for. */
export function hasResult(
  { delivery: { reason }, last }: Asked,
  { error, httpStatus }: { readonly error?: string; readonly httpStatus?: string },
): boolean {
  const status = String(last?.status ?? '');
  return (
    (error === undefined || error === last?.error || error === reason) &&
    (httpStatus === undefined || status === httpStatus || (status !== '' && `${status.charAt(0)}xx` === httpStatus))
  );
}
