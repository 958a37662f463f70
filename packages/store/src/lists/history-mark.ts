import { warning, type Finding } from '@herald/runtime/finding';
import { readScoredIds, type Keyspace, type ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';

type HistoryMarkDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Pick<Keyspace, 'shards'>;
};

/**
 * The mark in every shard that its data has a history, and which: scripts see it, whatever the process that runs them was
 * told. While it is there, what has settled waits for the history.
 */
export function createHistoryMark({ redis, keyspace }: HistoryMarkDeps) {
  const read = async (): Promise<string | undefined> => {
    const ids = await Promise.all(keyspace.shards.map(({ history }) => redis.get(history)));
    return ids.find((id) => id !== null) ?? undefined;
  };
  return {
    /** The id of the history; undefined: there is none. */
    read,
    /** Marks the shards that have no mark yet. Returns the id that the data has then. */
    note: async (id: string): Promise<string> => {
      const known = (await read()) ?? id;
      await Promise.all(keyspace.shards.map(({ history }) => redis.set(history, known, 'NX')));
      return (await read()) ?? known;
    },
    async write(id: string): Promise<void> {
      await Promise.all(keyspace.shards.map(({ history }) => redis.set(history, id)));
    },
    /** From now on what waits expires, in workers without a history. Returns whether there was one. */
    async remove(): Promise<boolean> {
      const counts = await Promise.all(keyspace.shards.map(({ history }) => redis.del(history)));
      return counts.includes(1);
    },
  };
}
export type HistoryMark = ReturnType<typeof createHistoryMark>;

const NOT_SET = warning(
  'history_not_set',
  'the data has a history, and HISTORY_URL is not set here: what settles waits in Redis, and what has moved is not shown',
);

/**
 * The finding that the history can't be used. Whoever tells it adds what he knows.
 * @param known `reason` is for operators alone: it may name an address
 */
export function historyAway(known: {
  readonly reason?: string;
  readonly since?: number;
  readonly waiting?: number | undefined;
}): Finding {
  const reason = known.reason === undefined ? '' : ` (${known.reason})`;
  const since = known.since === undefined ? '' : ` since ${new Date(known.since).toISOString()}`;
  const settled = known.waiting === undefined ? 'what has settled stays' : `${known.waiting} settled deliveries stay`;
  return warning(
    'history_away',
    `the history can't be used${since}${reason}: ${settled} in Redis, what has moved isn't shown, and deliveries go on; mend PostgreSQL, as "herald history status" says`,
  );
}

/** What is to be said by a process without a history, when its data has one. */
export async function findHistoryNotSet(mark: Pick<HistoryMark, 'read'>): Promise<Finding | undefined> {
  // That Redis is away is told for itself.
  return (await mark.read().catch(() => undefined)) === undefined ? undefined : NOT_SET;
}

/** Added to the score (epoch ms) of what was set aside: it comes behind all that waits. */
export const ASIDE = 10_000_000_000_000;

/**
 * How many settled deliveries of a shard are in Redis for the history, when the first of those that only wait settled, and
 * how many were set aside, because they couldn't be moved.
 */
export async function readSettledBacklog(redis: RedisClient, keys: ShardKeys) {
  const [count, aside, rows] = await Promise.all([
    redis.zcard(keys.settled),
    redis.zcount(keys.settled, ASIDE, '+inf'),
    redis.zrange(keys.settled, 0, '0', 'WITHSCORES'),
  ]);
  const [first] = readScoredIds(rows);
  return { count, aside, ...(first && first.score < ASIDE && { oldestAt: first.score }) };
}
