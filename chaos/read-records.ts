import { readFirstAttempt } from '@herald/store/deliveries/attempt-record';
import { mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';
import type { Keyspace, ShardKeys } from '@herald/store/keys/keys';

/** Times in ms. */
export type LoggedAttempt = { readonly at: number; readonly durationMs: number; readonly status?: number };

/** The final record of a delivery in Redis. */
export type DeliveryRecord = {
  readonly id: string;
  readonly endpointId: string;
  readonly transitionId: string;
  readonly status: string;
  readonly reason?: string;
  readonly tries: number;
  /** When its transition was accepted, epoch ms. */
  readonly createdAt: number;
  /** Epoch ms. */
  readonly settledAt?: number;
  /** Its log; attempts without an answer have no status. */
  readonly attempts: readonly LoggedAttempt[];
  /** Whether it waits in a group, or is in work. */
  readonly isCarried: boolean;
};

const CHUNK = 500;

/** All deliveries in Redis. */
export async function readRecords(redis: RedisClient, { shards }: Keyspace): Promise<DeliveryRecord[]> {
  const lists = await Promise.all(shards.map((keys) => readShard(redis, keys)));
  return lists.flat();
}

async function readShard(redis: RedisClient, { prefix, queue }: ShardKeys) {
  const names = await Promise.all(mastersOf(redis).map((master) => master.keys(`${prefix}dlv_*`)));
  const ids = names.flatMap((keys) => keys.filter((key) => !key.endsWith(':a')).map((key) => key.slice(prefix.length)));
  const groups = (await Promise.all(mastersOf(redis).map((master) => master.keys(`${prefix}q:*`)))).flat();
  const waiting = (await Promise.all(groups.map((key) => redis.zrange(key, 0, '-1')))).flat();
  const leased = (await redis.zrange(queue.leases, 0, '-1')).map((handle) => handle.split('|')[3] ?? '');
  const carried = new Set([...waiting, ...leased]);
  const records: DeliveryRecord[] = [];
  for (let first = 0; first < ids.length; first += CHUNK) {
    const chunk = ids.slice(first, first + CHUNK).map(async (id) => {
      const [fields, list] = await Promise.all([redis.hgetall(prefix + id), redis.lrange(`${prefix}${id}:a`, 0, -1)]);
      const first = readFirstAttempt(fields);
      const { e = '', x = '', s = '', n = '0', at = '', why, end } = fields;
      return {
        id,
        endpointId: e,
        transitionId: x,
        status: s,
        tries: Number(n),
        createdAt: Number(at),
        ...(why !== undefined && { reason: why }),
        ...(end !== undefined && { settledAt: Number(end) }),
        attempts: [...(first ? [first] : []), ...list.map((text) => JSON.parse(text) as LoggedAttempt)],
        isCarried: carried.has(id),
      };
    });
    records.push(...(await Promise.all(chunk)));
  }
  return records;
}
