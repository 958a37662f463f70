import type { ListPlace } from '@herald/core';
import { z } from 'zod';
import { readScoredIds } from '../keyspace/scored-ids.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../scripts/script.ts';
import { READ_LOG_LUA } from './read-log-lua.ts';
import { COUNT_LOG_LUA } from './segment-lua.ts';

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

const newestFirst = (a: ListPlace, b: ListPlace) => (isAfter(a, b) ? 1 : -1);

const READ_ENTRIES_LUA = /* lua */ `
-- Read entries of a log of deliveries, see readLog.
-- KEYS[1] log (zset)
-- ARGV[1] 'newest' | 'oldest', which come first   ARGV[2], ARGV[3] bounds   ARGV[4] how many
-- ARGV[5], ARGV[6] time and id of the entry before them, if there is one
-- Returns {id, time, id, time, ...}: at least so many of the first ones, in no order. nil: read again.
${READ_LOG_LUA}
local last = ARGV[5] and { at = ARGV[5], id = ARGV[6] }
local reply, found = {}, readLog(KEYS[1], ARGV[1] == 'newest', ARGV[2], ARGV[3], last, tonumber(ARGV[4]))
if not found then return nil end
for _, entry in ipairs(found) do
  reply[#reply + 1] = entry.id
  reply[#reply + 1] = entry.at
end
return reply
`;
const Rows = z.array(z.string()).nullable();
const Counted = z.tuple([z.number(), z.number()]);

type Source = { readonly key: string; last: ListPlace | undefined; unread: ListPlace[]; isRead: boolean };

/** Reads logs of deliveries. Each entry is the time of acceptance and the id of a delivery. */
export function createLogReader(redis: RedisClient) {
  const readEntries = defineScript(redis, READ_ENTRIES_LUA);
  const countEntries = defineScript(redis, COUNT_LOG_LUA);
  const read = async (
    order: 'newest' | 'oldest',
    key: string,
    { since, until }: TimeRange,
    count: number,
    last: ListPlace | undefined,
  ): Promise<ListPlace[]> => {
    const low = since ?? '-inf';
    const high = until === undefined ? '+inf' : `(${until}`;
    const isWithin = last !== undefined && (until === undefined || last.at < until);
    const bounds = order === 'oldest' ? [last?.at ?? low, high] : [isWithin ? last.at : high, low];
    const args = [order, ...bounds, count, ...(last ? [last.at, last.id] : [])];
    let rows: string[] | null = null;
    while (rows === null) rows = Rows.parse(await readEntries([key], args));
    const entries = readScoredIds(rows).map(({ id, score }): ListPlace => ({ at: score, id }));
    entries.sort(order === 'newest' ? newestFirst : (a, b) => newestFirst(b, a));
    return entries.slice(0, count);
  };
  return {
    /** How many entries of a log are in a range. Others may come and go meanwhile. */
    async count(key: string, { since, until }: Required<TimeRange>): Promise<number> {
      let sum = 0;
      for (let counted = 0; counted >= 0;) {
        const [entries, next] = Counted.parse(await countEntries([key], [since, until, counted]));
        sum += entries;
        counted = next;
      }
      return sum;
    },

    /** Reads several logs as one, newest first, from a place on: each call the next entries. Fewer are the last ones. */
    newestFirst(keys: readonly string[], range: TimeRange, after?: ListPlace) {
      const sources = keys.map((key): Source => ({ key, last: after, unread: [], isRead: false }));
      /** Reads until `count` entries of this log are known, or all. */
      const fill = async (source: Source, count: number) => {
        const missing = count - source.unread.length;
        if (source.isRead || missing <= 0) return;
        const entries = await read('newest', source.key, range, missing, source.last);
        source.isRead = entries.length < missing;
        source.unread.push(...entries);
        source.last = source.unread.at(-1) ?? source.last;
      };
      return async function next(count: number): Promise<ListPlace[]> {
        await Promise.all(sources.map((source) => fill(source, count)));
        // The first of all are among the first of each.
        const merged = sources.flatMap(({ unread }) => unread.slice(0, count)).sort(newestFirst);
        const taken = merged.slice(0, count);
        const end = taken.at(-1);
        for (const source of sources) source.unread = source.unread.filter((entry) => end && isAfter(entry, end));
        return taken;
      };
    },

    /**
     * The entries of a log behind a place, oldest first. It goes by place and not by rank: meanwhile others may leave.
     * @param last the last entry that was read; undefined: from the beginning of the range
     */
    oldestFirst: (key: string, range: TimeRange, limit: number, last?: ListPlace) =>
      read('oldest', key, range, limit, last),
  };
}
