import type { HistoryWriter } from '@herald/history/moving/history-writer';
import type { MoveStore, SettledBatch } from '@herald/store/moving/move-store';

export type MoveSettledDeps = {
  readonly moves: MoveStore;
  readonly history: Pick<HistoryWriter, 'write' | 'isRowRefused'>;
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
 * Of what should have moved so long ago, in ms, each batch is twice the one before, up to the largest. A batch takes
 * seven round trips and a commit, however small it is: while PostgreSQL or the processors are slow, 20 don't keep up.
 */
const BEHIND_MS = 30_000;
const LARGEST_BATCH = 100;

/**
 * Moves what settled long enough ago: insert, commit, then delete from Redis what hasn't changed since it was read. A
 * crash at any step repeats the batch, which changes nothing twice. Of a batch of which the history refuses a row, each
 * moves by itself, and the refused one is put aside.
 * @returns deliveries that left Redis
 */
export async function moveSettled(deps: MoveSettledDeps): Promise<number> {
  const { moves, history, mover, retentionMs, isStopping, report, now } = deps;
  const putAside = async (ids: SettledBatch['damaged'], settledUntil: number) => {
    if (ids.length === 0) return;
    await moves.putAside(ids, settledUntil);
    report.damaged(ids);
  };
  let alone = 0;
  let together = BATCH;
  let total = 0;
  if (!(await moves.isDue(now() - retentionMs))) return total;
  while (!isStopping()) {
    const settledUntil = now() - retentionMs;
    const limit = alone > 0 ? 1 : together;
    let batch: SettledBatch | undefined;
    try {
      await history.write(async () => (batch = await moves.take(mover, settledUntil, limit)));
    } catch (error) {
      if (!batch || !history.isRowRefused(error)) throw error;
      if (limit === 1)
        await putAside(
          batch.deliveries.map(({ delivery }) => delivery.id),
          settledUntil,
        );
      alone = limit === 1 ? alone - 1 : limit;
      continue;
    }
    if (!batch) return total;
    alone = Math.max(0, alone - 1);
    await putAside(batch.damaged, settledUntil);
    const forgotten = batch.deliveries.length > 0 ? await moves.forget(batch) : 0;
    report.moved(forgotten);
    total += forgotten;
    // What changed while it was written moves in another round.
    const goesOn = batch.looked === limit && (forgotten > 0 || batch.deliveries.length === 0);
    if (!goesOn) return total;
    const oldest = Number(batch.deliveries[0]?.score ?? settledUntil);
    together = oldest < settledUntil - BEHIND_MS ? Math.min(2 * together, LARGEST_BATCH) : BATCH;
  }
  return total;
}
