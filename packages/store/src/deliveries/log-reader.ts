import type { DeliveryId } from '@herald/core';
import { readScoredIds } from '../keyspace/scored-ids.ts';
import type { RedisClient } from '../redis/connect-redis.ts';

/** A place in a list: the number that orders it, and the id that orders entries with the same number. Both descend. */
export type ListPlace = { readonly at: number; readonly id: DeliveryId };

/** Times of acceptance, epoch ms. */
export type TimeRange = {
  readonly since?: number;
  /** Exclusive. */
  readonly until?: number;
};

/** Whether an entry comes after a place: what is older comes later. */
export function isAfter(entry: ListPlace, place: ListPlace): boolean {
  return entry.at < place.at || (entry.at === place.at && entry.id < place.id);
}

type Source = { readonly key: string; last: ListPlace | undefined; unread: ListPlace[]; isRead: boolean };

/**
 * Reads several logs of deliveries as one, newest first, from a place on. Each entry is the time of acceptance and the
 * id of a delivery.
 */
export function createLogReader(redis: RedisClient, keys: readonly string[], range: TimeRange, after?: ListPlace) {
  const sources = keys.map((key): Source => ({ key, last: after, unread: [], isRead: false }));

  /** Reads until `count` entries of this log are known, or all. */
  const read = async (source: Source, count: number) => {
    const missing = count - source.unread.length;
    if (source.isRead || missing <= 0) return;
    const { key, last } = source;
    // A batch gives many deliveries one millisecond: this must reach beyond those of the last entry's.
    const size = missing + (last ? await redis.zcount(key, last.at, last.at) : 0);
    const rows = await redis.zrange(key, ...boundsOf(range, last), 'BYSCORE', 'REV', 'LIMIT', 0, size, 'WITHSCORES');
    const entries = readScoredIds(rows).map(({ id, score }) => ({ at: score, id }));
    source.isRead = entries.length < size;
    source.unread.push(...entries.filter((entry) => !last || isAfter(entry, last)));
    source.last = source.unread.at(-1) ?? last;
  };

  /** The next entries; fewer than `count` are the last ones. */
  return async function next(count: number): Promise<ListPlace[]> {
    await Promise.all(sources.map((source) => read(source, count)));
    // The first of all are among the first of each.
    const merged = sources.flatMap(({ unread }) => unread.slice(0, count)).sort((a, b) => (isAfter(a, b) ? 1 : -1));
    const taken = merged.slice(0, count);
    const end = taken.at(-1);
    for (const source of sources) source.unread = source.unread.filter((entry) => end && isAfter(entry, end));
    return taken;
  };
}

/**
 * The entries of a log behind a place, oldest first. It goes by place and not by rank: meanwhile others may leave.
 * @param last the last entry that was read; undefined: from the beginning of the range
 */
export async function readOldestFirst(
  redis: RedisClient,
  key: string,
  { since, until }: TimeRange,
  limit: number,
  last?: ListPlace,
): Promise<ListPlace[]> {
  // Those of the last one's millisecond come again.
  const skip = last ? await redis.zcount(key, last.at, last.at) : 0;
  const range = ['BYSCORE', 'LIMIT', 0, limit + skip, 'WITHSCORES'] as const;
  const end = until === undefined ? '+inf' : `(${until}`;
  return readScoredIds(await redis.zrange(key, last?.at ?? since ?? '-inf', end, ...range))
    .map(({ id, score }): ListPlace => ({ at: score, id }))
    .filter((entry) => !last || isAfter(last, entry))
    .slice(0, limit);
}

function boundsOf({ since, until }: TimeRange, last?: ListPlace): [from: string, to: string] {
  const end = until === undefined ? '+inf' : `(${until}`;
  const isBeforeEnd = last !== undefined && (until === undefined || last.at < until);
  return [isBeforeEnd ? String(last.at) : end, String(since ?? '-inf')];
}
