import { mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';
import type { ShardKeys } from '@herald/store/keys/keys';

/** A group of a shard's queue. Times are epoch ms, by Redis' clock. */
export type GroupSeen = {
  /** Of all shards. */
  readonly name: string;
  /** The group's own count of its deliveries in work. */
  readonly inWork: number;
  readonly isSuspect: boolean;
  /** Its deliveries usually take longer than a second. */
  readonly isSlow: boolean;
  /** Its concurrency limit now. */
  readonly limit: number;
  /** The next delivery that may be sent now, and since when; absent: there is none. */
  readonly head?: { readonly id: string; readonly since: number };
  /** Its places and fields in the queue, to explain a wait. */
  readonly known: string;
};

/** Concurrency limits: of a group by default, and of a suspect one. See packages/queue/README.md. */
const LIMIT = 50;
const SUSPECT_LIMIT = 10;
/** A group whose deliveries usually take so long is slow, in ms. */
const SLOW_FROM_MS = 1_000;
/** Distance between the scores of two classes. */
const CLASS = 1e13;
const CLASSES = [0, 1, 2];
/** The part of a shard that its queue needs. */
export type QueueOfShard = Pick<ShardKeys, 'prefix' | 'queue'>;

const FIELDS = ['n', 'lim', 'ok', 'sus', 'open', 'probe', 'hold', 'p', 'took', 'tok'] as const;

/**
 * Every group of a shard with waiting deliveries. It reads key by key, and doesn't trust the queue's own lists. Under
 * load a group may change between two reads, so a judge looks more than once.
 */
export async function lookAtQueue(redis: RedisClient, { prefix, queue }: QueueOfShard): Promise<GroupSeen[]> {
  const names = (await Promise.all(mastersOf(redis).map((master) => master.keys(`${prefix}q:*`)))).flat();
  const [seconds, micros] = await redis.time();
  const now = Number(seconds) * 1_000 + Number(micros) / 1_000;
  return await Promise.all(
    names.map(async (key) => {
      const group = key.slice(`${prefix}q:`.length);
      const [fields, ...heads] = await Promise.all([
        redis.hmget(queue.group(group), ...FIELDS),
        ...CLASSES.map((each) =>
          redis.zrange(key, each * CLASS, `(${(each + 1) * CLASS}`, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES'),
        ),
      ]);
      const lookAgainAt = await redis.zscore(queue.later, group);
      const known = JSON.stringify({
        ...Object.fromEntries(FIELDS.map((name, index) => [name, fields[index]])),
        lookAgainAt,
        now,
      });
      return { ...judgeGroup(`${prefix}${group}`, group.startsWith('!'), fields, heads, now), known };
    }),
  );
}

function judgeGroup(
  name: string,
  isExpress: boolean,
  [n, lim, ok, sus, open, probe, hold, , took, tok]: readonly (string | null | undefined)[],
  heads: readonly (readonly string[])[],
  now: number,
): Omit<GroupSeen, 'known'> {
  const inWork = Number(n ?? 0);
  const isSuspect = !isExpress && (open === '1' || ok !== '1' || Number(sus ?? 0) > now);
  const isSlow = !isExpress && !isSuspect && Number(took ?? 0) >= SLOW_FROM_MS;
  const most = Math.min(Number(lim ?? LIMIT), isSuspect ? SUSPECT_LIMIT : LIMIT);
  const pausedUntil = isExpress ? 0 : Math.max(Number(hold ?? 0), open === '1' ? Number(probe ?? 0) : 0);
  // An urgent delivery ignores a pause. It is then the only one in work.
  const limit = isExpress ? Infinity : open === '1' || pausedUntil > now ? Math.min(1, most) : most;
  const first = heads
    .flatMap(([id, score], jobClass) =>
      id === undefined
        ? []
        : [
            {
              id,
              since: Math.max(Number(score) % CLASS, jobClass === 0 ? 0 : Math.max(pausedUntil, Number(tok ?? 0))),
            },
          ],
    )
    .find(({ since }) => since <= now);
  return { name, inWork, isSuspect, isSlow, limit, ...(first && { head: first }) };
}

/** Leftovers in a queue that has no work left, as sentences. */
export async function findLeftovers(redis: RedisClient, { prefix, queue }: QueueOfShard): Promise<string[]> {
  const keysLike = async (pattern: string) =>
    (await Promise.all(mastersOf(redis).map((master) => master.keys(`${prefix}${pattern}`)))).flat();
  const left: string[] = [];
  for (const key of await keysLike('q:*')) left.push(`${key} has ${await redis.zcard(key)} waiting`);
  for (const key of [queue.later, queue.ready(0), queue.ready(1), queue.ready(2), queue.ready(3)]) {
    for (const group of await redis.zrange(key, 0, '-1')) {
      const known = {
        ...(await redis.hgetall(queue.group(group))),
        at: await redis.zscore(key, group),
        now: await redis.time(),
      };
      left.push(`${key} has the group ${group}: ${JSON.stringify(known)}`);
    }
  }
  for (const handle of await redis.zrange(queue.leases, 0, '-1')) left.push(`the lease ${handle} is held`);
  for (const key of await keysLike('g:*')) {
    const [n, place] = await redis.hmget(key, 'n', 'p');
    if (Number(n ?? 0) !== 0) left.push(`${key} counts ${n ?? ''} in work`);
    if (place != null) left.push(`${key} stands in ${place}`);
  }
  const waiting = await redis.hget(queue.settings, 'n');
  if (Number(waiting ?? 0) !== 0) left.push(`${queue.settings} counts ${waiting ?? ''} waiting`);
  return left;
}
