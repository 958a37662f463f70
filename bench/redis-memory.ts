import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';

export type KindOfKey = { readonly keys: number; readonly bytes: number };
export type RedisMemory = {
  /** Memory that Redis has allocated, without the buffers of its connections and its file. */
  readonly usedBytes: number;
  /** MEMORY USAGE by kind of key. */
  readonly kinds: ReadonlyMap<string, KindOfKey>;
};

const PAGE = 1_000;

/** Looks at every key: only for a Redis that nothing else uses. */
export async function readRedisMemory(url: string): Promise<RedisMemory> {
  const redis = await connectRedis({
    target: { kind: 'single', url },
    use: 'background',
    name: 'herald-bench',
    onError: () => undefined,
  });
  try {
    const kinds = new Map<string, KindOfKey>();
    let cursor = '0';
    do {
      const [next, names] = await redis.scan(cursor, 'COUNT', PAGE);
      const sizes = await Promise.all(names.map((name) => redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0')));
      names.forEach((name, index) => {
        const { keys, bytes } = kinds.get(kindOf(name)) ?? { keys: 0, bytes: 0 };
        kinds.set(kindOf(name), { keys: keys + 1, bytes: bytes + Number(sizes[index]) });
      });
      cursor = next;
    } while (cursor !== '0');
    return { usedBytes: await readUsedBytes(redis), kinds };
  } finally {
    await closeRedis(redis);
  }
}

/** Without the buffers of its connections and its file. */
export async function readUsedBytes(redis: RedisClient): Promise<number> {
  const info = await redis.info('memory');
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  return read('used_memory') - read('mem_clients_normal') - read('mem_aof_buffer');
}

function kindOf(name: string): string {
  const key = name.replace(/^\{[^}]*\}:/, '');
  if (/^d:.*:a$/.test(key)) return "delivery's attempts (d:<id>:a)";
  if (key.startsWith('d:')) return 'delivery (d:<id>)';
  if (key.startsWith('q:')) return 'waiting in a group (q:<group>)';
  if (key.startsWith('g:')) return 'group (g:<group>)';
  if (key.startsWith('x:')) return 'transition with its body (x:<id>)';
  if (/^e:.*:log(:|$)/.test(key)) return "endpoint's log (e:<id>:log, and its segments)";
  if (/^t:.*:facts$/.test(key)) return "Task's facts (t:<id>:facts)";
  if (key.startsWith('o:')) return 'order of a Task (o:<endpoint>:<task>)';
  if (key.startsWith('t:')) return 'Task (t:<id>)';
  if (/^(ready|wake):|^later$|^leases$|^queue$/.test(key)) return 'queue (ready, later, leases)';
  // Keys of a build before the queue of groups, measured for comparison.
  if (key.startsWith('deliveries:dlv_')) return 'job (deliveries:<id>)';
  if (key === 'deliveries:wait' || key === 'owed' || key === 'open')
    return 'pending work (deliveries:wait, open, owed)';
  return 'others';
}
