import { createHistoryEraser } from '@herald/history/writing/create-history-eraser';
import { createHistoryReader } from '@herald/history/reading/create-history-reader';
import { createDeliveryLog } from '@herald/store/lists/delivery-log';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createPayloadEraser } from '@herald/store/tasks/payload-eraser';
import { createReplaySteps } from '@herald/store/bulk/replay-steps';
import { startHistory } from '../../support/start-history.ts';
import { RETENTION_MS, startEngine } from '../engine/start-engine.ts';

export type HistoryEngine = Awaited<ReturnType<typeof startHistoryEngine>>;

/** The engine with a history: what has settled moves there when it is told to, and is read from there. */
export async function startHistoryEngine({ keepsBodies = true } = {}) {
  await using cleanUp = new AsyncDisposableStack();
  const history = cleanUp.use(await startHistory({ keepsBodies }));
  const engine = cleanUp.use(await startEngine({ hasHistory: true }));
  const { redis, keys, worker } = engine;
  const { keyspace } = engine.stores;
  const unavailable: string[] = [];
  const deadline = {
    limitMs: 5_000,
    onUnavailable: ({ message }: Error) => {
      unavailable.push(message);
    },
  };
  const { pool, writer } = history;
  const reader = createHistoryReader({ pool, ...deadline });
  const eraser = createPayloadEraser({
    redis,
    keyspace,
    retention: createDeliveryRetention(RETENTION_MS, true),
    history: {
      listSequences: (...args) => reader.listSequences(...args),
      ...createHistoryEraser({ pool, ...deadline }),
    },
  });
  /** Writes all that has settled, and leaves it in Redis. */
  const write = () => writer.write(() => worker.moves.take('test', Number.MAX_SAFE_INTEGER, 1_000));
  const stack = cleanUp.move();
  return {
    ...engine,
    history,
    reader,
    eraser,
    /** Why history couldn't be read. */
    unavailable,
    log: createDeliveryLog({ redis, keyspace, history: reader }),
    worker: { ...worker, steps: createReplaySteps({ redis, keys, keepMs: RETENTION_MS, history: reader }) },
    write,
    /** Moves all that has settled. */
    async move(): Promise<void> {
      const batch = await write();
      if (batch) await worker.moves.forget(batch);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
