import { waitFor } from '@herald/test-kit';
import { shardKeys } from '../../support/delivery-state.ts';
import { createDeliveryClient, type DeliveryPage } from '../../support/delivery-client.ts';
import { startGate } from '../../support/start-gate.ts';
import type { Env } from '../../support/start-herald-process.ts';
import { startHerald } from '../../support/start-herald.ts';
import { startHistory, type History } from '../../support/start-history.ts';
import { listKeys } from '../../support/start-topology.ts';
import { webhooksAt } from '../../support/webhooks.ts';

/** What Redis acknowledged survives its end. */
const KEEPS_ALL = { appendonly: true, args: ['--appendfsync', 'always'] };
const RETENTION_MS = 50;

export type SceneOptions = {
  /** Default: one of its own. */
  readonly history?: History;
  /** The API reaches PostgreSQL through the gate too. */
  readonly isApiGated?: boolean;
  readonly env?: Env;
};
export type Scene = Awaited<ReturnType<typeof startScene>>;

/** A Herald with a history, whose worker reaches both servers through gates, and all that was delivered with it. */
export async function startScene({ history: given, isApiGated = false, env: more = {} }: SceneOptions = {}) {
  await using cleanUp = new AsyncDisposableStack();
  const history = given ?? cleanUp.use(await startHistory());
  const { postgres } = history;
  const toPostgres = cleanUp.use(await startGate(postgres.port));
  const gatedUrl = postgres.url.replace(`:${postgres.port}/`, `:${toPostgres.port}/`);
  const env = { HISTORY_URL: isApiGated ? gatedUrl : postgres.url, RETENTION: `${RETENTION_MS}ms`, ...more };
  const herald = cleanUp.use(await startHerald({ workers: 0, redis: KEEPS_ALL, env }));
  const toRedis = cleanUp.use(await startGate(herald.server.port));
  const startWorker = () =>
    herald.startWorker({ REDIS_URL: `redis://127.0.0.1:${toRedis.port}`, HISTORY_URL: gatedUrl });
  let worker = await startWorker();
  // Before its ways to the servers are gone, on which it would wait.
  cleanUp.defer(async () => {
    await Promise.all(herald.workers.filter(({ process }) => !process.hasExited()).map((each) => each.stop()));
  });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const { id: receiverId } = await workspace.registerReceiver({ url: receiver.url });
  const client = createDeliveryClient(workspace);
  const { settled, mover } = shardKeys();
  const all: { readonly taskId: string; readonly ids: readonly string[] }[] = [];
  const kept = () => herald.redis.zcard(settled);
  const stack = cleanUp.move();

  /** A list, read in small pages. */
  const walk = async (read: (query: Record<string, string>) => Promise<DeliveryPage>): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await read({ limit: '2', ...(cursor !== undefined && { cursor }) });
      expect(page).not.toHaveProperty('historyUnavailable');
      ids.push(...page.deliveries.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    return ids;
  };
  return {
    herald,
    history,
    workspace,
    receiver,
    receiverId,
    client,
    toPostgres,
    /** `HISTORY_URL` through the gate. */
    gatedUrl,
    toRedis,
    mover,
    get worker() {
      return worker;
    },
    startWorker: async () => (worker = await startWorker()),
    /** Settled deliveries that are in Redis. */
    kept,
    /** Rows of deliveries; each has an id of its own. */
    async countRows(): Promise<number> {
      const sql = 'SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM herald.deliveries';
      const [row] = await history.rows(sql);
      expect(row?.rows).toBe(row?.ids);
      return Number(row?.rows);
    },
    /** Closes Tasks, each with a callback, and waits until their deliveries are settled: two of each. */
    async deliver(tasks: number): Promise<void> {
      const former = receiver.requests.length;
      for (let index = 0; index < tasks; index++) {
        const emitted = await client.emit({ callback: { url: receiver.url } });
        all.push({ taskId: emitted.taskId, ids: [emitted.to({ id: receiverId }), emitted.toCallback] });
      }
      // Those that are settled first may move before the last one is.
      await waitFor('all to arrive', () => receiver.requests.length >= former + 2 * tasks);
      await herald.settled();
    },
    /** Waits until all that is settled is old enough to move, also for a round that has just begun. */
    async waitUntilDue(): Promise<void> {
      const [, at = '0'] = await herald.redis.zrevrange(settled, 0, 0, 'WITHSCORES');
      await waitFor('all to be due', () => Date.now() > Number(at) + 20 * RETENTION_MS);
    },
    /** Waits until nothing is left in Redis. */
    async waitUntilMoved(deadlineMs = 20_000): Promise<void> {
      await waitFor('all to have moved', async () => (await kept()) === 0, deadlineMs);
      expect(await listKeys(herald.redis, '*}:dlv_*')).toEqual([]);
      expect(await listKeys(herald.redis, '*}:trn_*')).toEqual([]);
    },
    /** Every delivery was sent once, and is in every list once. */
    async expectEachOnce(): Promise<void> {
      const ids = all.flatMap((each) => each.ids).sort();
      expect((await walk((query) => client.listAll(query))).sort()).toEqual(ids);
      const toReceiver = await walk((query) => client.list({ id: receiverId }, query));
      expect(toReceiver).toEqual(all.map((each) => each.ids[0]).toReversed());
      expect(
        webhooksAt(receiver)
          .map(({ deliveryId }) => deliveryId)
          .sort(),
      ).toEqual(ids);
    },
    /** The last of them can be read as they were sent, by themselves and by their Tasks. */
    async expectReadable(tasks: number): Promise<void> {
      for (const { taskId, ids } of all.slice(-tasks)) {
        expect((await walk((query) => client.listByTask(taskId, query))).sort()).toEqual([...ids].sort());
        for (const id of ids) {
          const { status, attempts, request } = await client.read(id);
          expect({ status, attempts: attempts.length }).toEqual({ status: 'delivered', attempts: 1 });
          const sent = webhooksAt(receiver).find(({ deliveryId }) => deliveryId === id);
          expect(request.body).toBe(sent?.request.rawBody.toString());
        }
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
