import { Cluster, Redis } from 'ioredis';
import { defineScript } from '@herald/store/redis/script';
import { freePort, startRedis, waitFor } from '@herald/test-kit';
import type { RecordedCall } from './record-call.ts';
import { putBack, readState, type RedisState, type SavedKey } from './redis-state.ts';

export type MovingSlot = Awaited<ReturnType<typeof startMovingSlot>>;

const SLOTS = 16_384;
const FORM_DEADLINE_MS = 20_000;

/** Two nodes of a cluster. The first has all slots, and one of them is on its way to the second. */
export async function startMovingSlot() {
  await using cleanUp = new AsyncDisposableStack();
  const startNode = async (epoch: number) => {
    const busPort = await freePort();
    const args = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '15000'];
    const server = cleanUp.use(await startRedis({ args }));
    const redis = cleanUp.adopt(new Redis(server.port, { maxRetriesPerRequest: 0 }), (client) => {
      client.disconnect();
    });
    await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', epoch);
    return { port: server.port, busPort, redis, id: String(await redis.call('CLUSTER', 'MYID')) };
  };
  const [from, to] = [await startNode(1), await startNode(2)];
  await from.redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, SLOTS - 1);
  await from.redis.call('CLUSTER', 'MEET', '127.0.0.1', to.port, to.busPort);
  await waitFor(
    'two nodes to know each other',
    async () => {
      const infos = await Promise.all([from, to].map(({ redis }) => redis.call('CLUSTER', 'INFO')));
      return infos.every((info) => /cluster_state:ok[^]*cluster_known_nodes:2/.test(String(info)));
    },
    FORM_DEADLINE_MS,
  );
  // Impatient: it gives up soon.
  const options = { maxRedirections: 4, retryDelayOnTryAgain: 1, redisOptions: { maxRetriesPerRequest: 0 } };
  const client = cleanUp.adopt(new Cluster([{ host: '127.0.0.1', port: from.port }], options), (cluster) => {
    cluster.disconnect();
  });
  let moving = 0;

  const migrate = async (source: Redis, port: number, names: readonly string[]): Promise<void> => {
    if (names.length > 0) await source.call('MIGRATE', '127.0.0.1', port, '', 0, 5_000, 'KEYS', ...names);
  };

  const hold = async (): Promise<void> => {
    for (const { redis } of [from, to]) await redis.call('CLUSTER', 'SETSLOT', moving, 'STABLE');
  };

  const stack = cleanUp.move();
  return {
    source: from.redis,
    /**
     * Puts all keys on the first node, and begins to move the slot of one of them.
     * @param hasGone whether a key of the slot is on the second node already
     */
    async begin(key: string, saved: readonly SavedKey[], hasGone: (name: string) => boolean): Promise<void> {
      await to.redis.flushall();
      await hold();
      await putBack(from.redis, saved);
      moving = Number(await from.redis.call('CLUSTER', 'KEYSLOT', key));
      await to.redis.call('CLUSTER', 'SETSLOT', moving, 'IMPORTING', from.id);
      await from.redis.call('CLUSTER', 'SETSLOT', moving, 'MIGRATING', to.id);
      const names = (await from.redis.call('CLUSTER', 'GETKEYSINSLOT', moving, 10_000)) as string[];
      await migrate(from.redis, to.port, names.filter(hasGone));
    },
    /** As the service does. */
    run: ({ lua, keys, args }: RecordedCall) => defineScript(client, lua)(keys, args),
    /** What both nodes hold, and the keys that both have: nobody can tell which of the two counts. */
    async readState(): Promise<{ readonly state: RedisState; readonly twice: readonly string[] }> {
      const [here, there] = [await readState(from.redis), await readState(to.redis, true)];
      return { state: new Map([...here, ...there]), twice: [...here.keys()].filter((key) => there.has(key)) };
    },
    /** Takes the move back: all keys are on the first node again. */
    async end(): Promise<void> {
      const names = (await to.redis.call('CLUSTER', 'GETKEYSINSLOT', moving, 10_000)) as string[];
      await from.redis.call('CLUSTER', 'SETSLOT', moving, 'STABLE');
      await migrate(to.redis, from.port, names);
      await hold();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
