import type { MovedBatch, MovedDelivery, MovedTransition } from '@herald/core';
import { dayOf, type Partitions } from '../partitions/partitions.ts';
import { inTransaction, type HistoryPool } from '../pool/create-history-pool.ts';
import { toIdBytes, withoutAnswer } from '../reading/delivery-row.ts';
import { INSERT_DELIVERIES, INSERT_TRANSITIONS, LOCK_FOR_MOVING } from '../sql/history-sql.ts';

type HistoryWriterDeps = {
  readonly pool: HistoryPool;
  readonly partitions: Partitions;
  /** `HISTORY_BODIES` */
  readonly keepsBodies: boolean;
};

/** A batch of 200 takes some 10 ms. */
const LIMITS = { statementMs: 20_000 };

/** Writes what leaves Redis. */
export function createHistoryWriter({ pool, partitions, keepsBodies }: HistoryWriterDeps) {
  return {
    /**
     * Reads a batch and writes it. Once this resolves, it is durable. Writing it once more changes nothing. While this
     * runs, nobody erases: see README.md.
     * @param read undefined: there is nothing to write
     */
    async write<Batch extends MovedBatch>(read: () => Promise<Batch | undefined>): Promise<Batch | undefined> {
      try {
        const { batch, made } = await inTransaction(pool, LIMITS, async (client) => {
          await client.query(LOCK_FOR_MOVING);
          const batch = await read();
          if (!batch || batch.deliveries.length === 0) return { batch, made: [] };
          const days = batch.deliveries.map(({ delivery }) => dayOf(delivery.createdAt));
          const made = await partitions.makeIn(client, days);
          await client.query(INSERT_TRANSITIONS, transitionColumns(batch.transitions, keepsBodies));
          await client.query(INSERT_DELIVERIES, deliveryColumns(batch.deliveries, keepsBodies));
          return { batch, made };
        });
        partitions.note(made);
        return batch;
      } catch (error) {
        // PostgreSQL may have been restored to a time before the days that were known.
        partitions.lookAgain();
        throw error;
      }
    },
  };
}
export type HistoryWriter = ReturnType<typeof createHistoryWriter>;

/** The parameters of INSERT_TRANSITIONS. */
function transitionColumns(transitions: readonly MovedTransition[], keepsBodies: boolean) {
  return [
    transitions.map(({ createdAt }) => createdAt),
    transitions.map(({ erasedAt }) => erasedAt),
    transitions.map(({ sequence }) => sequence),
    transitions.map(({ id }) => toIdBytes(id)),
    transitions.map(({ sampleOf }) => sampleOf),
    transitions.map(({ requestId }) => requestId),
    transitions.map(({ traceparent }) => traceparent),
    transitions.map(({ body, erasedAt }) => (keepsBodies && erasedAt === undefined ? body : undefined)),
  ];
}

/** The parameters of INSERT_DELIVERIES. */
function deliveryColumns(rows: readonly MovedDelivery[], keepsBodies: boolean) {
  const attemptsOf = ({ delivery, attempts }: MovedDelivery) => {
    // A transition is marked before its deliveries' answers are erased.
    const kept = keepsBodies && delivery.erasedAt === undefined ? attempts : attempts.map(withoutAnswer);
    return `[${kept.join(',')}]`;
  };
  const deliveries = rows.map(({ delivery }) => delivery);
  return [
    deliveries.map(({ createdAt }) => createdAt),
    deliveries.map(({ createdAt, settledAt = createdAt }) => settledAt),
    rows.map(({ changedAt }) => changedAt),
    deliveries.map(({ createdAt, scheduledAt }) => (scheduledAt === createdAt ? undefined : scheduledAt)),
    deliveries.map(({ tries }) => tries),
    deliveries.map(({ place }) => place),
    deliveries.map(({ isReleased = false }) => isReleased),
    deliveries.map(({ id }) => toIdBytes(id)),
    deliveries.map(({ transitionId }) => toIdBytes(transitionId)),
    deliveries.map(({ endpointId }) => endpointId),
    deliveries.map(({ workspaceId }) => workspaceId),
    deliveries.map(({ taskId }) => taskId),
    deliveries.map(({ event }) => event),
    deliveries.map(({ status }) => status),
    deliveries.map(({ reason }) => reason),
    rows.map(attemptsOf),
  ];
}
