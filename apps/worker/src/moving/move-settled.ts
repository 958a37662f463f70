import type { HistoryFault } from '@herald/history/errors/history-errors';
import type { HistoryWriter } from '@herald/history/writing/history-writer';
import type { MoveStore, SettledBatch } from '@herald/store/bulk/move-store';

export type MoveSettledDeps = {
  readonly moves: MoveStore;
  readonly history: Pick<HistoryWriter, 'write'>;
  /** Whose fault it is that a batch wasn't written. */
  readonly judge: (error: unknown) => HistoryFault;
  /** Names this worker in the lease of the shard. */
  readonly mover: string;
  /** How long a settled delivery stays in Redis, in ms. */
  readonly retentionMs: number;
  readonly isStopping: () => boolean;
  readonly report: {
    readonly moved: (deliveries: number) => void;
    /** They were set aside. `error`: why; undefined: they can't be read. */
    readonly setAside: (ids: SettledBatch['damaged'], error?: unknown) => void;
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
 * crash at any step repeats the batch, which changes nothing twice. Of a batch of which a row can't be written, each moves
 * by itself, and that one is set aside.
 * @returns deliveries that left Redis
 */
export async function moveSettled(deps: MoveSettledDeps): Promise<number> {
  const { moves, history, judge, mover, retentionMs, isStopping, report, now } = deps;
  const setAside = async (ids: SettledBatch['damaged'], error?: unknown) => {
    if (ids.length === 0) return;
    await moves.setAside(ids, now());
    report.setAside(ids, error);
  };
  let alone = 0;
  let hadBug = false;
  let together = BATCH;
  let total = 0;
  if (!(await moves.isDue(now() - retentionMs, now()))) return total;
  while (!isStopping()) {
    const settledUntil = now() - retentionMs;
    const limit = alone > 0 ? 1 : together;
    let batch: SettledBatch | undefined;
    try {
      await history.write(async () => (batch = await moves.take(mover, settledUntil, limit, now())));
    } catch (error) {
      const fault = batch && judge(error);
      if (!batch || (fault !== 'row' && fault !== 'bug')) throw error;
      const ids = batch.deliveries.map(({ delivery }) => delivery.id);
      if (limit === 1) await setAside(ids, error);
      // A bug that the next one meets, too, is of no row.
      if (limit === 1 && fault === 'bug' && hadBug) throw error;
      hadBug = limit === 1 && fault === 'bug';
      alone = limit === 1 ? alone - 1 : limit;
      continue;
    }
    if (!batch) return total;
    hadBug = false;
    alone = Math.max(0, alone - 1);
    await setAside(batch.damaged);
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
