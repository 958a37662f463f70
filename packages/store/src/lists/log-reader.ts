import type { EndpointId, ListPlace } from '@herald/core';
import { JOBS_LUA } from '@herald/queue';
import { z } from 'zod';
import { TEST_GROUP } from '../keys/groups.ts';
import { readScoredIds, type ShardKeys } from '../keys/keys.ts';
import { COUNT_LOG_LUA, READ_LOG_LUA } from '../keys/segment-lua.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';

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

/** Jobs of a receiver, and those in work, of which its pending deliveries are found. Of more, most of its log is pending. */
const PENDING_AMONG = 1_000;

const READ_PENDING_LUA = /* lua */ `
-- Read the pending deliveries of a receiver by what the queue has of it, not by its log.
-- KEYS[1] endpoint (hash)
-- ARGV[1] prefix   ARGV[2] its id, which is the name of its group   ARGV[3] most jobs to look at
-- Returns {id, time of acceptance, ...}, in no order; nil: there are more jobs than that.
local prefix, found = ARGV[1], {}
${JOBS_LUA}
for _, group in ipairs({ ARGV[2], '${TEST_GROUP}' }) do
  local ids = jobsOf(group, tonumber(ARGV[3]))
  if not ids then return nil end
  for _, id in ipairs(ids) do
    local facts = redis.call('HMGET', prefix .. id, 's', 'e', 'at')
    if facts[1] == 'pending' and facts[2] == ARGV[2] then
      found[#found + 1] = id
      found[#found + 1] = facts[3]
    end
  end
end
return found
`;
const Rows = z.array(z.string()).nullable();
const Counted = z.tuple([z.number(), z.number()]);

type Source = { readonly key?: string; last: ListPlace | undefined; unread: ListPlace[]; isRead: boolean };

/** Reads logs of deliveries. Each entry is the time of acceptance and the id of a delivery. */
export function createLogReader(redis: RedisClient) {
  const readEntries = defineScript(redis, READ_ENTRIES_LUA);
  const countEntries = defineScript(redis, COUNT_LOG_LUA);
  const readPending = defineScript(redis, READ_PENDING_LUA);
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

    /**
     * The pending deliveries of a receiver, in no order; undefined when they are so many that most of the newest of its log
     * are pending.
     */
    async findPending(keys: ShardKeys, receiverId: EndpointId): Promise<readonly ListPlace[] | undefined> {
      const reply = await readPending([keys.endpoint(receiverId)], [keys.prefix, receiverId, PENDING_AMONG]);
      const rows = Rows.parse(reply);
      if (!rows) return undefined;
      const places = readScoredIds(rows).map(({ id, score }): ListPlace => ({ at: score, id }));
      return [...new Map(places.map((place) => [place.id, place])).values()];
    },

    /**
     * Reads several logs as one, newest first, from a place on: each call the next entries. Fewer are the last ones.
     * @param logs their names, or what is in them
     */
    newestFirst(logs: readonly (string | readonly ListPlace[])[], range: TimeRange, after?: ListPlace) {
      const { since = -Infinity, until = Infinity } = range;
      const isAsked = (entry: ListPlace) =>
        entry.at >= since && entry.at < until && (after === undefined || isAfter(entry, after));
      const sources = logs.map((log): Source =>
        typeof log === 'string'
          ? { key: log, last: after, unread: [], isRead: false }
          : { last: after, unread: log.filter(isAsked).sort(newestFirst), isRead: true },
      );
      /** Reads until `count` entries of this log are known, or all. */
      const fill = async (source: Source, count: number) => {
        const missing = count - source.unread.length;
        if (source.isRead || source.key === undefined || missing <= 0) return;
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
