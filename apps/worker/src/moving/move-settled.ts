import type { HistoryWriter } from '@herald/history/moving/history-writer';
import type { MoveStore, SettledBatch } from '@herald/store/moving/move-store';

export type MoveSettledDeps = {
  readonly moves: MoveStore;
  readonly history: Pick<HistoryWriter, 'write'>;
  /** Names this worker in the lease of the shard. */
  readonly mover: string;
  /** How long a settled delivery stays in Redis, in ms. */
  readonly retentionMs: number;
  readonly isStopping: () => boolean;
  readonly report: {
    readonly moved: (deliveries: number) => void;
    readonly damaged: (ids: SettledBatch['damaged']) => void;
  };
  readonly now: () => number;
};

/**
 * Deliveries that move together. A batch holds up Redis and this process: 200 raised the 99th percentile of deliveries at
 * 500/s from 3 to 26 ms, 20 to 3.4 ms.
 */
const BATCH = 20;

/**
 * Moves what settled long enough ago: insert, commit, then delete from Redis what hasn't changed since it was read. A
 * crash at any step repeats the batch, which changes nothing twice.
 * @returns deliveries that left Redis
 */
export async function moveSettled(deps: MoveSettledDeps): Promise<number> {
  const { moves, history, mover, retentionMs, isStopping, report, now } = deps;
  for (let total = 0; ;) {
    const settledUntil = now() - retentionMs;
    if (!(await moves.isDue(settledUntil))) return total;
    const batch = await history.write(() => moves.take(mover, settledUntil, BATCH));
    if (!batch) return total;
    if (batch.damaged.length > 0) {
      await moves.putAside(batch.damaged, settledUntil);
      report.damaged(batch.damaged);
    }
    const forgotten = batch.deliveries.length > 0 ? await moves.forget(batch) : 0;
    report.moved(forgotten);
    total += forgotten;
    // What changed while it was written moves in another round.
    const goesOn = batch.looked === BATCH && (forgotten > 0 || batch.deliveries.length === 0);
    if (!goesOn || isStopping()) return total;
  }
}
