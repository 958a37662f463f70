import { inTransaction } from '../pool/in-transaction.ts';
import type { HistoryPool } from '../pool/create-history-pool.ts';
import { dayOf } from '../days/days.ts';
import type { Partitions } from '../partitions/partitions.ts';
import { INSERT_DELIVERIES, INSERT_TRANSITIONS } from '../sql/moving-sql.ts';
import { LOCK_FOR_MOVING } from '../sql/lock-sql.ts';
import { isRowRefused } from './is-row-refused.ts';
import { deliveryColumns, transitionColumns, type HistoryBatch } from './history-rows.ts';

export type HistoryWriterDeps = {
  readonly pool: HistoryPool;
  readonly partitions: Partitions;
  /** `HISTORY_BODIES` */
  readonly keepsBodies: boolean;
};

/** Writes what leaves Redis. */
export function createHistoryWriter({ pool, partitions, keepsBodies }: HistoryWriterDeps) {
  return {
    /**
     * Reads a batch and writes it. Once this resolves, it is durable. Writing it once more changes nothing. While this
     * runs, nobody erases: see README.md.
     * @param read undefined: there is nothing to write
     */
    async write<Batch extends HistoryBatch>(read: () => Promise<Batch | undefined>): Promise<Batch | undefined> {
      const work = inTransaction(pool, async (client) => {
        await client.query(LOCK_FOR_MOVING);
        const batch = await read();
        if (!batch || batch.deliveries.length === 0) return batch;
        await partitions.ensure(batch.deliveries.map(({ delivery }) => dayOf(delivery.createdAt)));
        await client.query({
          name: 'insert-transitions',
          text: INSERT_TRANSITIONS,
          values: transitionColumns(batch.transitions, keepsBodies),
        });
        await client.query({
          name: 'insert-deliveries',
          text: INSERT_DELIVERIES,
          values: deliveryColumns(batch.deliveries, keepsBodies),
        });
        return batch;
      });
      try {
        return await work;
      } catch (error) {
        // PostgreSQL may have been restored to a time before the days that were known.
        partitions.lookAgain();
        throw error;
      }
    },
    isRowRefused,
  };
}
export type HistoryWriter = ReturnType<typeof createHistoryWriter>;
