import { error, warning, type Finding } from '@herald/runtime/findings/finding';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { SHARD_TAGS } from '../keyspace/shards.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../scripts/script.ts';
import { refusalOf, type Refusal } from '../server/refusal.ts';

const WRITE_LUA = /* lua */ `
-- Write as the scripts of Herald do, and leave nothing.
-- KEYS[1] a key of this script alone
-- Returns 'written'.
redis.call('SET', KEYS[1], '1', 'PX', 1000)
redis.call('DEL', KEYS[1])
return 'written'
`;

const SENTENCES: Partial<Record<Refusal, string>> = {
  full: 'Redis is full and refuses writes (OOM); raise maxmemory, or purge what "herald queues --by-workspace" shows',
  disk: "Redis can't save its data, and refuses writes until it can (MISCONF); make room on its disk or give it a folder that it may write to, as its log says",
  few_replicas:
    'Redis has fewer replicas than its min-replicas-to-write and refuses writes (NOREPLICAS); start them, or lower min-replicas-to-write',
  replica:
    'Redis is a replica and refuses writes (READONLY); set REDIS_URL to its master, or make it one with REPLICAOF NO ONE',
  loading: 'Redis is loading its data (LOADING); start this again when it is done',
  cluster_down:
    'The cluster is down (CLUSTERDOWN), because some slots are served by nobody; start or repair its nodes, as redis-cli --cluster check says',
};

/** Whether every slot in which Herald has keys takes writes now. Throws only when Redis can't be reached. */
export async function checkWrites(redis: RedisClient, shardCount: number): Promise<Finding[]> {
  const write = defineScript(redis, WRITE_LUA);
  const keys = [GLOBAL_KEYS.probe, ...SHARD_TAGS.slice(0, shardCount).map((tag) => `{${tag}}:probe`)];
  const found = await Promise.all(
    keys.map(async (key) => {
      try {
        await write([key], []);
        return [];
      } catch (thrown) {
        const refusal = refusalOf(thrown);
        const sentence = refusal && SENTENCES[refusal];
        if (sentence === undefined) throw thrown;
        // What ends or frees something goes on when Redis is full, so a process may start; but not begin.
        const isUsable = refusal === 'full' && (await redis.exists(GLOBAL_KEYS.shards)) === 1;
        return [(isUsable ? warning : error)('redis_refuses_writes', sentence)];
      }
    }),
  );
  return found.flat();
}
