import type { Finding } from '@herald/runtime/findings/finding';
import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { SHARD_TAGS } from '../keyspace/shards.ts';
import { refusalOf, type Refusal } from '../server/refusal.ts';

const WRITE_LUA = /* lua */ `
-- Writes as the scripts of Herald do, and leaves nothing.
-- KEYS[1] of this script's own
-- Returns 'written'.
redis.call('SET', KEYS[1], '1', 'PX', 1000)
redis.call('DEL', KEYS[1])
return 'written'
`;

const SENTENCES = {
  full: 'Redis is full and refuses writes (OOM); raise maxmemory, or lower RETENTION',
  disk: "Redis can't save its data, and refuses writes until it can (MISCONF); make room on its disk or give it a folder that it may write to, as its log says",
  few_replicas:
    'Redis has fewer replicas than its min-replicas-to-write and refuses writes (NOREPLICAS); start them, or lower min-replicas-to-write',
  replica:
    'Redis is a replica and refuses writes (READONLY); set REDIS_URL to its master, or make it one with REPLICAOF NO ONE',
  loading: 'Redis is loading its data (LOADING); start this again when it is done',
  cluster_down:
    'The cluster is down (CLUSTERDOWN), because some slots are served by nobody; start or repair its nodes, as redis-cli --cluster check says',
} as const satisfies Partial<Record<Refusal, string>>;

const hasSentence = (refusal: Refusal): refusal is keyof typeof SENTENCES => refusal in SENTENCES;

/** Whether every place in which Herald has keys takes writes now. Throws only when Redis can't be reached. */
export async function checkWrites(redis: RedisClient, shardCount: number): Promise<Finding[]> {
  const keys = [GLOBAL_KEYS.probe, ...SHARD_TAGS.slice(0, shardCount).map((tag) => `{${tag}}:probe`)];
  const found = await Promise.all(
    keys.map(async (key): Promise<Finding[]> => {
      try {
        await redis.eval(WRITE_LUA, 1, key);
        return [];
      } catch (thrown) {
        const refusal = refusalOf(thrown);
        if (!refusal || !hasSentence(refusal)) throw thrown;
        return [{ level: 'error', code: 'redis_refuses_writes', sentence: SENTENCES[refusal] }];
      }
    }),
  );
  return found.flat();
}
